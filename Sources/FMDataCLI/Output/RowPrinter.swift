/// Prints rows one by one, in constant memory. What was printed looks incomplete until ``end()``: an array has no end
/// then, so that nobody takes a part for the whole.
final class RowPrinter {
    private let columns: [OutputColumn]
    private let form: OutputForm
    private let isOne: Bool
    private let output: StandardOutput
    private var table: TablePrinter
    private(set) var rowCount = 0

    /// - Parameters:
    ///   - isOne: Whether there is one row by its nature, which as JSON is an object and no array.
    ///   - isExpanded: Whether a table has one field per line, however wide the window is.
    init(
        _ columns: [OutputColumn],
        _ form: OutputForm,
        to output: StandardOutput,
        _ style: TerminalStyle,
        isOne: Bool = false,
        isExpanded: Bool = false
    ) {
        self.columns = columns
        self.form = form
        self.isOne = isOne
        self.output = output
        table = TablePrinter(columns, style, isExpanded: isExpanded)
    }

    /// Prints to standard output, at a terminal through the pager.
    convenience init(_ columns: [OutputColumn], _ options: OutputOptions, isOne: Bool = false, isExpanded: Bool = false)
    {
        let output = StandardOutput(isPaged: true)
        self.init(columns, options.form, to: output, .ofStandardOutput, isOne: isOne, isExpanded: isExpanded)
    }

    func print(_ row: OutputRow) throws {
        switch form {
        case .table: try output.write(table.text(of: row), isHarmless: true)
        case .json where isOne: try output.writeLine(row.object.json)
        case .json: try output.write((rowCount == 0 ? "[\n" : ",\n") + row.object.json)
        case .ndjson: try output.writeLine(row.object.json)
        case .csv:
            if rowCount == 0 { try writeNames() }
            try output.write(Self.csv(row.cells))
        }
        rowCount += 1
        CommandStreams.captured?.countRow()
    }

    /// Prints the end, after the last row.
    func end() throws {
        switch form {
        case .table: try output.write(table.rest(), isHarmless: true)
        case .json where isOne: break
        case .json: try output.writeLine(rowCount == 0 ? "[]" : "\n]")
        case .ndjson: break
        case .csv: if rowCount == 0 { try writeNames() }
        }
        try output.flush()
    }

    /// Prints rows, and the end.
    func printAll(_ rows: some Sequence<OutputRow>) throws {
        for row in rows { try print(row) }
        try end()
    }

    private func writeNames() throws { try output.write(Self.csv(columns.map(\.name))) }

    /// A line of CSV by RFC 4180. Line breaks in values stay as they are.
    static func csv(_ cells: [String]) -> String {
        let quote = UInt8(ascii: "\"")
        // Bytes are looked at, since a character would hide a quote that an accent follows.
        var line: [UInt8] = []
        for (index, cell) in cells.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            guard cell.utf8.contains(where: needsQuotes) else {
                line += cell.utf8
                continue
            }
            line.append(quote)
            for byte in cell.utf8 {
                if byte == quote { line.append(quote) }
                line.append(byte)
            }
            line.append(quote)
        }
        line += "\r\n".utf8
        return String(decoding: line, as: UTF8.self)
    }

    private static func needsQuotes(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
        default: false
        }
    }
}
