/// Reads CSV (RFC 4180) piece by piece: a row is returned when its last byte has come.
///
/// Lines may end with a line feed, a carriage return, or both. Line breaks between quotes are part of the value. An
/// empty line is no row.
struct CSVReader {
    /// Why the text is no CSV.
    struct Failure: Error, Equatable {
        /// Counted from 1.
        var line: Int
        var reason: String
    }

    struct Row: Equatable {
        /// The line that the row begins on, counted from 1.
        var line: Int
        var cells: [String]
    }

    private enum Place {
        /// Before or in a value without quotes.
        case plain
        case quoted
        /// Behind a quote within quotes, which ends the value unless another quote follows.
        case quote
    }

    private var place = Place.plain
    private var value: [UInt8] = []
    /// Whether the value began with a quote.
    private var isQuoted = false
    private var cells: [String] = []
    private var byteCount = 0
    private var line = 1
    private var rowLine = 1
    private var followsCarriageReturn = false
    private var hasBegun = false
    private var mark: [UInt8] = []

    /// A quote that is never closed would otherwise take all of the file.
    private static let maximumRowBytes = 64 << 20
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Takes more of the text, and returns the rows that are complete.
    mutating func rows(in bytes: some Sequence<UInt8>) throws(Failure) -> [Row] {
        var rows: [Row] = []
        for byte in bytes {
            if !hasBegun {
                // Some spreadsheets write a byte-order mark first, which may come in pieces.
                mark.append(byte)
                if mark == Self.byteOrderMark {
                    (hasBegun, mark) = (true, [])
                } else if !Self.byteOrderMark.starts(with: mark) {
                    hasBegun = true
                    for byte in mark { try take(byte, &rows) }
                    mark = []
                }
            } else {
                try take(byte, &rows)
            }
        }
        return rows
    }

    /// The last row, if the text does not end with a line break.
    mutating func end() throws(Failure) -> [Row] {
        var rows: [Row] = []
        for byte in mark { try take(byte, &rows) }
        mark = []
        guard place != .quoted else { throw Failure(line: rowLine, reason: "a quote is never closed") }
        try endRow(&rows)
        return rows
    }

    private mutating func take(_ byte: UInt8, _ rows: inout [Row]) throws(Failure) {
        let isSecondOfTwo = followsCarriageReturn && byte == UInt8(ascii: "\n")
        followsCarriageReturn = byte == UInt8(ascii: "\r")
        let isLineBreak = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
        defer { if isLineBreak, !isSecondOfTwo { line += 1 } }
        byteCount += 1
        guard byteCount <= Self.maximumRowBytes else {
            throw Failure(line: rowLine, reason: "the row is longer than 64 MiB; is a quote missing?")
        }
        switch place {
        case .quoted:
            if byte == UInt8(ascii: "\"") { place = .quote } else { value.append(byte) }
        case .quote where byte == UInt8(ascii: "\""):
            value.append(byte)
            place = .quoted
        case .plain where byte == UInt8(ascii: "\"") && value.isEmpty && !isQuoted:
            (place, isQuoted) = (.quoted, true)
        case .plain, .quote:
            place = .plain
            if isLineBreak {
                if isSecondOfTwo {
                    rowLine = line
                    byteCount = 0
                } else {
                    try endRow(&rows)
                }
            } else if byte == UInt8(ascii: ",") {
                try endValue()
            } else if isQuoted {
                throw Failure(line: line, reason: "text follows a closing quote")
            } else {
                value.append(byte)
            }
        }
    }

    private mutating func endValue() throws(Failure) {
        guard let text = String(validating: value, as: UTF8.self) else {
            throw Failure(line: rowLine, reason: "the text is not UTF-8")
        }
        cells.append(text)
        value.removeAll(keepingCapacity: true)
        isQuoted = false
    }

    private mutating func endRow(_ rows: inout [Row]) throws(Failure) {
        if !(cells.isEmpty && value.isEmpty && !isQuoted) {
            try endValue()
            rows.append(Row(line: rowLine, cells: cells))
        }
        cells = []
        byteCount = 0
        rowLine = line + 1
    }
}
