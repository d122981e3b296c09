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

            These variables of the environment count: FMDATA_PROFILE, FM_HOST, FM_DATABASE, FM_USER, FM_PASSWORD, \
            FM_PASSWORD_FILE, FM_KEY, FM_KEY_FILE, FM_ROOT_PATH, FM_CA, FM_TIMEOUT, FM_SESSIONS, FM_FLEET_STORE, NETRC, \
            FMDATA_PAGER, PAGER, FMDATA_NO_PROMPT, NO_COLOR, CLICOLOR_FORCE, COLUMNS.
            """,
        version: version,
        subcommands: [
            DoctorCommand.self, SchemaCommand.self, GenerateCommand.self, SandboxCommand.self, ProbeCommand.self,
            FleetCommand.self, AssistantCommand.self,
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
                    ExportCommand.self, ImportCommand.self, ContainersCommand.self, WatchCommand.self,
                    DiffCommand.self,
                ]
            ),
            CommandGroup(
                name: "Writing",
                subcommands: [
                    CreateCommand.self, EditCommand.self, DuplicateCommand.self, DeleteCommand.self,
                    ScriptCommand.self, ContainerCommand.self, GlobalsCommand.self, RequestCommand.self,
                ]
            ),
        ]
    )

    /// Runs the command of the arguments, and ends with its status.
    static func main() async {
        do {
            try await CommandRun(of: self).run(Array(CommandLine.arguments.dropFirst()))
            guard await Pager.shared.end() else { throw ExitStatus.failed.code }
        } catch {
            _ = await Pager.shared.end()
            exit(withError: printed(error))
        }
    }

    /// Prints help, version or a completion script, which ArgumentParser would print without a look at the result.
    ///
    /// - Returns: the error to end with.
    private static func printed(_ error: any Error) -> any Error {
        guard exitCode(for: error) == .success, case let text = fullMessage(for: error), !text.isEmpty else {
            return error
        }
        do {
            let output = StandardOutput()
            try output.writeLine(text)
            try output.flush()
            return ExitCode.success
        } catch is StandardOutput.ReaderGone {
            return ExitStatus.readerGone.code
        } catch {
            return error
        }
    }
}
