import ArgumentParser
import FMData
import FMModel
import Foundation
import OpenCombine

extension ImportMode: ExpressibleByArgument {}

/// `fmdata import`: records out of a file.
struct ImportCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Writes the rows of a CSV or NDJSON file into a layout.",
        discussion: """
            What is about to be sent is noted in a journal first (FILE.journal). After a kill, or when rows have failed, the \
            same command goes on: what is done is not sent again, and what may be done is looked up first. Rows that were refused \
            are in FILE.rejects.csv with the reasons, and can be put right and imported; rows of which nobody knows whether they \
            were carried out are in FILE.unknown.csv. The status is 2 then. Ctrl-C lets what was sent come to its end.
            """
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @Argument(help: "The file; - is standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "insert: each row is a new record. update: it changes the record with its key. upsert: it does so, or is a new one.",
            valueName: "mode"
        )
    )
    var mode = ImportMode.insert

    @Option(
        help: ArgumentHelp(
            """
            The column by which records are found; it is unique in the file and on the host. For update it may be recordId. \
            With insert it tells whether a row whose answer was lost was carried out.
            """,
            valueName: "field"
        )
    )
    var key: String?

    @Option(help: ArgumentHelp("Write these columns only: Name,City.", valueName: "fields"))
    var fields: [String] = []

    @Flag(help: "Leave out columns that cannot be written, such as calculations.")
    var skipUnwritable = false

    @Option(
        help: ArgumentHelp(
            "The form of dates and times, beside ISO 8601: us, host (the one that the host names), or a pattern such as "
                + "dd.MM.yyyy.",
            valueName: "form"
        ),
        transform: DateForm.init
    )
    var dateFormat = DateForm.format(.iso)

    @Flag(help: "Send what is no number, date or time as it stands, such as 12 kg in a field of numbers.")
    var asIs = false

    @Flag(help: "Line feeds in values are line breaks: send them as FileMaker's own, which are carriage returns.")
    var lineFeeds = false

    @Option(help: ArgumentHelp("The journal (FILE.journal; none for standard input).", valueName: "file"))
    var journal: String?

    @Option(help: ArgumentHelp("The file of the rows that were refused (FILE.rejects.csv).", valueName: "file"))
    var rejects: String?

    @Option(help: ArgumentHelp("The file of the rows with an unknown outcome (FILE.unknown.csv).", valueName: "file"))
    var unknown: String?

    @Flag(help: "Send rows again that an earlier run of the journal was refused.")
    var retryRejects = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Stop when this many rows were refused, or have an unknown outcome.", valueName: "count")
    )
    var maxErrors: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How many rows are written at once, in a session each (1, which keeps new records in the order of the file).",
            valueName: "count"
        )
    )
    var concurrency = 1

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long the host may work on a row whose answer was lost, before it is looked up for the last time (30).",
            valueName: "seconds"
        )
    )
    var settling = 30

    @Flag(help: "Send nothing: say what is wrong with columns and values, by their lines.")
    var dryRun = false

    @Flag(help: "The file is CSV, whatever its name is.")
    var fromCsv = false

    @Flag(help: "The file has a JSON object per line, whatever its name is.")
    var fromNdjson = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func validate() throws {
        guard mode == .insert || key != nil else { throw ValidationError("--mode \(mode.rawValue) needs a --key.") }
        guard concurrency > 0, maxErrors ?? 1 > 0, settling >= 0 else {
            throw ValidationError("--concurrency and --max-errors take 1 or more, --settling takes 0 or more.")
        }
        guard !(fromCsv && fromNdjson) else { throw ValidationError("Only one of --from-csv and --from-ndjson.") }
        _ = try fileForm
    }

    private var fileForm: ImportForm {
        get throws {
            if fromCsv { return .csv }
            if fromNdjson { return .ndjson }
            switch ExportForm(ofFile: file) {
            case .csv?: return .csv
            case .ndjson?: return .ndjson
            default: throw ValidationError("Is \(file) CSV or NDJSON? Give --from-csv or --from-ndjson.")
            }
        }
    }

    func run() async throws {
        try await visit { visit in
            let database = try await visit.open()
            let layout = database.addLayout(layout)
            let known = try await layout.fields()
            let plan = try ImportPlan(
                mode,
                key: key,
                selection: selection(known),
                skipsUnwritable: skipUnwritable,
                values: ImportValues(
                    dateFormat: try await dateFormat.format(of: database.server),
                    usesLineFeeds: lineFeeds,
                    isAsIs: asIs
                ),
                known
            )
            let reader = try RowReader(file, try fileForm)
            try await reader.readColumns()
            let columns = await reader.columns
            let problems = columns.map(plan.problems) ?? []
            if dryRun { return try await check(reader, plan, problems, visit) }
            guard problems.isEmpty else {
                throw CommandError("Nothing was sent. \(ImportPlan.Problems(all: problems).text)", .usage)
            }
            let rows = ImportRows(reader, plan, layout.of(FieldData.self), known)
            try await write(rows, to: layout.of(FieldData.self), columns, visit)
        }
    }

    private func selection(_ known: LayoutFields) -> [String]? {
        // The name of a field may contain a comma.
        let names = fields.flatMap { known.field($0) == nil ? $0.split(separator: ",").map(String.init) : [$0] }
        return names.isEmpty ? nil : names
    }

    // MARK: Checking

    /// Says what is wrong, and sends nothing.
    private func check(
        _ reader: RowReader,
        _ plan: ImportPlan,
        _ columnProblems: [ImportPlan.Problem],
        _ visit: HostVisit
    ) async throws {
        let printer = printer([
            OutputColumn("line", isNumber: true), OutputColumn("column"), OutputColumn("problem"),
        ])
        func print(_ problem: ImportPlan.Problem, line: Int) throws {
            try printer.print(
                OutputRow(
                    cells: [String(line), problem.column, problem.text],
                    object: [
                        "line": .int(line), "column": .text(problem.column), "problem": .text(problem.text),
                    ]
                )
            )
        }
        for problem in columnProblems { try print(problem, line: 1) }
        let told = Set(columnProblems.map(\.column))
        var count = 0
        var strangers = ImportStrangers()
        var lineFeedCount = 0
        while let row = try await reader.next() {
            count += 1
            do throws(ImportPlan.Problems) {
                let planned = try plan.row(row.values)
                strangers.add(plan.strangers(in: planned), line: row.line)
                if plan.hasLineFeeds(planned, in: row.values) { lineFeedCount += 1 }
            } catch {
                for problem in error.all where !told.contains(problem.column) { try print(problem, line: row.line) }
            }
        }
        try printer.end()
        for line in strangers.lines { await visit.notice(line) }
        if let line = remark(onLineFeedsOf: lineFeedCount, "are") { await visit.notice(line) }
        await visit.notice("\(count) rows were read, and \(printer.rowCount) problems found. Nothing was sent.")
        if printer.rowCount > 0 { throw ExitStatus.incomplete.code }
    }

    /// What becomes of line feeds; nil if there is none.
    private func remark(onLineFeedsOf count: Int, _ verb: String) -> String? {
        guard count > 0 else { return nil }
        return "\(count) \(count == 1 ? "row has" : "rows have") line feeds, which \(verb) sent as "
            + (lineFeeds
                ? "carriage returns."
                : "they are. FileMaker's own line break is the carriage return: --line-feeds makes them that.")
    }

    // MARK: Writing

    private func write(
        _ rows: ImportRows,
        to layout: DataAPI.TypedLayout<FieldData>,
        _ columns: [String]?,
        _ visit: HostVisit
    ) async throws {
        let files = try ImportFiles(self, columns: columns, isCSV: try fileForm == .csv)
        if files.isResumed { await visit.notice("Going on with the journal \(files.journal?.path ?? "").") }
        let source = PulledPublisher { try await rows.next() }
        let batch = layout.writing(
            source,
            journal: files.journal.map { .file($0) },
            options: DataAPI.BatchOptions(
                concurrency: concurrency,
                onFailure: maxErrors.map { .stop(after: $0) } ?? .goOn,
                idempotencyKey: mode == .insert ? key : nil,
                settlingTime: .seconds(settling),
                retriesRefused: retryRejects
            ),
            isolation: nil
        )
        // An interruption ends the rows, and what was sent comes to its end.
        let work = Task { try await Self.results(of: batch, rows, files) }
        let summary = try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            source.stop()
        }
        if let line = remark(onLineFeedsOf: await rows.lineFeedCount, "were") { await visit.notice(line) }
        try await tell(summary, files, visit)
    }

    /// The rows of a batch as they end, and what they came to.
    private static func results(
        of batch: DataAPI.Batch,
        _ rows: ImportRows,
        _ files: ImportFiles
    ) async throws -> (DataAPI.BatchSummary, failure: (any Error)?) {
        var summary = DataAPI.BatchSummary()
        summary.maximumProblems = 0
        var failure: (any Error)?
        do {
            for try await result in batch.values {
                summary.add(result)
                let (given, total) = await rows.take(result.index)
                let count = summary.rowCount
                let failed = summary.failedCount + summary.unknownCount
                ProgressLine.shared.report {
                    ProgressLine.text(count, of: total, "rows", after: $0) + (failed > 0 ? ", \(failed) failed" : "")
                }
                guard let given, result.result.kind != .skipped else { continue }
                try files.note(result, given)
            }
        } catch {
            failure = error
        }
        return (summary, failure)
    }

    private func tell(
        _ end: (summary: DataAPI.BatchSummary, failure: (any Error)?),
        _ files: ImportFiles,
        _ visit: HostVisit
    ) async throws {
        let summary = end.summary
        try files.finish()
        let counts: [(String, Int)] = [
            ("created", summary.createdCount), ("updated", summary.updatedCount), ("rejected", summary.failedCount),
            ("unknown", summary.unknownCount), ("unsent", summary.skippedCount),
        ]
        try printer(counts.map { OutputColumn($0.0, isNumber: true) }, isOne: true).printAll([
            OutputRow(
                cells: counts.map { String($0.1) },
                object: .object(counts.map { .init(name: $0.0, value: .int($0.1)) })
            )
        ])
        if summary.journalCount > 0 {
            await visit.notice("\(summary.journalCount) of these rows were settled by an earlier run.")
        }
        if summary.failedCount > 0 { await visit.notice("The rows that were refused are in \(files.rejectsPath).") }
        if summary.unknownCount > 0 {
            await visit.notice(
                "Whether the rows in \(files.unknownPath) were carried out is not known. They are not sent again: look first."
            )
        }
        let isDone = summary.doneCount == summary.rowCount && end.failure == nil && !Task.isCancelled
        if isDone {
            files.removeDefaultJournal()
        } else if files.journal != nil {
            await visit.notice("The same command goes on with the rest.")
        }
        try Task.checkCancellation()
        if let failure = end.failure { throw failure }
        if !isDone { throw ExitStatus.incomplete.code }
    }
}

