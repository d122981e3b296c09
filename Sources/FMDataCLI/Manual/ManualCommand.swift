import ArgumentParser

/// `fmdata manual`: the page for `man`, for those who package the command.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Prints the manual of all commands as a page for man.",
        discussion: "A package installs it: fmdata manual > share/man/man1/fmdata.1",
        shouldDisplay: false
    )

    func run() throws {
        let page = ManualPage(try CommandHelp(of: FMDataCommand.self), version: FMDataCommand.version)
        let output = StandardOutput()
        try output.write(page.text)
        try output.flush()
    }
}
