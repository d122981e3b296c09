import ArgumentParser
import FMData
import FMModel
import Foundation

/// `fmdata diff`: in what two places, or a place and an export, differ.
struct DiffCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Says in what records differ: of two profiles, or of a profile and a file of fmdata export.",
        discussion: """
            FROM and TO are names of profiles, files (.csv, .ndjson, .json), or a dot for the host and account that options, \
            environment and the default profile say. Records are compared by a key, field by field, as far as both sides have \
            the field; the records of FROM are kept in memory. The status is 3 when something differs.
            """
    )

    @Argument(help: "A profile, a file, or a dot.")
    var from: String

    @Argument(help: "A profile, a file, or a dot.")
    var to: String

    @OptionGroup var found: FoundSetOptions

    @Option(help: ArgumentHelp("The field that identifies a record on both sides.", valueName: "field"))
    var key: String?

    @Option(help: ArgumentHelp("Compare these fields: Name,City.", valueName: "fields"))
    var fields: [String] = []

    @Flag(help: "Compare what the layout shows, and no records: fields, portals and value lists of two profiles.")
    var schema = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func validate() throws {
        guard schema || key != nil else { throw ValidationError("By which field are records compared? Give --key.") }
        guard found.sort.isEmpty else { throw ValidationError("--sort has no meaning here.") }
        guard from != to else { throw ValidationError("FROM and TO are the same.") }
        if schema, key != nil || !found.conditions.isEmpty || !fields.isEmpty {
            throw ValidationError("--schema excludes conditions, --key and --fields.")
        }
    }

    func run() async throws {
        try found.checkOptions()
        if schema { return try await compareSchema() }
        guard let key else { return }
        let comparison = Guarded(
            DiffComparison(
                by: key,
                fields: fields.flatMap { $0.split(separator: ",").map(String.init) },
                printer(DiffComparison.columns)
            )
        )
        try await read(from) { record, types in try comparison.withLock { try $0.take(old: record, types) } }
        try await read(to) { record, types in try comparison.withLock { try $0.take(new: record, types) } }
        guard try comparison.withLock({ try $0.end() }) else { return }
        throw ExitStatus.different.code
    }

    // MARK: Sides

    /// Reads the records of a side.
    private func read(
        _ side: String,
        _ take: @escaping @Sendable (FieldData, LayoutFields?) throws -> Void
    ) async throws {
        if let form = try Self.file(side) {
            var reader = try DiffFile(side, form)
            while let record = try await reader.next() { try take(record, nil) }
            return
        }
        try await HostVisit.make(at: try place(side), errorsAreJSON: form.errorsAreJSON) { visit in
            let layout = try await visit.openForReading().addLayout(found.layout)
            let fields = try await layout.fields()
            let records = FoundRecords(layout: layout, find: try found.find(fields), order: [], portals: [])
            let columns = RecordColumns(fields, selection: nil, portals: nil)
            for try await record in records.allRecords().values {
                var values = columns.values(of: record)
                // A file of an export has it, too; a field with this name precedes it there as well.
                if values["recordId"] == nil { values["recordId"] = FieldValue(record.recordId) }
                try take(values, fields)
            }
            for line in records.remarks(after: 0, from: 1) { await visit.notice(line) }
        }
    }

    /// The form of a side that is a file; nil for a profile.
    private static func file(_ side: String) throws -> ExportForm? {
        let isFile = FileManager.default.fileExists(atPath: side)
        guard side != ".", side.contains("/") || isFile else { return nil }
        guard isFile else { throw CommandError("There is no file \(side).", .usage) }
        guard let form = ExportForm(ofFile: side), form != .sql else {
            throw CommandError("\(side): a file to compare ends in .csv, .ndjson or .json.", .usage)
        }
        return form
    }

    private func place(_ side: String) throws -> Place {
        var connection = connection
        if side != "." {
            guard try Self.file(side) == nil else {
                throw CommandError("\(side) is a file, and the schema is compared between two profiles.", .usage)
            }
            connection.profile = side
            (connection.host, connection.user) = (nil, nil)
        }
        return try Place(connection, talk, environment: ProcessInfo.processInfo.environment)
    }

    // MARK: Schema

    private func compareSchema() async throws {
        let (old, new) = (try await layout(of: from), try await layout(of: to))
        let changes = SchemaChange.changes(
            from: LayoutSnapshot.updating([], with: [old], prefixes: []).layouts,
            to: LayoutSnapshot.updating([], with: [new], prefixes: []).layouts
        )
        let report = SchemaReport(changes)
        let output = StandardOutput()
        try output.write(form.errorsAreJSON ? try report.json() + "\n" : report.text)
        try output.flush()
        if !changes.isEmpty { throw ExitStatus.different.code }
    }

    private func layout(of side: String) async throws -> LayoutDescription {
        let description = LockedValue<LayoutDescription?>(nil)
        try await HostVisit.make(at: try place(side), errorsAreJSON: form.errorsAreJSON) { visit in
            let answer = try await SchemaReader(visit).read(.named([found.layout]))
            if let failure = answer.failures.first { throw failure.error }
            description.value = answer.layouts.first
        }
        guard let layout = description.value else { throw CommandError("\(side) has no layout \"\(found.layout)\".") }
        return layout
    }
}

