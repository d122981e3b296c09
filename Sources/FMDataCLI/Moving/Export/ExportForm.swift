import ArgumentParser
import Foundation

/// A form of exported records.
enum ExportForm: String, Codable, CaseIterable, Sendable {
    /// One JSON object per line.
    case ndjson
    /// RFC 4180, with a line of names.
    case csv
    /// One JSON array.
    case json
    /// A table and its rows for SQLite, in one transaction.
    case sql

    /// The form of a file by its name; nil if the name does not say it.
    init?(ofFile path: String) {
        switch URL(fileURLWithPath: path).pathExtension.lowercased() {
        case "jsonl": self = .ndjson
        case let suffix: self.init(rawValue: suffix)
        }
    }
}

/// The form of an export.
struct ExportFormOptions: ParsableArguments {
    @Flag(help: "Write a JSON object per line, as is done if neither an option nor the file's name says otherwise.")
    var ndjson = false

    @Flag(help: "Write CSV (RFC 4180), with a line of names.")
    var csv = false

    @Flag(help: "Write one JSON array.")
    var json = false

    @Flag(help: "Write a table for SQLite, in one transaction: fmdata export … --sql | sqlite3 world.db")
    var sql = false

    @Flag(help: "In CSV, put an apostrophe before values that a spreadsheet would take for formulas.")
    var excelSafe = false

    @Flag(help: "Write the line breaks of values as line feeds; FileMaker has carriage returns.")
    var lineFeeds = false

    /// The forms that were asked for.
    private var asked: [ExportForm] {
        [(ndjson, .ndjson), (csv, .csv), (json, .json), (sql, .sql)].compactMap { $0 ? $1 : nil }
    }

    func validate() throws {
        guard asked.count < 2 else { throw ValidationError("Only one of --ndjson, --csv, --json and --sql.") }
    }

    /// Throws if neither an option nor the file's name says the form, and that name promises another one.
    func check(_ path: String?) throws {
        guard asked.isEmpty, let path, ExportForm(ofFile: path) == nil,
            !URL(fileURLWithPath: path).pathExtension.isEmpty
        else { return }
        throw ValidationError(
            "\(path): a file of records ends in .ndjson, .csv, .json or .sql. For another name give --ndjson, --csv, --json "
                + "or --sql."
        )
    }

    /// - Parameter path: The file; nil for standard output.
    func form(of path: String?) -> ExportForm { asked.first ?? path.flatMap(ExportForm.init(ofFile:)) ?? .ndjson }

    /// Whether errors are JSON as well.
    var errorsAreJSON: Bool { json || ndjson }
}

/// The text of exported records, piece by piece: a head, rows, and an end without which it is visibly incomplete where
/// the form allows that.
struct ExportText {
    let form: ExportForm
    let columns: [OutputColumn]
    /// The name of the table in SQL.
    let table: String
    var isExcelSafe = false
    var usesLineFeeds = false

    /// What precedes the first row.
    var head: String {
        switch form {
        case .ndjson: ""
        case .json: "["
        case .csv: RowPrinter.csv(columns.map { cell($0.name) })
        case .sql: "BEGIN;\nCREATE TABLE \(SQLText.name(table)) (\(SQLText.declarations(columns)));\n"
        }
    }

    /// What follows the last row.
    var end: String {
        switch form {
        case .ndjson, .csv: ""
        case .json: "\n]\n"
        case .sql: "COMMIT;\n"
        }
    }

    /// A row.
    ///
    /// - Parameters:
    ///   - cells: The texts of the columns, for forms with columns.
    ///   - object: The row for forms of JSON.
    ///   - isFirst: Whether no row precedes it.
    func row(cells: @autoclosure () -> [String], object: @autoclosure () -> OutputValue, isFirst: Bool) -> String {
        switch form {
        case .ndjson: json(object()) + "\n"
        case .json: (isFirst ? "\n" : ",\n") + json(object())
        case .csv: RowPrinter.csv(isExcelSafe || usesLineFeeds ? cells().map(cell) : cells())
        case .sql:
            "INSERT INTO \(SQLText.name(table)) VALUES ("
                + zip(cells(), columns).map { SQLText.value(text($0), isNumber: $1.isNumber) }
                .joined(separator: ", ") + ");\n"
        }
    }

