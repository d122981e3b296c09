import ArgumentParser

/// `fmdata manual`: the page for `man`, for those who package the command.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Prints the manual of all commands as a page for man.",
        discussion: "A package installs it: fmdata manual > share/man/man1/fmdata.1",
        shouldDisplay: false
    )

    @Flag(help: "Print it as an article of DocC, as it is in the documentation of FMData.")
    var docc = false

    func run() throws {
        let help = try CommandHelp(of: FMDataCommand.self)
        let output = StandardOutput()
        try output.write(docc ? ReferencePage(help).text : ManualPage(help, version: FMDataCommand.version).text)
        try output.flush()
    }
}