/// The files beside an import.
private struct ImportFiles: Sendable {
    let journal: URL?
    /// Whether there was a journal of an earlier run.
    let isResumed: Bool
    let rejectsPath: String
    let unknownPath: String
    private let rejects: Guarded<RowsFile>
    private let unknown: Guarded<RowsFile>
    private let isDefaultJournal: Bool

    init(_ command: ImportCommand, columns: [String]?, isCSV: Bool) throws {
        let isFile = command.file != "-"
        let base = isFile ? URL(fileURLWithPath: command.file).deletingPathExtension().relativePath : "import"
        let suffix = isCSV ? "csv" : "ndjson"
        let path = command.journal ?? (isFile ? command.file + ".journal" : nil)
        journal = path.map { URL(fileURLWithPath: $0) }
        isDefaultJournal = command.journal == nil
        isResumed = path.map { FileManager.default.fileExists(atPath: $0) } ?? false
        rejectsPath = command.rejects ?? "\(base).rejects.\(suffix)"
        unknownPath = command.unknown ?? "\(base).unknown.\(suffix)"
        rejects = Guarded(RowsFile(rejectsPath, columns: columns))
        unknown = Guarded(RowsFile(unknownPath, columns: columns))
        let names = [command.file, path, rejectsPath, unknownPath].compactMap(\.self)
        guard Set(names).count == names.count else {
            throw ValidationError("The file, the journal and the files of the rows that failed need different names.")
        }
        // It would be noticed when the first row is refused, after any number of writes.
        for path in [path, rejectsPath, unknownPath].compactMap(\.self) { try Self.checkWritable(path) }
    }

