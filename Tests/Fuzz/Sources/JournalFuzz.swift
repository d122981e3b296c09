import FMData

@testable import FMDataCore
@testable import FMDataRecords

/// Each line of an input is the content of a line of a journal. Its number and its checksum are added here, since no
/// fuzzer guesses them. A readable line must have the same meaning when it is written again, and a journal that is cut
/// anywhere in its last line must equal the one without that line.
enum JournalFuzz {
    static func test(_ input: UnsafeRawBufferPointer) {
        _ = try? JournalReading(Array(input))
        var journal: [UInt8] = []
        var lastLine = 0
        var count = 0
        for words in input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let line = line(count, words)
            guard let entry = try? JournalEntry(line: line[...], number: count) else { continue }
            check(entry, count)
            // A line that is invalid after the lines before it makes the whole journal unreadable.
            guard (try? JournalReading(journal + line + newline)) != nil else { continue }
            lastLine = journal.count
            journal += line + newline
            count += 1
        }
        guard count > 0 else { return }
        check(journal, lastLine)
    }

    private static let newline = [UInt8(ascii: "\n")]

    private static func line(_ number: Int, _ words: some Sequence<UInt8>) -> [UInt8] {
        let body = Array("\(number) ".utf8) + words
        return body + " ".utf8 + CRC32.hex(of: body).utf8
    }

    private static func check(_ entry: JournalEntry, _ number: Int) {
        let again = try? JournalEntry(line: Array(entry.line(number).utf8)[...], number: number)
        require(again == entry, "\(entry) is read as \(String(describing: again))")
    }

    private static func check(_ journal: [UInt8], _ lastLine: Int) {
        let before = try? JournalReading(Array(journal[..<lastLine]))
        require(before != nil, "a journal without its last line cannot be read")
        for end in Set([lastLine + 1, (lastLine + journal.count) / 2, journal.count - 1]) where end > lastLine {
            let torn = try? JournalReading(Array(journal[..<end]))
            require(torn?.state == before?.state, "torn at \(end): \(String(describing: torn))")
            require(torn?.cutBytes == end - lastLine, "torn at \(end): \(String(describing: torn))")
        }
    }
}
