import CustomDump
import FMData
import Testing

@testable import FMDataCore

/// JSON that is read as it is, to be written again.
@Suite struct WireValueReadingTests {
    @Test(arguments: [
        #"{"b":1,"a":[],"b":{"x":null},"n":-1.50e+03,"t":true,"f":false}"#, #"["a\"b\\c","\n\r\t","é","名前"]"#, "{}",
        "[[[]]]", "0", #""""#,
    ])
    func whatIsReadIsWrittenAgain(_ text: String) throws {
        let value = try #require(WireValue(reading: text.utf8))
        expectNoDifference(String(decoding: value.json, as: UTF8.self), text)
    }

    @Test func escapesAreRead() {
        expectNoDifference(WireValue(reading: #" [ "\u00e9\ud83d\ude00\/" ] "#.utf8), .array([.text("é😀/")]))
    }

    @Test(arguments: ["", "{", "[1,]", "{\"a\"}", "01", "tru", "\"a", "\"\n\"", "1 2", "{1:2}"])
    func otherTextsAreNot(_ text: String) { expectNoDifference(WireValue(reading: text.utf8), nil) }

    @Test func deepTextsAreNot() {
        let deep = String(repeating: "[", count: 100_000)
        expectNoDifference(WireValue(reading: deep.utf8), nil)
    }
}
