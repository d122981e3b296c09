import ArgumentParser

/// Runs commands with better errors than ArgumentParser's own: an invalid argument that is found while a command runs
/// is reported with the usage of that command, and an unknown command with the nearest known one.
struct CommandRun {
    private let root: any ParsableCommand.Type

    /// - Parameter root: The command whose subcommands are run.
    init(of root: any ParsableCommand.Type) { self.root = root }

    /// Runs the command that words mean. The error that it throws tells the status, and what is still to be said.
    func run(_ words: [String]) async throws {
        if let unknown = UnknownCommand(in: words, of: root) {
            try end(ValidationError(unknown.description), of: unknown.place)
        }
        var command = try root.parseAsRoot(words)
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as ValidationError {
            try end(error, of: type(of: command))
        } catch let error as UnknownOption {
            try end(
                ValidationError(error.message(for: root.helpMessage(for: type(of: command)))),
                of: type(of: command)
            )
        } catch let error as CommandError {
            note("Error: \(error)")
            throw error.status.code
        }
    }

    /// Says what is wrong with the arguments, and throws the status.
    private func end(_ error: ValidationError, of command: any ParsableCommand.Type) throws -> Never {
        let path = Self.path(of: command, below: root)?.joined(separator: " ") ?? "fmdata"
        note("Error: \(error.message)")
        note("Usage: \(root.usageString(for: command))\n  See '\(path) --help' for more information.")
        throw ExitCode.validationFailure
    }

    /// The words of a command, from the root on.
    private static func path(
        of command: any ParsableCommand.Type,
        below place: any ParsableCommand.Type
    ) -> [String]? {
        let name = place.configuration.commandName ?? ""
        if command == place { return [name] }
        return place.configuration.subcommands.lazy.compactMap { path(of: command, below: $0) }.first
            .map { [name] + $0 }
    }
}
