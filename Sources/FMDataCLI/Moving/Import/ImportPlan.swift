import FMData
import FMSandbox

/// What is done with the rows of a file.
enum ImportMode: String, CaseIterable, Sendable {
    /// Each row is a new record.
    case insert
    /// Each row changes the record with its key.
    case update
    /// Each row changes the record with its key, or is a new one.
    case upsert
}

/// What the rows of a file become: which of their columns are written, and how their values travel.
struct ImportPlan: Sendable {
    let mode: ImportMode
    /// The column by which records are found. `recordId` is the id of the record, if no field has that name.
    let key: String?
    private let fields: LayoutFields
    /// The columns that are written; nil for all.
    private let selection: [String]?
    private let skipsUnwritable: Bool
    private let values: ImportValues

    /// Columns that the command itself has written.
    static let reportColumns = ["_line", "_code", "_message"]
    private static let recordId = "recordId"
    private static let modId = "modId"

    /// Throws if the key or a selected field is none of the layout.
    init(
        _ mode: ImportMode,
        key: String?,
        selection: [String]?,
        skipsUnwritable: Bool,
        values: ImportValues,
        _ fields: LayoutFields
    ) throws(CommandError) {
        self.mode = mode
        self.key = key
        self.fields = fields
        self.selection = selection
        self.skipsUnwritable = skipsUnwritable
        self.values = values
        for name in selection ?? [] { _ = try fields.known(name) }
        if let key, !(isById && mode == .update) { _ = try fields.known(key) }
    }

    /// Whether the key is the id of the record.
    var isById: Bool { key == Self.recordId && fields.field(Self.recordId) == nil }

    // MARK: Columns

    private enum Target {
        case field(LayoutFields.Field)
        case ignored
        case refused(String)
    }

    private func target(_ column: String) -> Target {
        guard fields.field(column) == nil else {
            if let selection, !selection.contains(column), column != key { return .ignored }
            return writable(column)
        }
        if Self.reportColumns.contains(column) || [Self.recordId, Self.modId].contains(column) { return .ignored }
        if selection != nil { return .ignored }
        do {
            return .field(try fields.known(column))
        } catch {
            return .refused(error.description)
        }
    }

    private func writable(_ column: String) -> Target {
        guard let field = fields.field(column) else { return .ignored }
        let reason: String? =
            if !fields.fields.contains(where: { $0.name == field.name }) {
                "is in a portal"
            } else if column.contains("::") {
                "is a field of another table"
            } else if let computed = field.isComputed {
                computed
            } else if field.global {
                "is global: fmdata globals sets it"
            } else if field.result == .container {
                "is a container: fmdata containers import fills it"
            } else {
                nil
            }
        guard let reason else { return .field(field) }
        if skipsUnwritable, column != key { return .ignored }
        return .refused("\(column) \(reason), and cannot be written. --skip-unwritable leaves such columns out.")
    }

    /// What is wrong with the columns of a file.
    func problems(of columns: [String]) -> [Problem] {
        var seen: Set<String> = []
        var problems = columns.compactMap { column -> Problem? in
            if !seen.insert(column).inserted { return Problem(column, "The column comes twice.") }
            if case .refused(let reason) = target(column) { return Problem(column, reason) }
            return nil
        }
        if let key, mode != .insert, !columns.contains(key) {
            problems.append(Problem(key, "The key is no column of the file."))
        }
        return problems
    }

    // MARK: Rows

    /// Something wrong with a value.
    struct Problem: Error, Equatable, Sendable {
        var column: String
        var text: String

        init(_ column: String, _ text: String) {
            self.column = column
            self.text = text
        }
    }

    /// What a row writes, and where.
    struct Row: Sendable {
        var fields = FieldData()
        /// The value of the key; empty if the row has none.
        var key = FieldValue.empty
        /// The record, for rows that name it.
        var recordId: Int?
        /// The version that the row is based on, for rows that name their record.
        var modId: Int?
    }

    /// A row as it is written. Throws what is wrong with it.
    func row(_ values: FieldData) throws(Problems) -> Row {
        var row = Row()
        var problems: [Problem] = []
        for (column, value) in values {
            switch target(column) {
            case .ignored: break
            case .refused(let reason): problems.append(Problem(column, reason))
            case .field(let field):
                do throws(CommandError) {
                    let sent = try sent(value, field)
                    if column == key { row.key = sent }
                    // An empty value of a new record is left to FileMaker, which may enter one by itself.
                    if !(mode == .insert && sent.isEmpty), !(mode == .update && column == key) {
                        row.fields[column] = sent
                    }
                } catch {
                    problems.append(Problem(column, error.description))
                }
            }
        }
        if isById {
            row.recordId = values[Self.recordId]?.int
            row.modId = values[Self.modId]?.int
            if row.recordId == nil { problems.append(Problem(Self.recordId, "The row names no record.")) }
        } else if let key, mode != .insert, row.key.isEmpty, problems.isEmpty {
            problems.append(Problem(key, "The row has no value for the key."))
        }
        if mode == .insert { problems += missing(in: row.fields) }
        guard problems.isEmpty else { throw Problems(all: problems) }
        return row
    }

    struct Problems: Error, Equatable {
        var all: [Problem]

        var text: String {
            all.map { $0.text.contains($0.column) ? $0.text : "\($0.column): \($0.text)" }.joined(separator: " ")
        }
    }

    /// The values of a row that are not in the value lists of their fields.
    func strangers(in row: Row) -> [(column: String, list: String, value: String)] {
        row.fields.compactMap { column, value in
            guard let field = fields.field(column), let strange = fields.strange(value.text, of: field) else {
                return nil
            }
            return (column, strange.list, strange.part)
        }
    }

    /// Whether a row writes a value with line feeds.
    ///
    /// - Parameter values: The row as it stands in the file.
    func hasLineFeeds(_ row: Row, in values: FieldData) -> Bool {
        row.fields.contains { column, _ in
            guard case .text(let text)? = values[column] else { return false }
            return text.utf8.contains(UInt8(ascii: "\n"))
        }
    }

    /// The fields that a new record must have.
    private func missing(in row: FieldData) -> [Problem] {
        fields.fields.compactMap { field in
            guard field.notEmpty, !field.autoEnter, field.type == .normal, !field.global, field.result != .container,
                row[field.name] == nil
            else { return nil }
            return Problem(field.name, "The field must not be empty.")
        }
    }

    /// A value as it travels. Throws if it is none of the field's type.
    private func sent(_ value: FieldValue, _ field: LayoutFields.Field) throws(CommandError) -> FieldValue {
        guard case .text(let given) = value, !given.isEmpty else { return value }
        let text = values.usesLineFeeds ? given.withLineBreaks("\r") : given
        if let most = field.maxCharacters, most > 0, text.count > most {
            throw CommandError("\(field.name): \(text.count) characters, and at most \(most) are allowed.", .usage)
        }
        do throws(CommandError) {
            return try typed(text, field)
        } catch {
            guard values.isAsIs else { throw error }
            return .text(text)
        }
    }

    private func typed(_ text: String, _ field: LayoutFields.Field) throws(CommandError) -> FieldValue {
        guard field.result == .number else {
            return .text(try CivilText.sent(text, to: field, format: values.dateFormat))
        }
        // Digits travel as a number, which does not depend on the decimal separator of the file.
        guard !text.isPlainNumber else {
            return FMNumber(text).map(FieldValue.number) ?? .text(text)
        }
        guard text.wholeMatch(of: #/[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?/#) != nil else {
            throw CivilText.unreadable(text, field, "a number")
        }
        return .text(text)
    }
}
