import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCLI

/// JSON and CSV as they are printed.
@Suite struct OutputValueTests {
    private static let value: OutputValue = [
        "text": .text("a\"b\\c\r\n\t\u{1}\u{7F}\u{2028}é日本🇩🇪/"), "number": .number("12.50"), "none": nil,
        "list": .list([.bool(true), .null, .list([])]), "object": .object([]), "json": .json("{\"a\":1}"),
    ]

    @Test func membersKeepTheirOrder() {
        expectNoDifference(
            Self.value.json,
            #"{"text":"a\"b\\c\r\n\t\u0001\u007f\u2028é日本🇩🇪/","number":12.50,"list":[true,null,[]],"object":{},"#
                + #""json":{"a":1}}"#
        )
    }

    @Test func everyTextIsReadAgain() throws {
        for text in ["", "\"", "\\", "\u{0}", "\u{1F}", "\u{2029}", "👩‍💻", "e\u{301}", "\r\n"] {
            let read = try JSONDecoder().decode([String].self, from: Data(OutputValue.list([.text(text)]).json.utf8))
            expectNoDifference(read.map { Array($0.unicodeScalars) }, [Array(text.unicodeScalars)])
        }
    }

    @Test func numbersKeepTheirDigits() {
        expectNoDifference(OutputValue(.number(9_007_199_254_740_993)), .number("9007199254740993"))
        expectNoDifference(OutputValue(.text("007")), .text("007"))
    }

    @Test func csvQuotesWhatItMust() {
        expectNoDifference(
            RowPrinter.csv(["a", "b,c", "d\"e", "f\rg", "", " h ", "\"\u{301}"]),
            "a,\"b,c\",\"d\"\"e\",\"f\rg\",, h ,\"\"\"\u{301}\"\r\n"
        )
    }

    @Test(arguments: ["0", "-0", "12", "-1.50", "0.5", "1e5", "1.2E-3", "9007199254740993"])
    func aNumberOfJSON(_ text: String) { #expect(text.isJSONNumber) }

    @Test(arguments: ["", "-", "01", "-01", ".5", "1.", "1e", "1e+", "+1", "1 ", "0x1", "١", "1,5", "--1"])
    func noNumberOfJSON(_ text: String) { #expect(!text.isJSONNumber) }
}
