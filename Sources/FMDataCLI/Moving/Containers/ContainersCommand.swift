import ArgumentParser
import FMData

/// `fmdata containers`: the files of many container fields.
struct ContainersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "containers",
        abstract: "Writes the files of many containers into a folder, and puts them back.",
        subcommands: [ContainersExportCommand.self, ContainersImportCommand.self]
    )
}

/// The container field of records.
struct ContainerFieldOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The container field.", valueName: "field"))
    var field: String

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Which repetition of the field, counted from 1.", valueName: "number")
    )
    var repetition = 1

    func validate() throws {
        guard repetition > 0 else { throw ValidationError("--repetition takes 1 or more.") }
    }

    /// Throws if the layout has no such container.
    func check(_ fields: LayoutFields) throws {
        guard try fields.known(field).result == .container else {
            throw CommandError("The field \"\(field)\" is no container.", .usage)
        }
    }
}
