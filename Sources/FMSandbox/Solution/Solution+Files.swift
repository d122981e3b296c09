public import Foundation

extension Solution {
    /// Loads a solution from a JSON file, with the records that it keeps in CSV or JSON files next to it.
    ///
    /// Throws ``SolutionError``, which names the file and the place in it: a path of keys, or line and column if the
    /// text is not JSON.
    public static func load(from file: URL) throws -> Solution {
        var solution: Solution = try decode(Solution.self, from: file)
        for index in solution.tables.indices {
            guard let name = solution.tables[index].recordsFile else { continue }
            func failure(_ reason: String) -> SolutionError {
                SolutionError(solution: file.givenPath, path: "tables[\(index)].recordsFile", reason: reason)
            }
            guard !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else {
                throw failure("expected a file beside the solution")
            }
            let url = file.deletingLastPathComponent().appendingPathComponent(name)
            guard FileManager.default.isReadableFile(atPath: url.path) else { throw failure("\(name) cannot be read") }
            switch url.pathExtension.lowercased() {
            case "json": solution.tables[index].records += try decode([Record].self, from: url)
            case "csv": solution.tables[index].records += try records(fromCSV: url)
            default: throw failure("expected a name that ends in .json or .csv")
            }
            // The records are part of the solution now; if it is saved and loaded again, they must not be added twice.
            solution.tables[index].recordsFile = nil
        }
        return solution
    }

    /// Reads records from CSV (RFC 4180). The first line has the field names, and `$recordId`, `$modId` or `$locked` if
    /// needed.
    private static func records(fromCSV file: URL) throws -> [Record] {
        guard let text = String(validating: try contents(of: file), as: UTF8.self) else {
            throw SolutionError(solution: file.givenPath, path: "", reason: "expected UTF-8")
        }
        var rows: [[String]]
        do {
            rows = try CSV.rows(of: text)
        } catch let error as CSV.Failure {
            throw SolutionError(solution: file.givenPath, path: "line \(error.line)", reason: error.reason)
        }
        guard !rows.isEmpty else { return [] }
        let names = rows.removeFirst()
        return try rows.enumerated().map { place, row in
            func failure(_ reason: String) -> SolutionError {
                SolutionError(solution: file.givenPath, path: "record \(place + 1)", reason: reason)
            }
            guard row.count == names.count else {
                throw failure("\(row.count) values for \(names.count) fields")
            }
            var record = Record([:])
            for (name, value) in zip(names, row) {
                switch name {
                case "$recordId", "$modId":
                    guard let number = Int(value) else { throw failure("\(name) is no number: \(value)") }
                    if name == "$recordId" { record.recordId = number } else { record.modId = number }
                case "$locked":
                    guard let isLocked = Bool(value) else {
                        throw failure("$locked is neither true nor false: \(value)")
                    }
                    record.isLocked = isLocked
                default: if !value.isEmpty { record.values[name] = value }
                }
            }
            return record
        }
    }

    /// Saves the solution as JSON with sorted keys, in the format that ``load(from:)`` reads. A script in Swift is
    /// saved with its name only.
    public func save(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: file, options: .atomic)
    }
}

/// Comma-separated values (RFC 4180).
enum CSV {
    struct Failure: Error, Equatable {
        var line: Int
        var reason: String
    }

    static func rows(of text: String) throws -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var value = ""
        var line = 1
        var inQuotes = false
        var wasQuoted = false
        // Some spreadsheets write a byte-order mark first.
        var characters = (text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text)[...]
        func finishRow() {
            // An empty line is not a record.
            if !(row.isEmpty && value.isEmpty && !wasQuoted) { rows.append(row + [value]) }
            (row, value, wasQuoted) = ([], "", false)
        }
        while let character = characters.popFirst() {
            if character.isNewline { line += 1 }
            switch character {
            case "\"" where inQuotes:
                if characters.first == "\"" { value.append(characters.removeFirst()) } else { inQuotes = false }
            case _ where inQuotes: value.append(character)
            case "\"" where value.isEmpty && !wasQuoted: (inQuotes, wasQuoted) = (true, true)
            case ",":
                row.append(value)
                (value, wasQuoted) = ("", false)
            case _ where character.isNewline: finishRow()
            case _ where wasQuoted: throw Failure(line: line, reason: "text after a closing quote")
            default: value.append(character)
            }
        }
        guard !inQuotes else { throw Failure(line: line, reason: "unterminated quote") }
        finishRow()
        return rows
    }
}
