import FMData
import Foundation
import OpenCombine

/// Writes all vessels as NDJSON, one line each, page by page. A run that is killed in the middle leaves complete lines
/// and at most one that is cut.
struct Export {
    let vessels: DataAPI.TypedLayout<Vessel>
    let file: URL

    /// A line: the record's identity, for programs that want to write it back, and its fields.
    struct Line: Codable {
        var recordId: Int
        var modId: Int
        var vessel: Vessel
    }

    /// Continues at the end of the file, and prints a line of progress for each page.
    func run() async throws {
        let (lines, last) = try wholeLines()
        let output = try FileHandle(forWritingTo: file)
        defer { try? output.close() }
        try output.seekToEnd()
        print(last.map { "going on behind number \($0), \(lines) lines" } ?? "from the beginning")

        // Read in the order of their numbers, records are neither repeated nor missed when others are added or deleted
        // meanwhile.
        let rest = vessels.find(last.map { last in Find(Vessel.CodingKeys.self) { $0(.number) > last } } ?? .everything)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        for try await page in rest.retrying().all(.stable(by: .number)).pages.values {
            var text = Data()
            for record in page.records {
                let line = Line(recordId: record.recordId, modId: record.modId, vessel: record.fieldData)
                text += try encoder.encode(line) + Data("\n".utf8)
            }
            try output.write(contentsOf: text)
            print("\(lines + page.progress.delivered) of \(lines + (page.progress.total ?? 0))")
            fflush(nil)
        }
    }

    /// The number of lines in the file, and the vessel's number in the last one. A cut line at the end is removed.
    private func wholeLines() throws -> (count: Int, last: Int?) {
        guard FileManager.default.fileExists(atPath: file.path) else {
            try Data().write(to: file)
            return (0, nil)
        }
        let text = try Data(contentsOf: file)
        let whole = text.lastIndex(of: UInt8(ascii: "\n")).map { text[...$0] } ?? Data()
        let output = try FileHandle(forWritingTo: file)
        try output.truncate(atOffset: UInt64(whole.count))
        try output.close()
        let last = try whole.dropLast().split(separator: UInt8(ascii: "\n")).last.map {
            try JSONDecoder().decode(Line.self, from: $0).vessel.number
        }
        return (whole.count { $0 == UInt8(ascii: "\n") }, last)
    }
}
