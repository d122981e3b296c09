import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

/// Types that inspect a value themselves and try one type after another: the kind of JSON value decides, as with
/// `JSONDecoder`.
@Suite struct ValueKindTests {
    /// The usual code of an `AnyDecodable`.
    private enum AnyValue: Decodable, Equatable {
        case null, bool(Bool), int(Int), double(Double), text(String), list([AnyValue]), object([String: AnyValue])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Int.self) {
                self = .int(value)
            } else if let value = try? container.decode(Double.self) {
                self = .double(value)
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else if let value = try? container.decode([AnyValue].self) {
                self = .list(value)
            } else {
                self = .object(try container.decode([String: AnyValue].self))
            }
        }
    }

    private enum Key: Decodable, Equatable {
        case number(Int), text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    private enum Amount: Decodable, Equatable {
        case double(Double), float(Float), decimal(Decimal), text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Float.self) {
                self = .float(value)
            } else if let value = try? container.decode(Double.self) {
                self = .double(value)
            } else if let value = try? container.decode(Decimal.self) {
                self = .decimal(value)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    private struct One<Value: Decodable>: Decodable {
        var v: Value
    }

    private struct Maybe<Value: Decodable>: Decodable {
        var v: Value?
    }

    /// Decodes `v` as an optional property.
    private func maybe<Value: Decodable>(
        _ type: Value.Type,
        _ json: String,
        _ change: (inout DecodingOptions) -> Void = { _ in }
    ) throws -> Value? {
        var options = DecodingOptions()
        change(&options)
        return try FMDecoder(options: options).decodeFields(Maybe<Value>.self, from: #"{"v":\#(json)}"#.utf8).v
    }

    private func field<Value: Decodable>(
        _ type: Value.Type,
        _ json: String,
        _ change: (inout DecodingOptions) -> Void = { _ in }
    ) throws -> Value {
        var options = DecodingOptions()
        change(&options)
        return try FMDecoder(options: options).decodeFields(One<Value>.self, from: #"{"v":\#(json)}"#.utf8).v
    }

    @Test(arguments: [
        (#""Ada""#, AnyValue.text("Ada")), ("36", .int(36)), ("1", .int(1)), ("0", .int(0)), ("1.5", .double(1.5)),
        ("true", .bool(true)), ("null", .null), (#""""#, .text("")), (#""Yes""#, .text("Yes")),
        (#""12 kg""#, .text("12 kg")),
        (#""36""#, .int(36)), (#""01234""#, .text("01234")), (#""1.50""#, .text("1.50")), (#""-1.5""#, .double(-1.5)),
        (#""a\rb""#, .text("a\rb")),
    ])
    private func anyValue(_ json: String, _ expected: AnyValue) throws {
        expectNoDifference(try field(AnyValue.self, json), expected)
        expectNoDifference(try maybe(AnyValue.self, json), expected == .null ? nil : expected)
        expectNoDifference(try field([AnyValue].self, "[\(json)]"), [expected])
        expectNoDifference(try field(AnyValue.self, json) { $0.numbers = .asFileMaker }, expected)
    }

    /// The same as with Foundation's decoder, but for the texts of numbers.
    @Test(arguments: [
        #""Ada""#, "36", "1", "0", "1.5", "5.0", "1e3", "true", "false", "null", #""""#, #""01234""#, #""Yes""#, "[]",
        #"[1,"a",[true]]"#,
        "12345678901234567890",
    ])
    func asJSONDecoder(_ json: String) throws {
        let text = #"{"v":\#(json)}"#
        let foundation = try JSONDecoder().decode(One<AnyValue>.self, from: Data(text.utf8)).v
        expectNoDifference(try field(AnyValue.self, json), foundation)
    }

    @Test(arguments: [
        (#""B-12a""#, Key.text("B-12a")), (#""01234""#, .text("01234")), (#""1234""#, .number(1234)),
        (#""-7""#, .number(-7)),
        (#""-0""#, .text("-0")), (#""+7""#, .text("+7")), (#"" 7""#, .text(" 7")), (#""7.0""#, .text("7.0")),
        (#""1e3""#, .text("1e3")),
        (#""99999999999999999999""#, .text("99999999999999999999")), ("1234", .number(1234)), (#""-""#, .text("-")),
        (#""\u0037""#, .text("7")),
    ])
    private func numberOrText(_ json: String, _ expected: Key) throws {
        expectNoDifference(try field(Key.self, json), expected)
    }

    /// A text counts as a number only for a type that can represent all of its digits.
    @Test(arguments: [
        (#""0.1""#, Amount.float(0.1)), (#""0.12345678901""#, .double(0.12345678901)),
        (#""0.12345678901234567890123""#, .decimal(Decimal(string: "0.12345678901234567890123")!)),
        (#""0.10""#, .text("0.10")),
    ])
    private func digitsThatATypeHolds(_ json: String, _ expected: Amount) throws {
        expectNoDifference(try field(Amount.self, json), expected)
    }

    // MARK: Types that change nothing

    private enum Level: Int, Decodable { case low = 1, high }
    private struct Flag: RawRepresentable, Decodable, Equatable { var rawValue: Bool }
    private struct Code: RawRepresentable, Decodable, Equatable { var rawValue: String }

    @Test func rawValuesAndOptionalsReadAsFieldsDo() throws {
        expectNoDifference(try field(Level.self, #""02""#), .high)
        expectNoDifference(try field(Flag.self, "1"), Flag(rawValue: true))
        expectNoDifference(try field(Code.self, "36"), Code(rawValue: "36"))
        expectNoDifference(try field([Int?].self, #"["007","",1]"#), [7, nil, 1])
        expectNoDifference(try field([Bool].self, #"[1,"0",""]"#), [true, false, false])
        expectNoDifference(try field([String].self, "[1]"), ["1"])
        expectNoDifference(
            try FMDecoder().decodeFields([String: Bool?].self, from: #"{"a":"","b":1}"#.utf8),
            ["a": nil, "b": true]
        )
    }

    /// A type that wraps a whole record is not a field's value: what it decodes inside is a record.
    @Test func aTypeAroundARecord() throws {
        struct Plain: Decodable, Equatable {
            var age: Int
            var isMember: Bool
        }
        struct Around: Decodable {
            var plain: Plain
            init(from decoder: any Decoder) throws { plain = try decoder.singleValueContainer().decode(Plain.self) }
        }
        let json = #"{"age":"036","isMember":1}"#
        expectNoDifference(
            try FMDecoder().decodeFields(Around.self, from: json.utf8).plain,
            Plain(age: 36, isMember: true)
        )
    }

    @Test func whatATypeOfOnesOwnIsToldOfAnotherKind() throws {
        struct Own: Decodable {
            init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer().decode(Bool.self) }
        }
        let failure = try #require(throws: DecodingFailure.self) { try field(Own.self, "36") }
        expectNoDifference(failure.reason, "expected Bool, found a number.")
    }

    // MARK: Plain properties

    @Test(arguments: [
        (#""36""#, 36), (#""036""#, 36), (#"" 36 ""#, 36), (#""+36""#, 36), (#""36.""#, 36), (#""36.00""#, 36),
        (#""3.6e1""#, 36), ("36", 36),
    ])
    func aTextThatIsANumber(_ json: String, _ expected: Int) throws {
        expectNoDifference(try field(Int.self, json), expected)
        expectNoDifference(try maybe(Int.self, json), expected)
        expectNoDifference(try field(Double.self, json), Double(expected))
        expectNoDifference(try field([Int].self, json), [expected])
    }

    @Test(arguments: [
        #""12 kg""#, #""B-12a""#, #""1,234.5""#, #""$20""#, #""3/4""#, #""1.2.3""#, #""12:30""#, #""5-""#, #""1e""#,
    ])
    func aNumberInAText(_ json: String) throws {
        for decode in [
            { _ = try field(Int.self, json) }, { _ = try maybe(Int.self, json) },
            { _ = try maybe(Double.self, json) },
            { _ = try field(Decimal.self, json) }, { _ = try field(Bool.self, json) },
            { _ = try field([Int].self, json) },
        ] as [() throws -> Void] {
            let failure = try #require(throws: DecodingFailure.self) { try decode() }
            #expect(failure.reason.hasSuffix("found a text that is more than a number."))
            #expect(failure.hint?.contains("FMNumber") == true)
            #expect(failure.hint?.contains("options.numbers = .asFileMaker") == true)
        }
        #expect(throws: Never.self) { try field(FMNumber.self, json) }
        #expect(throws: Never.self) { try field(Double.self, json) { $0.numbers = .asFileMaker } }
    }

    @Test(arguments: [#""Yes""#, #""true""#, #""no""#], [DecodingOptions.Numbers.asWritten, .asFileMaker])
    func aBooleanOfATextWithoutADigit(_ json: String, _ numbers: DecodingOptions.Numbers) throws {
        let failure = try #require(throws: DecodingFailure.self) { try field(Bool.self, json) { $0.numbers = numbers } }
        expectNoDifference(failure.reason, "expected Bool, found a text without a digit.")
        expectNoDifference(failure.hint, "Declare it as String.")
        #expect(throws: DecodingFailure.self) { try maybe(Bool.self, json) { $0.numbers = numbers } }
    }

    @Test func aTextWithoutANumberIsAnErrorForOptionalsToo() throws {
        #expect(throws: DecodingFailure.self) { try maybe(Int.self, #""n/a""#) }
        expectNoDifference(try maybe(Int.self, #""n/a""#) { $0.numbers = .asFileMaker }, nil)
        expectNoDifference(try maybe(FMNumber.self, #""n/a""#), nil)
        expectNoDifference(try maybe(Int.self, #""  ""#), nil)
    }

    @Test func severalLinesAreAList() throws {
        let failure = try #require(throws: DecodingFailure.self) { try field([Int].self, #""1\r2\r3""#) }
        #expect(failure.reason.contains("several lines"))
        #expect(failure.hint?.contains("FMList<Int>") == true)
        let dates = try #require(throws: DecodingFailure.self) {
            try field(FMDate.self, #""01/05/2024\r12/31/2024""#)
        }
        #expect(dates.reason.contains("several lines"))
        #expect(dates.hint?.contains("FMList<FMDate>") == true)
    }

    @Test func anEmptyTextIsNilWhenAskedFor() throws {
        struct Texts: Decodable, Equatable {
            var a: String?
            var b: FieldValue?
            var c: [String?]
            var d: String
        }
        let json = #"{"a":"","b":"","c":["",null,"x"],"d":""}"#
        expectNoDifference(
            try FMDecoder().decodeFields(Texts.self, from: json.utf8),
            Texts(a: "", b: .empty, c: ["", nil, "x"], d: "")
        )
        var options = DecodingOptions()
        options.emptyTextIsNil = true
        let none = Texts(a: nil, b: nil, c: [nil, nil, "x"], d: "")
        expectNoDifference(try FMDecoder(options: options).decodeFields(Texts.self, from: json.utf8), none)
        options.emptyIsNil = false
        #expect(try FMDecoder(options: options).decodeFields(Texts.self, from: json.utf8).a == "")
    }
}
