import ArgumentParser
import FMData
import Foundation
import OpenCombine

/// `fmdata export`: records into a file, or for another program.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the records that fulfil conditions, or all of a layout, into a file or to standard output.",
        discussion: """
            The records are read page after page, as fast as they are written. A file has its name only when it is complete; \
            until then it is FILE.part. With --key an export that was interrupted or killed goes on where it was: the same \
            command with --resume. The status is 2 if others have inserted or deleted records meanwhile.
            """
    )

    @OptionGroup var found: FoundSetOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to write, instead of standard output. Its name says the form.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Write the records in the order of this field. It is unique, never empty and never changed. Then none is "
                + "missed or written twice, whatever others do.",
            valueName: "field"
        )
    )
    var key: String?

    @Flag(help: "Go on with an incomplete export of the same records. The key has to be a number, a date or a time.")
    var resume = false

    @Flag(help: "Replace a file of that name.")
    var force = false

    @OptionGroup(title: "Form of the file") var form: ExportFormOptions
    @OptionGroup(title: "Parts of the records") var parts: RecordOptions
    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions

    func validate() throws {
        if key != nil, !found.sort.isEmpty {
            throw ValidationError("--key excludes --sort: the records come in the order of the key.")
        }
        if resume, output ?? "-" == "-" || key == nil {
            throw ValidationError("--resume needs --output and --key: the file to go on with, and where to go on.")
        }
        try form.check(output)
    }

    func run() async throws {
        try found.checkOptions()
        try await HostVisit.make(with: connection, talk, errorsAreJSON: form.errorsAreJSON) { visit in
            try await export(visit)
        }
    }

    private func export(_ visit: HostVisit) async throws {
        let target = try output.flatMap { try $0 == "-" ? nil : PartFile.Target($0, replaces: force) }
        let layout = try await visit.openForReading().addLayout(found.layout)
        let fields = try await layout.fields()
        let columns = try parts.columns(fields)
        let text = try text(columns)
        let plan = try await plan(fields, columns, text, at: try visit.place())
        var source = try ExportSource(layout, fields, found: found, key: key, portals: parts.requests(fields))
        guard let target else {
            let stream = StandardOutput()
            let end = try await Self.copy(source, columns, text, to: { try stream.write($0) })
            try stream.flush()
            return try await tell(end, visit)
        }

        let output = target.path
        let earlier = resume ? try resumable(plan, fields, output) : nil
        if let earlier { try source.narrow(from: earlier.lastKey, fields) }
        let file = try PartFile(target, replaces: force, keeping: earlier?.byteCount ?? 0)
        // What an earlier export has noted is about bytes that this one writes anew.
        if earlier == nil { ExportState.remove(of: output) }
        let isResumable = try !target.isStream && key.map { try fields.known($0).hasExactOrder } ?? false
        do {
            let end = try await Self.copy(source, columns, text, after: earlier, to: file.write) { end in
                guard isResumable, let lastKey = end.lastKey else { return }
                try file.synchronize()
                try ExportState(
                    plan: plan,
                    rowCount: end.rowCount,
                    byteCount: file.byteCount,
                    lastKey: lastKey,
                    lastIds: end.lastIds,
                    hasDrifted: end.hasDrifted || earlier?.hasDrifted ?? false
                )
                .write(of: output)
            }
            try file.finish()
            ExportState.remove(of: output)
            await visit.notice("\(end.rowCount) records are in \(output).")
            try await tell(end, visit, hasDriftedBefore: earlier?.hasDrifted ?? false)
        } catch let error where !(error is ExitCode) {
            if FileManager.default.fileExists(atPath: ExportState.file(of: output).url.path) {
                await visit.notice("\(output) is incomplete: the same command with --resume goes on.")
            } else {
                file.discard()
            }
            throw error
        }
    }

    /// The text of the records.
    private func text(_ columns: RecordColumns) throws -> ExportText {
        let form = form.form(of: output == "-" ? nil : output)
        if !parts.portals.isEmpty, form == .csv || form == .sql {
            throw CommandError("CSV and SQL have no place for portals: --json or --ndjson.", .usage)
        }
        return ExportText(
            form: form,
            columns: columns.columns,
            table: found.layout,
            isExcelSafe: self.form.excelSafe,
            usesLineFeeds: self.form.lineFeeds
        )
    }

    private func plan(
        _ fields: LayoutFields,
        _ columns: RecordColumns,
        _ text: ExportText,
        at place: Place
    ) throws -> ExportPlan {
        if let key, fields.portals.contains(where: { $0.fields.contains { $0.name == key } }) {
            throw CommandError("The field \"\(key)\" is in a portal, and no key.", .usage)
        }
        let query: String
        do {
            query = try found.find(fields)?.explain() ?? ""
        } catch let error as DataAPI.FindError {
            throw CommandError("\(error)", .usage)
        }
        return ExportPlan(
            host: try place.knownHost,
            database: try place.knownDatabase,
            layout: found.layout,
            query: query,
            sort: found.sort,
            portals: parts.portals,
            columns: columns.columns.map { "\($0.name)" + (fields.field($0.name).map { " \($0.result)" } ?? "") },
            form: text.form,
            options: [form.excelSafe ? "excelSafe" : nil, form.lineFeeds ? "lineFeeds" : nil].compactMap(\.self),
            key: key
        )
    }

    /// The state of the incomplete export. Throws if this is a different one.
    private func resumable(_ plan: ExportPlan, _ fields: LayoutFields, _ output: String) throws -> ExportState {
        if let key, try !fields.known(key).hasExactOrder {
            throw CommandError(
                "An export goes on behind a number, a date or a time, and \"\(key)\" is a text: FileMaker compares those word "
                    + "by word, without case and accents. Begin anew, best with another --key.",
                .usage
            )
        }
        let state = try ExportState.read(of: output)
        let differences = plan.differences(from: state.plan)
        guard differences.isEmpty else {
            throw CommandError(
                "The incomplete export of \(output) is a different one: \(differences.joined(separator: ", ")) changed. "
                    + "Begin anew, without --resume."
            )
        }
        return state
    }

    /// What was written.
    private struct End {
        var rowCount: Int
        /// The key of the last row, and the ids of the rows with this key: one, unless the key is not unique.
        var lastKey: String?
        var lastIds: [Int] = []
        var hasDrifted = false
        var withoutKey = 0
        var truncatedPortals: Set<String> = []

        mutating func wrote(_ id: Int, _ key: String?) {
            rowCount += 1
            if key != lastKey { (lastKey, lastIds) = (key, []) }
            if key != nil { lastIds.append(id) }
        }
    }

    /// Writes the records, with what precedes and follows them.
    ///
    /// - Parameters:
    ///   - earlier: The incomplete export that this one goes on with.
    ///   - checkpoint: Notes how far it has come.
    private static func copy(
        _ source: ExportSource,
        _ columns: RecordColumns,
        _ text: ExportText,
        after earlier: ExportState? = nil,
        to write: (String) throws -> Void,
        checkpoint: (End) throws -> Void = { _ in }
    ) async throws -> End {
        let before = earlier?.rowCount ?? 0
        let writtenIds = Set(earlier?.lastIds ?? [])
        var end = End(rowCount: before, lastKey: earlier?.lastKey, lastIds: earlier?.lastIds ?? [])
        if before == 0 { try write(text.head) }
        var nextCheckpoint = 100
        for try await page in source.pages().values {
            for record in page.records where !writtenIds.contains(record.recordId) {
                try Task.checkCancellation()
                let isFirst = end.rowCount == 0
                try write(
                    text.row(cells: columns.cells(of: record), object: columns.row(of: record).object, isFirst: isFirst)
                )
                end.wrote(record.recordId, source.keyValue(of: record))
                end.truncatedPortals.formUnion(record.truncatedPortals)
            }
            end.hasDrifted = end.hasDrifted || page.progress.driftCount > 0
            end.withoutKey = page.progress.withoutKey ?? end.withoutKey
            ProgressLine.shared.report(page.progress.delivered, of: page.progress.total, "records")
            guard end.rowCount - before >= nextCheckpoint else { continue }
            nextCheckpoint = end.rowCount - before + min(end.rowCount - before, maximumCheckpointRows)
            try checkpoint(end)
        }
        try write(text.end)
        return end
    }

    /// After this many rows at most the end of a page is noted; at first after fewer, since each note waits for the
    /// disk.
    private static let maximumCheckpointRows = 5000

    /// Says what may be missing, and ends with the status for that.
    private func tell(_ end: End, _ visit: HostVisit, hasDriftedBefore: Bool = false) async throws {
        let hasDrifted = end.hasDrifted || hasDriftedBefore
        if hasDrifted {
            await visit.notice("Others have inserted or deleted records meanwhile; none was written twice.")
        }
        if end.withoutKey > 0, let key {
            await visit.notice("\(end.withoutKey) records have no \(key), and were not written.")
        }
        await visit.noticeMoreRows(end.truncatedPortals)
        if hasDrifted || end.withoutKey > 0 || !end.truncatedPortals.isEmpty { throw ExitStatus.incomplete.code }
    }
}

