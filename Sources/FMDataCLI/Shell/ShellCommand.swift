import ArgumentParser
import Foundation

/// `fmdata shell`: commands, one after the other, over one session.
struct ShellCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Takes commands at a prompt, or from standard input, and runs them over one session.",
        discussion: """
            The commands are those that look, write and move, as they are typed without fmdata before them: \
            find Contacts City=London. \\? lists what the shell has beside them. At a terminal Tab completes names, \
            Ctrl-C ends a command, and Ctrl-D the shell. From a file or a program, lines are run without a prompt, up to \
            the first that fails: its status is that of the shell.
            """
    )

    @Flag(help: "From a file or a program, go on behind a line that fails; the status is 2 then.")
    var keepGoing = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions

    func validate() throws {
        if connection.passwordStdin {
            throw ValidationError("Standard input has the commands, so --password-stdin has no password there.")
        }
    }

    func run() async throws {
        guard isatty(STDERR_FILENO) != 0, let terminal = ShellTerminal() else { return try await runLines() }
        let prompt = LockedValue<ShellPrompt?>(nil)
        try await HostVisit.make(
            with: connection,
            talk,
            showsProgress: false,
            takesCtrlC: {
                guard let prompt = prompt.value else { return false }
                await prompt.interrupt()
                return true
            }
        ) { visit in
            let history = try await KeptHistory(of: visit.place())
            let shell = try await Shell(visit)
            let opened = ShellPrompt(shell, terminal, history: ShellHistory(history.lines))
            // A host that cannot be reached is known before the first prompt; until then Ctrl-C ends everything.
            try await shell.open()
            prompt.value = opened
            defer { terminal.restore() }
            do {
                try await HostVisit.$current.withValue(visit) { try await opened.run() }
                await history.keep(opened.history)
            } catch {
                await history.keep(opened.history)
                throw error
            }
        }
    }

    /// Runs the lines of standard input.
    private func runLines() async throws {
        try await HostVisit.make(with: connection, talk, showsProgress: false) { visit in
            let shell = try await Shell(visit)
            try await HostVisit.$current.withValue(visit) {
                try await ShellScript(shell, keepsGoing: keepGoing).run()
            }
        }
    }
}

/// The root of the commands of the shell.
struct ShellRoot: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fmdata",
        abstract: "The commands of the shell, without fmdata before them.",
        subcommands: [],
        groupedSubcommands: [
            CommandGroup(name: "Looking", subcommands: FMDataCommand.looking),
            CommandGroup(name: "Writing", subcommands: FMDataCommand.writing),
            CommandGroup(name: "Moving", subcommands: FMDataCommand.moving),
        ]
    )
}

/// The file of the history. Like other files of the command, it is there for users with a profile only.
private struct KeptHistory {
    let lines: [String]
    /// nil if nothing is kept.
    private let file: PrivateFile?

    init(of place: Place) throws {
        let file = UserFolders(environment: ProcessInfo.processInfo.environment).history
        guard place.keepsFiles else {
            (lines, self.file) = ([], nil)
            return
        }
        do {
            lines = ShellHistory.lines(of: try file.read() ?? Data())
            self.file = file
        } catch {
            place.notice("\(file.url.path) is not used: others can read it, or it cannot be read.")
            (lines, self.file) = ([], nil)
        }
    }

    /// Adds the lines of a shell that ends.
    func keep(_ history: ShellHistory) {
        guard let file, !history.added.isEmpty else { return }
        // A history is worth no error.
        guard let earlier = try? file.read() ?? Data() else { return }
        try? file.write(history.content(after: earlier))
    }
}
