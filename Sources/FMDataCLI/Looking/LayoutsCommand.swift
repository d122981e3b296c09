import ArgumentParser
import FMData

/// `fmdata layouts`: the layouts of a database.
struct LayoutsCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "layouts",
        abstract: "Lists the layouts of a database, as the tree of their folders.",
        discussion: "Hosts of newer versions tell the table occurrence of each layout as well."
    )

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let items = try await visit.openForReading().getLayoutNames().firstValue()
            let tree = ListTree(kind: "layout", detail: "table", items: items.map(\.listed))
            await visit.learn { $0.layouts = tree.names }
            try tree.print(form)
        }
    }
}
