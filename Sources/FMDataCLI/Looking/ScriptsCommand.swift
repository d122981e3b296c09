import ArgumentParser
import FMData

/// `fmdata scripts`: the scripts of a database.
struct ScriptsCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "scripts",
        abstract: "Lists the scripts of a database, as the tree of their folders."
    )

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let items = try await visit.openForReading().getScriptNames().firstValue()
            let tree = ListTree(kind: "script", detail: nil, items: items.map(\.listed))
            await visit.learn { $0.scripts = tree.names }
            try tree.print(form)
        }
    }
}
