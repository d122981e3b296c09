import ArgumentParser
import FMData
import FMSandbox

/// `fmdata valuelists`: the value lists of a layout.
struct ValueListsCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "valuelists",
        abstract: "Lists the values of the value lists that a layout uses.",
        discussion: "A list that is limited to related values is empty unless --record names the record."
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @Argument(help: "A value list (all of the layout).")
    var list: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The record whose related values are listed.", valueName: "id"))
    var record: Int?

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let metadata = try await visit.openForReading().addLayout(layout).getLayoutMetadata(recordId: record)
                .firstValue()
            let lists = metadata.valueLists ?? []
            if let list, !lists.contains(where: { $0.name == list }) {
                let names = lists.map(\.name)
                let advice =
                    names.nearest(to: list).map { "Did you mean \"\($0)\"?" }
                    ?? (names.isEmpty ? "It uses none." : "It uses: \(names.joined(separator: ", ")).")
                throw CommandError("The layout \"\(layout)\" uses no value list \"\(list)\". \(advice)")
            }
            let rows = lists.filter { list == nil || $0.name == list }.flatMap { list in
                list.values.map { value in
                    OutputRow(
                        cells: [list.name, value.value, value.displayValue],
                        object: [
                            "list": .text(list.name), "kind": .text(list.type), "value": .text(value.value),
                            "shown": .text(value.displayValue),
                        ]
                    )
                }
            }
            try printer(["list", "value", "shown"].map { OutputColumn($0) }).printAll(rows)
        }
    }
}
