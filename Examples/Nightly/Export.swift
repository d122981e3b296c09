import FMData
import Foundation
import OpenCombine

/// All vessels as NDJSON: a line for each, written page by page, so that a run that is killed in the middle leaves lines that
/// are whole and one that is cut at most.
struct Export {
    let vessels: DataAPI.TypedLayout<Vessel>
    let file: URL

    /// What a line holds: the record's identity, for those who want to write it back, and its fields.
    struct Line: Codable {
        var recordId: Int
        var modId: Int
        var vessel: Vessel
    }

    /// Goes on where the file ends, and prints a line of progress for each page.
    func run() async throws {
        let (lines, last) = try wholeLines()
        let output = try FileHandle(forWritingTo: file)
        defer { try? output.close() }
        try output.seekToEnd()
        print(last.map { "going on behind number \($0), \(lines) lines" } ?? "from the beginning")

        // Read in the order of their numbers, records that come and go meanwhile neither repeat one nor leave one out.
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

    /// How many lines the file has, and the number in the last of them. What is behind it, cut off by a sudden end, is removed.
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
