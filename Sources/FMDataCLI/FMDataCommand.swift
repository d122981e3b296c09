import ArgumentParser
import FMModel

/// `fmdata`: the Claris FileMaker Data API from the command line.
@main
struct FMDataCommand: AsyncParsableCommand {
    /// The version of the package.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "fmdata",
        abstract: "The Claris FileMaker Data API from the command line.",
        discussion: """
            Data goes to standard output, everything else to standard error. The status is 0 when all is well, 1 when something \
            failed, 2 when some layouts could not be read, 3 when something differs from what it was compared with, 4 when the \
            account is refused, 5 when the server cannot be reached or does not answer, 64 when the command makes no sense, and \
            130 after Ctrl-C, which logs out.
            """,
        version: version,
        subcommands: [
            DoctorCommand.self, SchemaCommand.self, GenerateCommand.self, SandboxCommand.self, ProbeCommand.self,
        ]
    )

    /// Does what the protocol's `main()` does, with better errors: an invalid argument that is found while a command
    /// runs is reported with the usage of that command, and an unknown command with the nearest known one.
    static func main() async {
        do {
            if let unknown = UnknownCommand(in: CommandLine.arguments.dropFirst(), of: self) {
                end(ValidationError(unknown.description), of: unknown.place)
            }
            var command = try parseAsRoot()
            do {
                if var asynchronous = command as? any AsyncParsableCommand {
                    try await asynchronous.run()
                } else {
                    try command.run()
                }
            } catch let error as ValidationError {
                end(error, of: type(of: command))
            }
        } catch {
            exit(withError: error)
        }
    }

    /// Ends the program as for invalid arguments.
    private static func end(_ error: ValidationError, of command: any ParsableCommand.Type) -> Never {
        let path = path(of: command)?.joined(separator: " ") ?? "fmdata"
        note("Error: \(error.message)")
        note("Usage: \(usageString(for: command))\n  See '\(path) --help' for more information.")
        exit(withError: ExitCode.validationFailure)
    }

    /// The words of a command, from `fmdata` on.
    private static func path(
        of command: any ParsableCommand.Type,
        below place: any ParsableCommand.Type = FMDataCommand.self
    ) -> [String]? {
        let name = place.configuration.commandName ?? ""
        if command == place { return [name] }
        return place.configuration.subcommands.lazy.compactMap { path(of: command, below: $0) }.first
            .map { [name] + $0 }
    }
}