/// The records of an export, in their order.
private struct ExportSource {
    private var found: DataAPI.FoundSet<AnyFields>
    private let mode: DataAPI.Paging<AnyFields>
    private let key: String?

    init(
        _ layout: DataAPI.Layout,
        _ fields: LayoutFields,
        found options: FoundSetOptions,
        key: String?,
        portals: [DataAPI.PortalRequest]
    ) throws {
        let typed = layout.of(AnyFields.self)
        let records = try options.find(fields).map(typed.find) ?? typed.allRecords
        found = records.sorted(by: try options.order(fields)).portals(portals)
        if let key { _ = try fields.known(key) }
        mode = key.map { .stable(by: AnyFields.CodingKeys(stringValue: $0)) } ?? .offset
        self.key = key
    }

    /// Leaves out the records before a key, as the host has sent it. Those with this key come again: if it is not
    /// unique after all, some of them may not have been written.
    mutating func narrow(from last: String, _ fields: LayoutFields) throws {
        guard let key else { return }
        let field = DataAPI.FindField(named: key)
        let rest: DataAPI.Find? =
            switch try fields.known(key).result {
            case .number: FMNumber(last).map { field >= $0 }
            case .date: FMDate(last, format: .us).map { field >= $0 }
            case .time: FMTime(last, format: .us).map { field >= $0 }
            case .timeStamp: FMTimestamp(last, format: .us).map { field >= $0 }
            default: nil
            }
        guard let rest else {
            throw CommandError("Nothing can be found from the key of the last row on, \"\(last)\". Begin anew.")
        }
        found = found.filter { _ in rest }
    }

    /// The pages, each read when the one before was written, so that one is in memory.
    func pages() -> AnyPublisher<DataAPI.RecordPage<AnyFields>, FMRest.APIError> { found.all(mode).pages }

    func keyValue(of record: AnyFields.Record) -> String? { key.flatMap { record.fieldData.data[$0]?.text } }
}
