import CustomDump
import FMTestSupport
import Foundation
import Testing

/// The answers that we wrote are spelled like those they stand for: the answer of a server, or the example of another
/// client's author.
@Suite struct AnswerSpellingTests {
    /// Our answers that differ on purpose, and the reason.
    private static let different = [
        "record-find/fms18-field-question-mark.json": "without the question mark, which it has lost on its way",
        "record-get/fms18-prerelease-repeating-fields.json": "a page of a hundred records",
    ]

    @Test(
        .enabled(if: SavedAnswer.recorded != nil, "no recordings in ../shared/fixtures: only our own answers are read"),
        arguments: SavedAnswer.own.filter { $0.isJSON && different[$0.file] == nil }
    )
    func ourAnswersAreSpelledAsTheRecorded(_ own: SavedAnswer) throws {
        let recorded = try #require(SavedAnswer.recorded?.first { $0.file == own.file })
        expectNoDifference(try spelling(own), try spelling(recorded))
        expectNoDifference(own.enveloped, recorded.enveloped)
        expectNoDifference(own.httpStatus, recorded.httpStatus)
        expectNoDifference(own.serverVersion, recorded.serverVersion)
        expectNoDifference(own.synthetic, recorded.synthetic)
    }

    private func spelling(_ answer: SavedAnswer) throws -> [String] {
        let bytes = try answer.bytes()
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        try #require(ReferenceJSON.accepts(hasMark ? Array(bytes.dropFirst(3)) : bytes))
        return Spelling(of: String(decoding: bytes, as: UTF8.self)).parts
    }

    // MARK: Differences that the comparison must or must not notice

    private static let record = #"""
        {"data": [{
          "fieldData": {"Name": "Ada", "": "", "Size": 6.5, "Pick(2)": "01/02/2031", "Kind::Größe": "a\rb"},
          "portalData": {"Cups": [{"recordId": "17", "Cups::Glaze": "blue ", "modId": "0"}]}, "isIn": true
        }]}
        """#

    @Test(arguments: [
        ("Ada", "Grace Hopper"), ("Name", "Surname"), ("6.5", "7.2"), ("01/02/2031", "12/30/1999"), ("Cups", "Plates"),
        ("17", "99"), ("blue ", "red "), ("Größe", "Höhe"), (#"a\rb"#, #"cd\re"#),
    ])
    func namesAndValuesAreNotPartOfIt(_ old: String, _ new: String) {
        let other = Self.record.replacingOccurrences(of: old, with: new)
        expectNoDifference(Spelling(of: other).parts, Spelling(of: Self.record).parts)
    }

    @Test(arguments: [
        ("\"Ada\"", "\"\""), ("\"Ada\"", "7"), ("\"Ada\"", "\"é\""), ("\"Name\"", "\"\""), ("Pick(2)", "Pick"),
        ("Pick(2)", "Pick(1)"), ("6.5", "65"), ("6.5", "\"6.5\""), ("01/02", "1/2"), ("\"17\"", "17"),
        ("blue ", "blue"),
        ("Größe", "Groesse"), (#"a\rb"#, #"ab\r"#), (#"a\rb"#, #"a\nb"#), ("Kind::", ""), ("data", "records"),
        ("recordId", "rowId"), ("isIn", "isOut"), ("true", "false"), ("\n", " "), (": ", ":"), ("}]}", "},{}]}"),
        (#""Size": 6.5, "#, ""),
    ])
    func everythingElseIs(_ old: String, _ new: String) throws {
        let other = Self.record.replacingOccurrences(of: old, with: new)
        try #require(other != Self.record)
        #expect(Spelling(of: other).parts != Spelling(of: Self.record).parts)
    }

    @Test func ofIdentifiersTheLengthCounts() {
        func parts(_ text: String) -> [String] { Spelling(of: "\"\(text)\"").parts }
        expectNoDifference(parts("0E6D1A2B-761E-4947-9A3C-C312C285EE55"), parts("FFFFFFFF-0000-4947-ABCD-C312C285EE55"))
        #expect(parts("a07d5e2194cb") != parts("a07d5e2194cb0"))
        let url = "https://a.example/Streaming_SSL/MainDB/\(String(repeating: "A", count: 64)).png?RCType=X"
        expectNoDifference(parts(url), parts(url.replacingOccurrences(of: "a.example", with: "b.example")))
        #expect(parts(url) != parts(url.replacingOccurrences(of: ".png", with: "")))
    }
}
