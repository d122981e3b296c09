import CustomDump
import Testing

@testable import FMSandbox

@Suite struct JSONTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

    @Test func numbersKeepTheirDigits() throws {
        let digits = "1234567890123456789012345678901234567890.123456789012345678"
        expectNoDifference(try parse("[\(digits),-0.50,1E+3]"), [.number(digits), .number("-0.50"), .number("1E+3")])
    }

    @Test func objectsKeepTheirOrder() throws {
        let object = try parse(#"{"z":1,"a":{"c":[],"b":{}}}"#)
        #expect(object.object?.keys == ["z", "a"])
        #expect(JSONWriter.write(object) == Array(#"{"z":1,"a":{"c":[],"b":{}}}"#.utf8))
    }

    @Test func ofARepeatedKeyTheLastCounts() throws {
        #expect(try parse(#"{"a":1,"a":2}"#)["a"] == .int(2))
        expectNoDifference(
            try parse(#"[{"a":1,"b":3,"a":{"c":1,"c":2},"b":[]}]"#).withoutRepeatedKeys,
            [["a": ["c": .int(2)], "b": []]]
        )
    }

    @Test func escapesAreRead() throws {
        #expect(try parse(#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00""#) == .string("\"\\/\u{8}\u{C}\n\r\té😀"))
    }

    @Test func textSurvivesWritingAndReading() throws {
        let text = "line\rline\nquote\" back\\slash \u{1}\u{7F} é 😀"
        #expect(try JSONParser.parse(JSONWriter.write(.string(text))) == .string(text))
    }

    @Test(
        arguments: [
            "", " ", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "{\"a\" 1}", "01", "1.", ".5", "+1", "1e", "nul",
            "\"\u{1}\"",
            "\"\\x\"", "\"\\uD800\"", "\"\\uD800\\u0041\"", "\"\\u12G4\"", "\"open", "1 2", "NaN", "[1 2]", "// no",
        ]
    )
    func whatIsNoJSONIsRefused(_ text: String) {
        #expect(throws: JSONParser.Failure.self) { try parse(text) }
    }

    @Test func brokenUTF8IsRefused() {
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse([0x22, 0xC3, 0x28, 0x22]) }
    }

    @Test func deepNestingIsRefusedAndDoesNotCrash() {
        #expect(throws: JSONParser.Failure.self) { try parse(String(repeating: "[", count: 100_000)) }
    }

    /// A body that a broken connection cut off anywhere is refused, not read as something else.
    @Test func everyPrefixIsRefused() throws {
        let bytes = Array(#"{"query":[{"Name":"é\u00e9\"","omit":"true"}],"limit":12.5e3}"#.utf8)
        for count in 0..<bytes.count {
            #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(Array(bytes.prefix(count))) }
        }
    }
}