/// Compares the records of two sides, which are taken one after the other, and prints in what they differ: a row for
/// each record that is there on one side only, and for each field with another value.
private struct DiffComparison {
    static let columns = ["change", "key", "field", "from", "to"].map { OutputColumn($0) }

    private let keyField: String
    private let selection: [String]
    private let printer: RowPrinter
    /// The records of the old side that the new one has not had yet.
    private var old: [String: FieldData] = [:]
    /// The keys of the old side, in the order of its records.
    private var oldKeys: [String] = []
    private var newKeys: Set<String> = []
    private var isDifferent = false

    init(by key: String, fields: [String], _ printer: RowPrinter) {
        keyField = key
        selection = fields
        self.printer = printer
    }

    mutating func take(old record: FieldData, _ types: LayoutFields?) throws {
        let key = try key(of: record, types)
        guard old.updateValue(record, forKey: key) == nil else { throw notUnique(key) }
        oldKeys.append(key)
    }

    mutating func take(new record: FieldData, _ types: LayoutFields?) throws {
        let key = try key(of: record, types)
        guard newKeys.insert(key).inserted else { throw notUnique(key) }
        guard let before = old.removeValue(forKey: key) else {
            return try print(
                OutputRow(cells: ["added", key, "", "", ""], object: ["change": .text("added"), "key": .text(key)])
            )
        }
        for (name, value) in record where selection.isEmpty || selection.contains(name) {
            guard let earlier = before[name], Self.isCompared(name, types) else { continue }
            let isNumber = types?.field(name)?.result == .number || value.isNumber || earlier.isNumber
            guard DiffValue(earlier, isNumber: isNumber) != DiffValue(value, isNumber: isNumber) else { continue }
            try print(
                OutputRow(
                    cells: ["changed", key, name, earlier.text, value.text],
                    object: [
                        "change": .text("changed"), "key": .text(key), "field": .text(name),
                        "from": OutputValue(earlier),
                        "to": OutputValue(value),
                    ]
                )
            )
        }
    }

    /// Prints the records that the new side lacks, and the end.
    ///
    /// - Returns: whether anything differs.
    mutating func end() throws -> Bool {
        for key in oldKeys where old[key] != nil {
            try print(
                OutputRow(
                    cells: ["removed", key, "", "", ""],
                    object: ["change": .text("removed"), "key": .text(key)]
                )
            )
        }
        try printer.end()
        return isDifferent
    }

    private mutating func print(_ row: OutputRow) throws {
        isDifferent = true
        try printer.print(row)
    }

    private func key(of record: FieldData, _ types: LayoutFields?) throws(CommandError) -> String {
        guard let value = record[keyField] else {
            throw CommandError("A record has no field \"\(keyField)\", by which it could be compared.", .usage)
        }
        let text = DiffValue(value, isNumber: value.isNumber || types?.field(keyField)?.result == .number).text
        guard !text.isEmpty else { throw CommandError("A record has no value for \"\(keyField)\".") }
        return text
    }

    private func notUnique(_ key: String) -> CommandError {
        CommandError("Several records have the same \(keyField), \"\(key)\": it identifies none of them.")
    }

    /// Whether a field says something about its record: its id and its version are those of its file, a global belongs
    /// to a session and a summary to a found set.
    private static func isCompared(_ name: String, _ types: LayoutFields?) -> Bool {
        guard let field = types?.field(name) else { return !["recordId", "modId"].contains(name) }
        return !field.global && field.type != .summary
    }
}

/// A value in one spelling.
private struct DiffValue: Equatable {
    let text: String

    init(_ value: FieldValue, isNumber: Bool) {
        let plain = value.text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        let number = isNumber ? FMNumber(plain) : nil
        text = number.map(\.canonicalText) ?? plain
    }
}

extension FieldValue {
    fileprivate var isNumber: Bool { if case .number = self { true } else { false } }
}

extension FMNumber {
    /// The number in one spelling: equal numbers have equal texts.
    fileprivate var canonicalText: String { decimal.map { "\($0)" } ?? literal }
}

/// The records of an exported file.
private struct DiffFile {
    private let rows: RowReader?
    private var list: [FieldData]

    /// - Parameter form: A JSON array is read as a whole.
    init(_ path: String, _ form: ExportForm) throws {
        switch form {
        case .json:
            rows = nil
            let content = try FileError.telling("read \(path)") { try Data(contentsOf: URL(fileURLWithPath: path)) }
            do {
                list = try RowReader.records(inArray: content).reversed()
            } catch {
                throw CommandError("\(path): expected a JSON array of records, as fmdata export writes it.")
            }
        default:
            rows = try RowReader(path, form == .csv ? .csv : .ndjson)
            list = []
        }
    }

    mutating func next() async throws -> FieldData? {
        if let rows { return try await rows.next()?.values }
        return list.popLast()
    }
}
