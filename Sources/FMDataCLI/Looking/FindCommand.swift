import ArgumentParser
import FMData
import Foundation

/// `fmdata find`: the records that fulfil conditions.
struct FindCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Prints the records that fulfil conditions, or all of a layout.",
        discussion: """
            Nothing found is no failure, unless --exit-status is given. Dates are printed as 2026-11-01, timestamps as \
            2026-11-01T09:30:00.
            """
    )

    @OptionGroup var found: FoundSetOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("Print no more records than this (100).", valueName: "count"))
    var limit: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Begin with this record of those found, counted from 1.", valueName: "number")
    )
    var offset: Int?

    @Flag(help: "Print all records, page after page.")
    var all = false

    @Flag(help: "Print no records, but what the host is asked, as JSON and in words.")
    var explain = false

    @Flag(help: "End with status 3 if nothing is found.")
    var exitStatus = false

    @OptionGroup(title: "Parts of the records") var parts: RecordOptions
    @OptionGroup var table: RecordTableOptions
    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func validate() throws {
        if all, limit != nil || offset != nil {
            throw ValidationError("--all excludes --limit and --offset.")
        }
        guard limit ?? 1 > 0, offset ?? 1 > 0 else { throw ValidationError("--limit and --offset take 1 or more.") }
    }

    func run() async throws {
        try await visit { visit in
            let layout = try await visit.openForReading().addLayout(found.layout)
            let fields = try await visit.fields(of: layout)
            let find = try found.find(fields)
            let order = try found.order(fields)
            guard !explain else { return try Self.explain(find) }
            let columns = try parts.columns(fields)
            let printer = try table.printer(columns, parts, form)
            let records = FoundRecords(layout: layout, find: find, order: order, portals: try parts.requests(fields))
            var truncated: Set<String> = []
            let source = all ? records.allRecords() : records.records(offset: offset, limit: limit)
            for try await record in source.values {
                try printer.print(columns.row(of: record))
                truncated.formUnion(record.truncatedPortals)
            }
            try printer.end()
            for line in records.remarks(after: printer.rowCount, from: offset ?? 1) { await visit.notice(line) }
            await visit.noticeMoreRows(truncated)
            if printer.rowCount == 0 { for line in try found.advice(fields) { await visit.notice(line) } }
            if exitStatus, printer.rowCount == 0 { throw ExitStatus.different.code }
        }
    }

    private static func explain(_ find: DataAPI.Find?) throws {
        var text = "There is no condition, so a range of all records is read."
        if let find {
            do {
                text = try find.explain()
            } catch {
                throw CommandError("\(error)", .usage)
            }
        }
        let output = StandardOutput()
        try output.writeLine(text)
        try output.flush()
    }
}
