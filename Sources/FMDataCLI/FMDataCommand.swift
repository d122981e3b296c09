import ArgumentParser

/// `fmdata`: the Claris FileMaker Data API from the command line.
@main
struct FMDataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fmdata",
        abstract: "The Claris FileMaker Data API from the command line.",
        subcommands: [SchemaCommand.self, GenerateCommand.self, SandboxCommand.self, ProbeCommand.self]
    )
}
