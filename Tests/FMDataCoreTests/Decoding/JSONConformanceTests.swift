import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

/// Valid and invalid JSON by category (RFC 8259), read as a whole and in chunks of many sizes.
@Suite struct JSONConformanceTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var bytes: [UInt8]
        var testDescription: String

        init(_ text: String) {
            bytes = Array(text.utf8)
            testDescription = String(text.prefix(40))
        }

        init(_ bytes: [UInt8], _ description: String) {
            self.bytes = bytes
            testDescription = description
        }
    }

    private static func inString(_ bytes: [UInt8], _ description: String) -> Case {
        Case([0x22] + bytes + [0x22], description)
    }

    // MARK: Accepted

    static let structures = [
        "[]", "{}", "[[]]", "[{}]", "{\"a\":{}}", "{\"a\":[]}", "[1,2]", "[\"a\",1,true,false,null,{},[]]", " [1] ",
        "\n{\n}\n",
        "[ 1\t,\r\n2 ]", "{ \"a\" : 1 , \"b\" : 2 }", "{\"\":0}", "{\"a\":1,\"a\":2}", "{\"a\":{\"a\":{\"a\":1}}}",
        String(repeating: "[", count: 128) + String(repeating: "]", count: 128),
        "[" + Array(repeating: "0", count: 3000).joined(separator: ",") + "]",
        "{" + (0..<200).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}",
    ].map(Case.init)

    static let scalars = ["null", "true", "false", "0", "\"\"", "\"a\"", " 1 ", "\ttrue\r\n"].map(Case.init)

    static let numbers = [
        "-0", "1", "-1", "10", "1234567890", "0.0", "-0.1", "0.5e0", "1e1", "1E1", "1e+1", "1e-1", "1.5E-10", "0e0",
        "0e+1",
        "123e65", "1e400", "-1e-400", "123456789012345678901234567890", "0.000000000000000000000000000001",
        String(repeating: "9", count: 400), "1" + String(repeating: "0", count: 4095), "20.25e+0007",
    ].map(Case.init)

    static let strings =
        [
            #""\"\\\/\b\f\n\r\t""#, #""\u0041\u00e9\u20AC\uFFFF""#, #""\u0000""#, #""\ud83d\ude00""#,
            #""\uD800\uDC00""#,
            #""\udbff\udfff""#, "\"é\"", "\"日本語\"", "\"😀\"", "\"\u{7F}\"", "\"\u{2028}\u{2029}\"", "\"/\"",
            "\"\u{FEFF}\"",
            "\"\u{10FFFF}\u{FFFE}\"", #""a\\""#, #""\\\\\"""#, "\"" + String(repeating: "x", count: 1000) + "\"",
        ].map(Case.init) + [
            inString([0xC2, 0x80], "lowest of two bytes"), inString([0xDF, 0xBF], "highest of two bytes"),
            inString([0xE0, 0xA0, 0x80], "lowest of three bytes"),
            inString([0xED, 0x9F, 0xBF], "before the surrogates"),
            inString([0xEE, 0x80, 0x80], "after the surrogates"), inString([0xF0, 0x90, 0x80, 0x80], "lowest of four"),
            inString([0xF4, 0x8F, 0xBF, 0xBF], "highest of four"),
        ]

    @Test(arguments: structures + scalars + numbers + strings)
    func accepts(_ test: Case) {
        #expect(outcomes(test.bytes) == [.accepted])
    }

    // MARK: Refused

    static let brokenStructures = [
        "", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]", "[1,,2]", "[1}", "{1]", "{\"a\"",
        "{\"a\":",
        "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{\"a\":1]", "{,}", "{\"a\"}", "{\"a\",1}", "{\"a\":1 \"b\":2}", "{a:1}",
        "{'a':1}",
        "{1:1}", "{null:1}", "{[]:1}", "{\"a\"::1}", "{:1}", "[1]]", "[1]x", "[]{}", "1 2", "{}#", "[1]//", "/*a*/[]",
        "[1/**/]",
        "[*]", "[a]", "[\u{A0}1]", "[1\u{0C}]", "[\u{0B}]", "[\u{2060}1]", "[\u{0}1]", "[1\u{0}]", "\u{0}", "[1]\u{0}",
        String(repeating: "[", count: 129) + String(repeating: "]", count: 129), String(repeating: "[", count: 100_000),
        String(repeating: "{\"a\":", count: 100_000),
    ].map(Case.init)

    static let brokenLiterals = [
        "tru", "truE", "TRUE", "True", "fals", "nul", "nulll", "nan", "NaN", "Infinity", "-Infinity", "inf",
        "undefined", "t", "[t]",
        "[nul]", "truefalse", "[true1]", "nil",
    ].map(Case.init)

    static let brokenNumbers = [
        "-", "+1", "01", "-01", "00", "1.", ".5", "-.5", "1.e1", "1e", "1e+", "1e-", "1E", "1ee1", "1e1.5", "1.2.3",
        "0x10", "0b1",
        "1_000", "1,000", "--1", "1-", "-a", "1a", "0e", "0.e1", "0.1.2", "9.e+", "[1+2]", "[-]", "[- 1]", "[1 .5]",
        "[0 1]", "１",
        "1" + String(repeating: "0", count: 4096),
    ].map(Case.init)

    static let brokenStrings =
        [
            "\"", "\"a", "\"a\\", "\"\\\"", "'a'", "\"\\x41\"", "\"\\a\"", "\"\\0\"", "\"\\'\"", "\"\\u\"", "\"\\u1\"",
            "\"\\u12\"",
            "\"\\u123\"", "\"\\u123g\"", "\"\\uD83D\"", "\"\\uD83Dx\"", "\"\\uD83D\\n\"", "\"\\uD83DVuDE00\"",
            "\"\\uD83D\\u0041\"",
            "\"\\uDE00\"",
            "\"\\uDE00\\uD83D\"", "\"\\uD83D\\uD83D\"", "\"\\U0041\"", "\"\\é\"", "\"\n\"", "\"\t\"", "\"\u{1F}\"",
            "\"\u{0}\"",
            "\"a\"b", "\"a\" \"b\"", "{\"a\\uD800\":1}", "{\"\n\":1}",
        ].map(Case.init) + [
            inString([0x80], "lone continuation"), inString([0xBF], "lone continuation"),
            inString([0xC0, 0x80], "overlong"),
            inString([0xC1, 0xBF], "overlong"), inString([0xC3], "cut sequence"),
            inString([0xC3, 0x41], "broken sequence"),
            inString([0xE0, 0x80, 0x80], "overlong"), inString([0xE2, 0x82], "cut sequence"),
            inString([0xED, 0xA0, 0x80], "surrogate"), inString([0xED, 0xBF, 0xBF], "surrogate"),
            inString([0xF0, 0x80, 0x80, 0x80], "overlong"), inString([0xF0, 0x9F, 0x98], "cut sequence"),
            inString([0xF4, 0x90, 0x80, 0x80], "beyond Unicode"), inString([0xF5, 0x80, 0x80, 0x80], "beyond Unicode"),
            inString([0xFE], "never a byte"), inString([0xFF], "never a byte"),
            Case([0xFF, 0xFE, 0x5B, 0, 0x5D, 0], "UTF-16"), Case([0x5B, 0xFF, 0x5D], "byte outside a string"),
            Case([0xEF, 0xBB], "half a byte order mark"), Case([0xEF, 0xBB, 0xBF], "nothing but a byte order mark"),
            Case([0x5B, 0xEF, 0xBB, 0xBF, 0x5D], "byte order mark inside"),
        ]

    @Test(arguments: brokenStructures + brokenLiterals + brokenNumbers + brokenStrings)
    func refuses(_ test: Case) {
        let outcomes = outcomes(test.bytes)
        #expect(outcomes.count == 1 && outcomes.first != .accepted, "\(outcomes)")
    }

    /// `ReferenceJSON`, the second parser, agrees with the cases above. It has no limits, so those cases are left out.
    @Test(arguments: structures + scalars + numbers + strings)
    func referenceAccepts(_ test: Case) {
        #expect(ReferenceJSON.accepts(test.bytes))
    }

    @Test(arguments: brokenLiterals + brokenStrings)
    func referenceRefuses(_ test: Case) {
        #expect(!ReferenceJSON.accepts(test.bytes))
    }

    // MARK: Allowed by RFC 8259 either way

    /// RFC 8259 allows both results for these cases, and parsers differ; this is what FMData does.
    @Test func choices() {
        #expect(outcomes([0xEF, 0xBB, 0xBF] + Array("[]".utf8)) == [.accepted])
        #expect(outcomes(Array("{\"a\":1,\"\\u0061\":2}".utf8)) == [.accepted])
        #expect(outcomes(Array("{\"a\":1,\"a\":2}".utf8), limits: refusingDuplicates) == [.refused(.duplicateKey, 7)])
        #expect(
            outcomes(Array("{\"a\":1,\"\\u0061\":2}".utf8), limits: refusingDuplicates) == [.refused(.duplicateKey, 7)]
        )
        let repairing = JSONLimits(repairsText: true)
        #expect(outcomes(Array("\"a\nb\\uD800\\x\"".utf8), limits: repairing) == [.accepted])
        #expect(outcomes([0x22, 0xFF, 0x0A, 0xC3, 0x22], limits: repairing) == [.accepted])
    }

    private let refusingDuplicates = JSONLimits(refusesDuplicateKeys: true)

    @Test func duplicatesAreNoticedAmongManyKeys() {
        let names = (0..<500).map { "\"name \($0)\":1" }
        #expect(
            outcomes(Array("{\(names.joined(separator: ","))}".utf8), limits: refusingDuplicates, chunks: [64]) == [
                .accepted
            ]
        )
        let twice = names + ["\"name 250\":2"]
        let found = outcomes(Array("{\(twice.joined(separator: ","))}".utf8), limits: refusingDuplicates, chunks: [64])
        #expect(found.count == 1 && found.first != .accepted)
    }

    /// The offset of an error is that of the byte at which the text stops being JSON.
    @Test(arguments: [
        ("[1,x]", 3), ("{\"a\" 1}", 5), ("[tru3]", 4), ("[\"a\\q\"]", 3), ("[\"\u{1}\"]", 2), ("[01]", 1), ("[1] 2", 4),
        ("[1", 2),
        ("[\"é\\uD800\"]", 4),
    ])
    func offsets(_ text: String, _ offset: Int) {
        let outcomes = outcomes(Array(text.utf8))
        guard case .refused(_, let found)? = outcomes.first, outcomes.count == 1 else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(found == offset)
    }

    // MARK: Verdicts

    private enum Outcome: Hashable {
        case accepted
        case refused(JSONSyntaxError.Reason, Int)
    }

    /// The results of reading the text as a whole and in chunks; one element if they all agree.
    private func outcomes(
        _ bytes: [UInt8],
        limits: JSONLimits = JSONLimits(),
        chunks: [Int] = [1, 2, 3, 5, 7, 8, 9, 64]
    ) -> Set<Outcome> {
        var outcomes: Set = [outcome(bytes, chunk: .max, limits)]
        for chunk in chunks where bytes.count < 10_000 || chunk == 64 {
            outcomes.insert(outcome(bytes, chunk: chunk, limits))
        }
        return outcomes
    }

    private func outcome(_ bytes: [UInt8], chunk: Int, _ limits: JSONLimits) -> Outcome {
        let document = JSONDocument(limits: limits)
        do throws(JSONSyntaxError) {
            if chunk == .max {
                bytes.withUnsafeBytes { document.append($0) }
                try document.readWhole()
            } else {
                try readInPieces(bytes, chunk, document)
            }
            return .accepted
        } catch {
            return .refused(error.reason, error.offset)
        }
    }

    private func readInPieces(_ bytes: [UInt8], _ chunk: Int, _ document: JSONDocument) throws(JSONSyntaxError) {
        var rest = bytes[...]
        var hasBegun = false
        var isComplete = false
        repeat {
            rest.prefix(chunk).withUnsafeBytes { document.append($0) }
            rest = rest.dropFirst(chunk)
            if !hasBegun {
                guard document.skipByteOrderMark() || rest.isEmpty else { continue }
                guard document.nextByte() != nil else { continue }
                document.beginValue()
                hasBegun = true
            }
            if !isComplete { isComplete = try document.readValue(isLast: rest.isEmpty) == .complete }
            if isComplete, document.nextByte() != nil {
                throw document.syntaxError(.trailingBytes, at: document.position)
            }
        } while !rest.isEmpty
        guard hasBegun else { throw document.syntaxError(.truncated, at: document.count) }
    }
}
