import FMData
import Foundation

/// A file of rows that were not carried out, each with its line and the reason. It has the columns of the input, so
/// that it can be imported again. There is no file if there is no such row.
struct RowsFile {
    private let path: String
    private let columns: [String]
    private var file: PartFile?

    /// - Parameter columns: The columns of the input, if it is CSV.
    init(_ path: String, columns: [String]?) {
        self.path = path
        self.columns = (columns ?? []).filter { !ImportPlan.reportColumns.contains($0) }
        sourceColumns = columns ?? []
    }

    private let sourceColumns: [String]

    mutating func write(_ row: InputRow, code: Int?, _ message: String) throws {
        let file = try file ?? begin(row.text)
        self.file = file
        let report: [OutputValue.Member] = [
            .init(name: "_line", value: .int(row.line)),
            .init(name: "_code", value: code.map(OutputValue.int) ?? .null),
            .init(name: "_message", value: .text(message)),
        ]
        switch row.text {
        case .cells(let cells):
            let own = zip(sourceColumns, cells).filter { !ImportPlan.reportColumns.contains($0.0) }.map(\.1)
            try file.write(RowPrinter.csv(own + [String(row.line), code.map { String($0) } ?? "", message]))
        case .object(let json):
            // The object as it came, with more members behind its own.
            let open = json.dropLast().trimmingSpaces
            let members = OutputValue.object(report).json.dropFirst()
            try file.write(open + (open == "{" ? "" : ",") + members + "\n")
        }
    }

    private func begin(_ text: InputRow.Text) throws -> PartFile {
        let file = try PartFile(path, replaces: true)
        if case .cells = text { try file.write(RowPrinter.csv(columns + ImportPlan.reportColumns)) }
        return file
    }

    /// Completes the file.
    ///
    /// - Parameter replacesEarlier: Whether a file of an earlier run of the same import is removed if there is no row.
    func finish(replacesEarlier: Bool) throws {
        if let file { return try file.finish() }
        // A killed run may have left a part.
        if replacesEarlier { PartFile.remove(path) }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        var text = self
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