    private func cell(_ value: String) -> String {
        let text = text(value)
        guard isExcelSafe, let first = text.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first) else {
            return text
        }
        // A negative number is no formula.
        return text.wholeMatch(of: #/-[0-9.]+/#) == nil ? "'" + text : text
    }

    private func text(_ value: String) -> String {
        usesLineFeeds ? value.withLineBreaks("\n") : value
    }

    private func json(_ object: OutputValue) -> String {
        (usesLineFeeds ? object.mappingTexts(text) : object).json
    }
}

extension OutputValue {
    /// The value with other texts in it.
    fileprivate func mappingTexts(_ change: (String) -> String) -> OutputValue {
        switch self {
        case .null, .bool, .number, .json: self
        case .text(let text): .text(change(text))
        case .list(let values): .list(values.map { $0.mappingTexts(change) })
        case .object(let members):
            .object(members.map { Member(name: $0.name, value: $0.value.mappingTexts(change)) })
        }
    }
}

/// Names and values in SQLite's SQL.
enum SQLText {
    static func name(_ name: String) -> String { quoted(name, by: "\"") }

    /// The columns of a table. SQLite compares their names without regard to case.
    ///
    /// A column of numbers has no type: SQLite would turn the digits that do not fit a floating-point number into one.
    static func declarations(_ columns: [OutputColumn]) -> String {
        var taken: Set<String> = []
        return columns.enumerated().map { place, column in
            var unique = column.name
            var number = 2
            while !taken.insert(unique.lowercased()).inserted {
                unique = "\(column.name)_\(number)"
                number += 1
            }
            return name(unique) + (place == 0 ? " INTEGER PRIMARY KEY" : column.isNumber ? "" : " TEXT")
        }
        .joined(separator: ", ")
    }

    /// A value; an empty one is NULL.
    static func value(_ text: String, isNumber: Bool) -> String {
        if text.isEmpty { return "NULL" }
        if isNumber, isExact(text) { return text }
        // A literal cannot hold a NUL, and SQLite would stop to read at it.
        return text.split(separator: "\u{0}", omittingEmptySubsequences: false)
            .map(literal)
            .joined(separator: " || char(0) || ")
    }

    private static func literal(_ text: Substring) -> String {
        // The shell of SQLite takes a carriage return before a line feed for a part of the line's end, also in a text.
        guard text.utf8.contains(UInt8(ascii: "\r")), text.contains("\r\n" as Character),
            let mark = (0xE000...0xF8FF).lazy.compactMap({ Unicode.Scalar($0 as UInt32) }).first(where: {
                !text.unicodeScalars.contains($0)
            })
        else { return quoted(text, by: "'") }
        let marked = text.replacing("\r\n", with: "\(mark)\n")
        return "replace(\(quoted(marked, by: "'")), '\(mark)', char(13))"
    }

    /// The text between quotes, with those in it doubled. As characters, a quote and an accent behind it would be one.
    private static func quoted(_ text: some StringProtocol, by quote: Unicode.Scalar) -> String {
        var quoted = "\(quote)"
        for scalar in text.unicodeScalars {
            if scalar == quote { quoted.unicodeScalars.append(quote) }
            quoted.unicodeScalars.append(scalar)
        }
        quoted.unicodeScalars.append(quote)
        return quoted
    }

    /// Whether SQLite keeps all digits of a number: an integer of 64 bits, or 15 digits.
    private static func isExact(_ text: String) -> Bool {
        guard text.isPlainNumber else { return false }
        return Int64(text) != nil || text.count(where: \.isNumber) <= 15
    }
}
