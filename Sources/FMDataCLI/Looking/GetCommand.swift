import ArgumentParser
import FMData

/// `fmdata get`: one record.
struct GetCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints a record.",
        discussion: "Dates are printed as 2026-11-01, timestamps as 2026-11-01T09:30:00."
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @Argument(help: "The record's id.")
    var recordId: Int

    @OptionGroup(title: "Parts of the record") var parts: RecordOptions
    @OptionGroup var table: RecordTableOptions
    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let layout = try await visit.openForReading().addLayout(layout)
            let fields = try await visit.fields(of: layout)
            let columns = try parts.columns(fields)
            let query = DataAPI.RecordQuery(portal: try parts.requests(fields))
            let answer: DataAPI.RecordResponse<AnyFields, AnyFields.Portals> =
                try await layout.record(id: recordId, query: query).firstValue()
            let printer = try table.printer(columns, parts, form, isOne: true)
            try printer.printAll(answer.data.map(columns.row))
            await visit.noticeMoreRows(answer.data.flatMap(\.truncatedPortals))
        }
    }
}

extension HostVisit {
    /// Says that portals have more rows than were printed.
    func noticeMoreRows(_ portals: some Sequence<String> & Sendable) {
        for portal in Set(portals).sorted() {
            notice("The portal \"\(portal)\" has more rows than were printed: --portals '\(portal):1000'.")
        }
    }
}
