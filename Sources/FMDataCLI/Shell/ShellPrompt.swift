import ArgumentParser
import Foundation

/// The prompt of a shell at a terminal.
actor ShellPrompt {
    private let shell: Shell
    private let terminal: ShellTerminal
    private(set) var history: ShellHistory
    private var line: ShellLine
    private var isWaiting = false

    init(_ shell: Shell, _ terminal: ShellTerminal, history: ShellHistory) {
        self.shell = shell
        self.terminal = terminal
        self.history = history
        let term = ProcessInfo.processInfo.environment["TERM"]
        line = ShellLine(name: shell.name, canErase: term != "dumb")
    }

    /// Takes lines and runs them until the end.
    func run() async throws {
        while let text = try await nextLine() {
            do {
                let meant = try history.line(meantBy: text)
                if meant != text { note(meant) }
                let instruction = try ShellInstruction(meant)
                history.add(meant, isKept: instruction.isKept)
                if await shell.run(instruction, history) == .quit { return }
            } catch {
                // A line that is wrong is there to be looked at, and typed again.
                history.add(text, isKept: false)
                note("Error: \(error)")
            }
        }
    }

    /// The next line; nil at the end.
    private func nextLine() async throws -> String? {
        defer { terminal.restore() }
        var actions = line.begin()
        while true {
            // Whoever sees the prompt may press Tab at once.
            prepare()
            for action in actions {
                switch action {
                case .write(let text): writeToStandardError(text)
                case .submit(let text): return text
                case .end: return nil
                case .complete(let text):
                    // The host may be asked for names; another Tab counts when that is done.
                    terminal.prepare(takesErase: false)
                    let completed = line.completed(await shell.complete(text))
                    prepare()
                    for case .write(let text) in completed { writeToStandardError(text) }
                }
            }
            line.columns = terminal.columns
            isWaiting = true
            let bytes = try await StandardInput.read()
            isWaiting = false
            actions = line.received(bytes, erase: terminal.erase)
        }
    }

    private func prepare() { terminal.prepare(takesErase: !line.taken.isEmpty) }

    /// Ctrl-C: ends the command that runs, or drops the line.
    func interrupt() async {
        if await shell.interrupt() || !isWaiting { return }
        let actions = line.interrupted()
        prepare()
        for case .write(let text) in actions { writeToStandardError(text) }
    }
}

extension ShellInstruction {
    /// Whether the file of the history has the line. What a command writes, and the parameter of a script, are nobody's
    /// business later.
    var isKept: Bool {
        guard case .commands(let commands) = self else { return true }
        let names = (FMDataCommand.looking + FMDataCommand.moving).compactMap { $0.configuration.commandName }
        return commands.allSatisfy { names.contains($0.first ?? "") || $0.first == "help" }
    }
}
