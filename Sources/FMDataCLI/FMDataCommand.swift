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
            Data goes to standard output, everything else to standard error. The exit status says how it went:

            \(ExitStatus.table)
            """,
        version: version,
        subcommands: [
            DoctorCommand.self, SchemaCommand.self, GenerateCommand.self, SandboxCommand.self, ProbeCommand.self,
            FleetCommand.self, ManualCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Accounts",
                subcommands: [LoginCommand.self, LogoutCommand.self, ProfilesCommand.self]
            ),
            CommandGroup(
                name: "Looking",
                subcommands: [
                    DatabasesCommand.self, LayoutsCommand.self, FieldsCommand.self, PortalsCommand.self,
                    ValueListsCommand.self, ScriptsCommand.self, FindCommand.self, GetCommand.self,
                ]
            ),
            CommandGroup(
                name: "Moving",
                subcommands: [
                    ExportCommand.self, ImportCommand.self, ContainersCommand.self, DiffCommand.self, WatchCommand.self,
                ]
            ),
            CommandGroup(
                name: "Writing",
                subcommands: [
                    CreateCommand.self, EditCommand.self, DuplicateCommand.self, DeleteCommand.self,
                    ScriptCommand.self, ContainerCommand.self, GlobalsCommand.self, RequestCommand.self,
                ]
            ),
            CommandGroup(name: "Assistants", subcommands: [AssistantCommand.self]),
        ]
    )

    /// Does what the protocol's `main()` does, with better errors: an invalid argument that is found while a command
    /// runs is reported with the usage of that command, and an unknown command with the nearest known one.
    static func main() async {
        do {
            if let unknown = UnknownCommand(in: CommandLine.arguments.dropFirst(), of: self) {
                try end(ValidationError(unknown.description), of: unknown.place)
            }
            try await run(try parseAsRoot())
            guard await Pager.shared.end() else { throw ExitStatus.failed.code }
        } catch {
            _ = await Pager.shared.end()
            exit(withError: error)
        }
    }

    private static func run(_ command: any ParsableCommand) async throws {
        var command = command
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as ValidationError {
            try end(error, of: type(of: command))
        } catch let error as UnknownOption {
            try end(ValidationError(error.message(for: helpMessage(for: type(of: command)))), of: type(of: command))
        } catch let error as CommandError {
            note("Error: \(error)")
            throw error.status.code
        }
    }

    /// Says what is wrong with the arguments, and throws the status.
    private static func end(_ error: ValidationError, of command: any ParsableCommand.Type) throws -> Never {
        let path = path(of: command)?.joined(separator: " ") ?? "fmdata"
        note("Error: \(error.message)")
        note("Usage: \(usageString(for: command))\n  See '\(path) --help' for more information.")
        throw ExitCode.validationFailure
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
