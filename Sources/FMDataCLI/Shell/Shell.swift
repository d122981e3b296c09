import ArgumentParser
import FMData
import Foundation

/// Runs the lines of a shell, one after the other, with the parser and the printers of the commands themselves.
actor Shell {
    private let visit: HostVisit
    private let place: Place
    /// The help of the commands, when it was needed.
    private var knownHelp: CommandHelp?
    private var isExpanded = false
    private var isTimed = false
    /// What `\watch` repeats.
    private var last: [[String]] = []
    /// The command that runs; nil for none.
    private var running: Task<Void, any Error>?

    init(_ visit: HostVisit) async throws {
        self.visit = visit
        place = try await visit.place()
    }

    /// The database, for the prompt.
    nonisolated var name: String { place.database ?? "fmdata" }

    /// Opens the session, and says where.
    func open() async throws {
        let database = try await visit.open()
        let items = try await database.getLayoutNames().firstValue()
        let names = ListTree(kind: "layout", detail: nil, items: items.map(\.listed)).names
        await visit.learn { $0.layouts = names }
        place.notice(#"\#(name.visible) on \#(try place.knownHost.visible). \? for help, \q to end."#)
    }

    /// How a line ended.
    enum End: Equatable {
        case done
        case failed(Int32)
        /// Ctrl-C.
        case cancelled
        case quit
    }

    /// Runs a line.
    func run(_ instruction: ShellInstruction, _ history: ShellHistory) async -> End {
        switch instruction {
        case .nothing: return .done
        case .quit: return .quit
        case .commands(let commands):
            last = commands
            return await perform { for command in commands { try await $0.run(command) } }
        case .watch(let seconds): return await watch(every: seconds)
        case .expanded(let isOn):
            isExpanded = isOn ?? !isExpanded
            place.notice("One field per line is \(isExpanded ? "on" : "off").")
            return .done
        case .timing(let isOn):
            isTimed = isOn ?? !isTimed
            place.notice("Timing is \(isTimed ? "on" : "off").")
            return .done
        case .history: return await perform { _ in try Self.print(history.listing) }
        case .help: return await perform { _ in try Self.print(ShellInstruction.summary + "\n") }
        }
    }

    /// Repeats the last command until it fails or is cancelled.
    private func watch(every seconds: Double) async -> End {
        let commands = last
        let names = FMDataCommand.looking.compactMap { $0.configuration.commandName }
        return await perform { shell in
            guard !commands.isEmpty, commands.allSatisfy({ names.contains($0.first ?? "") }) else {
                throw CommandError(
                    #"\watch repeats the last command, if that only reads: \#(names.joined(separator: ", "))."#,
                    .usage
                )
            }
            while true {
                let time = Date().formatted(
                    Date.ISO8601FormatStyle(timeZone: .current).time(includingFractionalSeconds: false)
                )
                shell.place.notice("\(time), every \(seconds) s")
                try await Pager.$isLeftOut.withValue(true) {
                    for command in commands { try await shell.run(command) }
                }
                try await Task.sleep(for: .seconds(seconds))
            }
        }
    }

    private func help() throws -> CommandHelp {
        if let knownHelp { return knownHelp }
        let help = try CommandHelp(of: ShellRoot.self)
        knownHelp = help
        return help
    }

    private func run(_ words: [String]) async throws {
        try Self.checkIsOfShell(words)
        var words = words
        if isExpanded {
            let command = try help().shownCommands.first { $0.commandName == words.first }
            if command?.argument("--expanded") != nil { words.insert("-x", at: 1) }
        }
        let began = ContinuousClock.now
        try await ProgressLine.shared.during("Waiting for \(place.host ?? "a host")", isQuiet: place.isQuiet) {
            try await CommandRun(of: ShellRoot.self).run(words)
        }
        if isTimed {
            let time = (ContinuousClock.now - began) / .milliseconds(1)
            place.notice("Time: \(Int(time.rounded(.up))) ms")
        }
    }

    /// Throws if the words are a command that the shell does not have.
    private static func checkIsOfShell(_ words: [String]) throws {
        func has(_ root: any ParsableCommand.Type) -> Bool {
            root.configuration.subcommands.contains { $0.configuration.commandName == words.first }
        }
        guard let name = words.first, has(FMDataCommand.self), !has(ShellRoot.self) else { return }
        throw CommandError("\(name) is no command of the shell: run fmdata \(name) beside it.", .usage)
    }

    /// Does work that Ctrl-C cancels, and says what went wrong.
    private func perform(_ work: @escaping @Sendable (isolated Shell) async throws -> Void) async -> End {
        let task = Task { try await work(self) }
        running = task
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        running = nil
        let isCancelled = task.isCancelled
        let status: Int32
        switch result {
        case .success: status = 0
        case .failure where isCancelled: status = ExitStatus.interrupted.rawValue
        case .failure(let error): status = Self.say(error)
        }
        let isShown = await Pager.shared.end()
        await visit.endOthers()
        if isCancelled { return .cancelled }
        return status == 0 && isShown ? .done : .failed(status == 0 ? ExitStatus.failed.rawValue : status)
    }

    /// Says an error as the commands do, and returns its status. What was asked for, as help, is none.
    private static func say(_ error: any Error) -> Int32 {
        if let error = error as? CommandError {
            note("Error: \(error)")
            return error.status.rawValue
        }
        let message = ShellRoot.fullMessage(for: error)
        let status = ShellRoot.exitCode(for: error).rawValue
        if status == 0 {
            do {
                try print(message + "\n")
            } catch {
                return ExitStatus.readerGone.rawValue
            }
        } else if !message.isEmpty {
            note(message)
        }
        return status
    }

    private static func print(_ text: String) throws {
        let output = StandardOutput(isPaged: true)
        try output.write(text)
        try output.flush()
    }

    /// Ctrl-C: ends the command that runs. Returns whether there was one.
    func interrupt() async -> Bool {
        guard let running else { return false }
        await visit.interrupt()
        running.cancel()
        return true
    }

    // MARK: Completion

    /// Completes a line. The host is asked for names that nobody has seen yet.
    func complete(_ line: String) async -> ShellCompletion.Result {
        guard let help = try? help() else { return ShellCompletion.Result(line: line) }
        let completion = ShellCompletion(of: line, help)
        let names = LockedValue<[String]>([])
        // What the host does not tell is not offered.
        _ = await perform { shell in names.value = (try? await shell.names(for: completion.kind)) ?? [] }
        return completion.result(from: names.value)
    }

    private func names(for kind: ShellCompletion.Kind) async throws -> [String] {
        switch kind {
        case .nothing: return []
        case .words(let words): return words
        case .layouts: return await visit.names.layouts
        case .scripts:
            if await visit.names.scripts.isEmpty {
                let items = try await visit.open().getScriptNames().firstValue()
                let names = ListTree(kind: "script", detail: nil, items: items.map(\.listed)).names
                await visit.learn { $0.scripts = names }
            }
            return await visit.names.scripts
        case .fields(let layout, let sign):
            let known = await visit.names
            if known.fields[layout] == nil, known.layouts.contains(layout) {
                _ = try await visit.fields(of: visit.open().addLayout(layout))
            }
            return await visit.names.fields[layout, default: []].map { $0 + sign }
        }
    }
}
