import CustomDump
import Testing

@testable import FMDataCLI

/// CSV that comes in pieces.
struct CSVReaderTests {
    private func rows(_ text: String, piece: Int) throws -> [CSVReader.Row] {
        var reader = CSVReader()
        let bytes = Array(text.utf8)
        var rows: [CSVReader.Row] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            rows += try reader.rows(in: bytes[start..<min(start + piece, bytes.count)])
        }
        return try rows + reader.end()
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func rowsAreTheSameHoweverTheTextIsCut(_ piece: Int) throws {
        let text = "\u{FEFF}a,b\r\n1,\"x\r\ny\"\n\n\"\",\"say \"\"hi\"\"\"\r3,é\r\n\r\n\"last\","
        expectNoDifference(
            try rows(text, piece: piece),
            [
                CSVReader.Row(line: 1, cells: ["a", "b"]), CSVReader.Row(line: 2, cells: ["1", "x\r\ny"]),
                CSVReader.Row(line: 5, cells: ["", "say \"hi\""]), CSVReader.Row(line: 6, cells: ["3", "é"]),
                CSVReader.Row(line: 8, cells: ["last", ""]),
            ]
        )
    }

    @Test func whatTheCommandWritesIsRead() throws {
        let cells = ["", "a,b", "\"", "\r\n", "e\u{301}\"\u{301}", " x "]
        expectNoDifference(try rows(RowPrinter.csv(cells), piece: 3).map(\.cells), [cells])
    }

    @Test func nothing() throws {
        for text in ["", "\u{FEFF}", "\n\r\n\r"] { #expect(try rows(text, piece: 1).isEmpty) }
    }

    @Test(
        arguments: [
            ("a\n\"b", 2, "a quote is never closed"), ("a\n\"b\"c", 2, "text follows a closing quote"),
        ]
    )
    func whatIsNoCSV(_ text: String, _ line: Int, _ reason: String) {
        #expect(throws: CSVReader.Failure(line: line, reason: reason)) { try rows(text, piece: 2) }
    }

    @Test func whatIsNoUTF8() {
        var reader = CSVReader()
        #expect(throws: CSVReader.Failure(line: 1, reason: "the text is not UTF-8")) {
            try reader.rows(in: [0xFF, 0x0A])
        }
    }
}