    private static func checkWritable(_ path: String) throws {
        var info = stat()
        let isThere = stat(path, &info) == 0
        let kind = info.st_mode & S_IFMT
        // A file has its name when it is complete, so its folder is written to.
        let isFile = !isThere || kind == S_IFREG
        let place = isFile ? URL(fileURLWithPath: path).deletingLastPathComponent().path : path
        errno = EISDIR
        guard isFile || kind != S_IFDIR, access(place, W_OK) == 0 else {
            throw FileError(POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), subject: "write \(path)")
        }
    }

    /// Notes a row that was not carried out.
    func note(_ result: DataAPI.BatchRow, _ given: ImportRows.Given) throws {
        guard let error = result.error else { return }
        let file = result.result.kind == .unknown ? unknown : rejects
        let message = given.problem ?? ErrorText.reason(of: error)
        try file.withLock { try $0.write(given.row, code: error.fileMakerCode?.rawValue, message) }
    }

    func finish() throws {
        for file in [rejects, unknown] { try file.withLock { try $0.finish(replacesEarlier: isResumed) } }
    }

    /// Removes the journal, since every row is done. One that the user has named stays.
    func removeDefaultJournal() {
        if isDefaultJournal, let journal { unlink(journal.path) }
    }
}

/// Values of a file that are not in the value lists of their fields. They are no problems: a field takes them unless
/// its validation forbids it, which the Data API does not tell.
private struct ImportStrangers {
    private struct Column {
        var list: String
        var value: String
        var line: Int
        var count = 0
    }

    private var columns: [String: Column] = [:]

    mutating func add(_ strangers: [(column: String, list: String, value: String)], line: Int) {
        for (column, list, value) in strangers {
            columns[column, default: Column(list: list, value: value, line: line)].count += 1
        }
    }

    /// What to tell the user.
    var lines: [String] {
        columns.sorted { $0.key < $1.key }.map { name, column in
            "\(name): \(column.count) \(column.count == 1 ? "row has" : "rows have") a value that is not in the value list "
                + "\"\(column.list)\", \"\(column.value.visible)\" in line \(column.line). FileMaker takes it unless the field "
                + "is set to refuse it."
        }
    }
}
