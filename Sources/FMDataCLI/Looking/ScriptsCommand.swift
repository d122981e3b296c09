import ArgumentParser
import FMData

/// `fmdata scripts`: the scripts of a database.
struct ScriptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scripts",
        abstract: "Lists the scripts of a database, as the tree of their folders."
    )

    @OptionGroup var host: HostOptions

    func run() async throws {
        try await host.visit { visit in
            let items = try await visit.open().getScriptNames().firstValue()
            let tree = ListTree(kind: "script", detail: nil, items: items.map(\.listed))
            await visit.learn { $0.scripts = tree.names }
            try tree.print(host.output)
        }
    }
}
