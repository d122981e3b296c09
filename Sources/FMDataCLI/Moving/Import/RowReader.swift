import Dispatch
import FMData
import FMModel
import Foundation

/// A form of rows to import.
enum ImportForm: Equatable, Sendable {
    case csv
    case ndjson
}

/// A row of a file, as it stands there.
struct InputRow: Equatable, Sendable {
    /// The line it begins on, counted from 1.
    var line: Int
    /// Its values by their columns.
    var values: FieldData
    /// How it is written again, into a file of rows that were refused.
    var text: Text

    enum Text: Equatable, Sendable {
        case cells([String])
        /// A JSON object.
        case object(String)
    }
}

/// Reads the rows of a file, or of standard input, one by one in constant memory.
actor RowReader {
    /// The columns of CSV; nil for rows that have each their own.
    private(set) var columns: [String]?

    /// How many rows the file has, as far as its first part tells; nil if its size is not known.
    var estimatedCount: Int? {
        if isAtEnd { return rowCount }
        return size.map { rowCount * $0 / max(1, byteCount) }
    }

    private let form: ImportForm
    private let size: Int?
    private var byteCount = 0
    private var rowCount = 0
    private let descriptor: Int32
    private let name: String
    // Reading waits where a program writes slowly, which must not hold a thread of Swift concurrency.
    private let queue = DispatchQueue(label: "fmdata import")
    private var csv = CSVReader()
    private var lines = LineReader()
    private var waiting: ArraySlice<InputRow> = []
    private var isAtEnd = false

    /// Opens the file. `-` is standard input.
    init(_ path: String, _ form: ImportForm) throws {
        self.form = form
        name = path == "-" ? "standard input" : path
        guard path != "-" else {
            descriptor = STDIN_FILENO
            size = nil
            return
        }
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw FileError(POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), subject: "read \(path)")
        }
        var info = stat()
        size = fstat(descriptor, &info) == 0 && info.st_mode & S_IFMT == S_IFREG ? Int(info.st_size) : nil
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Reads the line of names, if there is one.
    func readColumns() async throws {
        while form == .csv, columns == nil, !isAtEnd { try await readMore() }
    }

    /// The next row; nil at the end. Throws if the text is no CSV or no JSON, with the line.
    func next() async throws -> InputRow? {
        while waiting.isEmpty, !isAtEnd { try await readMore() }
        return waiting.popFirst()
    }

    /// The next row of those that were read already; nil if the next one has to be waited for.
    func nextAtHand() -> InputRow? { waiting.popFirst() }

    private func readMore() async throws {
        let (descriptor, name) = (descriptor, name)
        let bytes: Data = try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result { try FileError.telling("read \(name)") { try Self.read(descriptor) } }
                )
            }
        }
        isAtEnd = bytes.isEmpty
        byteCount += bytes.count
        var rows: [InputRow] = []
        switch form {
        case .csv:
            do throws(CSVReader.Failure) {
                for row in isAtEnd ? try csv.end() : try csv.rows(in: bytes) {
                    if let columns {
                        rows.append(try Self.row(row, columns))
                    } else {
                        columns = row.cells
                    }
                }
            } catch {
                throw CommandError("\(name), line \(error.line): \(error.reason).")
            }
        case .ndjson:
            for line in try lines.lines(in: bytes, isEnd: isAtEnd, of: name) {
                rows.append(try Self.row(line.text, line: line.number, of: name))
            }
        }
        rowCount += rows.count
        waiting = waiting + rows
    }

    private static func read(_ descriptor: Int32) throws -> Data {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Foundation.read(descriptor, &bytes, bytes.count)
            if count >= 0 { return Data(bytes[..<count]) }
            guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }
    }

    private static func row(_ row: CSVReader.Row, _ columns: [String]) throws(CSVReader.Failure) -> InputRow {
        guard row.cells.count == columns.count else {
            throw CSVReader.Failure(
                line: row.line,
                reason: "\(row.cells.count) values, and the first line names \(columns.count) columns"
            )
        }
        let values = FieldData(zip(columns, row.cells.map(FieldValue.text)))
        return InputRow(line: row.line, values: values, text: .cells(row.cells))
    }

    private static func row(_ text: String, line: Int, of name: String) throws(CommandError) -> InputRow {
        do {
            let object = try FMDecoder().decode(ImportedObject.self, from: Data(text.utf8))
            return InputRow(line: line, values: object.values, text: .object(text))
        } catch {
            throw CommandError(
                "\(name), line \(line): expected a JSON object of fields with texts and numbers, or one of fmdata export."
            )
        }
    }
}

extension RowReader {
    /// The records of a JSON array, as `fmdata export` writes it.
    static func records(inArray content: Data) throws -> [FieldData] {
        try FMDecoder().decode([ImportedObject].self, from: content).map(\.values)
    }
}

/// A row as a JSON object: its fields, or what `fmdata export` writes of a record.
private struct ImportedObject: Decodable {
    var values: FieldData

    private enum CodingKeys: CodingKey {
        case recordId, modId, fieldData, portalData
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard container.contains(.fieldData) else {
            values = try FieldData(from: decoder)
            return
        }
        values = try container.decode(FieldData.self, forKey: .fieldData)
        for (name, key) in [("recordId", CodingKeys.recordId), ("modId", .modId)] {
            if let value = try container.decodeIfPresent(FieldValue.self, forKey: key) { values[name] = value }
        }
    }
}

/// Lines of a text that comes in pieces. Empty ones are left out.
private struct LineReader {
    private var begun = Data()
    private var number = 0

    private static let maximumBytes = 64 << 20

    mutating func lines(in bytes: Data, isEnd: Bool, of name: String) throws -> [(number: Int, text: String)] {
        begun += bytes
        var lines: [(number: Int, text: String)] = []
        var start = begun.startIndex
        func take(_ line: Data) throws {
            number += 1
            guard let text = String(validating: line, as: UTF8.self) else {
                throw CommandError("\(name), line \(number): the text is not UTF-8.")
            }
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines.union(["\u{FEFF}"]))
            if !trimmed.isEmpty { lines.append((number, trimmed)) }
        }
        while let end = begun[start...].firstIndex(of: UInt8(ascii: "\n")) {
            try take(begun[start..<end])
            start = end + 1
        }
        begun = Data(begun[start...])
        if isEnd, !begun.isEmpty { try take(begun) }
        guard begun.count <= Self.maximumBytes else {
            throw CommandError("\(name), line \(number + 1): the line is longer than 64 MiB.")
        }
        return lines
    }
}
