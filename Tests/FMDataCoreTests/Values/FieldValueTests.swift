import FMData
import Foundation
import Testing

@testable import FMDataCore

@Suite struct FieldValueTests {
    // MARK: Numbers

    @Test(arguments: [
        ("12", "12"), ("1.50", "1.50"), ("-0.5", "-0.5"), (".5", "0.5"), ("5.", "5"), ("+5", "5"), ("007", "7"),
        ("1e3", "1e3"),
        ("+1E3", "1E3"), ("foo1bar2", "12"), ("25abc", "25"), ("7-14/...71.5", "714.715"), ("$1,234.50 kg", "1234.50"),
        ("-", "0"),
        (".5e1", "0.5e1"), ("1.e5", "1e5"), ("00e5", "0e5"), ("-.5E-1", "-0.5E-1"), ("01e2", "1e2"), (" 1e2 ", "1e2"),
        (".e5", "0.5"),
        ("-a5-6", "-56"), ("0", "0"), ("000", "0"), ("-000.10", "-0.10"),
    ])
    func numbersInText(_ text: String, _ literal: String) {
        #expect(FMNumber(text)?.literal == literal)
    }

    @Test(arguments: ["", "abc", "Mr. Smith", "n/a", "a-b", " ", "e"])
    func textWithoutNumber(_ text: String) {
        #expect(FMNumber(text) == nil)
    }

    @Test func equalByValue() throws {
        let same = ["1.5", "1.50", "15e-1", "0.15E1", "1500e-3"].compactMap { FMNumber($0) }
        #expect(Set(same).count == 1)
        #expect(FMNumber("0") == FMNumber("-0.00"))
        #expect(FMNumber("1") != FMNumber("-1"))
        #expect(FMNumber("1e1000000000000000000000") != FMNumber("1"))
    }

    @Test func orderByValue() {
        let texts = ["-1e10", "-12", "-1.5", "-0.1", "0", "1e-5", "0.1", "0.15", "1", "1.05", "2", "10", "100", "1e50"]
        let numbers = texts.compactMap { FMNumber($0) }
        #expect(numbers.shuffled().sorted().map(\.literal) == texts)
    }

    @Test func conversions() throws {
        #expect(FMNumber("9223372036854775807")?.int == .max)
        #expect(FMNumber("-9223372036854775808")?.int == .min)
        #expect(FMNumber("9223372036854775808")?.int == nil)
        #expect(FMNumber("1.5")?.int == nil)
        #expect(FMNumber("15e1")?.int == 150)
        #expect(FMNumber("1e1000000")?.int == nil)
        #expect(FMNumber("0.1")?.double == 0.1)
        #expect(FMNumber("1e999")?.double == .infinity)
        #expect(FMNumber(Double("0.1")!)?.literal == "0.1")
        #expect(FMNumber(Double("5")!)?.literal == "5")
        #expect(FMNumber(Double.nan) == nil)
        #expect(FMNumber(Decimal.nan) == nil)
        #expect(FMNumber("1e127")?.decimal?.description == "1" + String(repeating: "0", count: 127))
        #expect(FMNumber("1e200")?.decimal == nil)
        #expect(FMNumber(String(repeating: "7", count: 39))?.decimal == nil)
        #expect(FMNumber("0.000")?.isTrue == false)
    }

    /// All ways to read digits agree with Foundation and the standard library.
    @Test func randomNumbers() throws {
        var random = SplitMix(seed: 5)
        for _ in 0..<5_000 {
            let whole = String(UInt64.random(in: 0...UInt64.max, using: &random)).prefix(
                Int.random(in: 1...20, using: &random)
            )
            let fraction = String(Int.random(in: 0...Int.max, using: &random)).prefix(
                Int.random(in: 0...17, using: &random)
            )
            let sign = Bool.random(using: &random) ? "-" : ""
            let text = sign + (Int(whole) == 0 ? "0" : whole) + (fraction.isEmpty ? "" : "." + fraction)
            let number = try #require(FMNumber(text))
            #expect(number.literal == text)
            #expect(number.double == Double(text))
            #expect(number.decimal == Decimal(string: text))
            #expect(fraction.isEmpty ? number.int == Int(text) : true)
            var utf8 = text
            #expect(utf8.withUTF8(NumberText.double) == Double(text), "\(text)")
            #expect(utf8.withUTF8(NumberText.float) == Float(text), "\(text)")
        }
    }

    @Test func numbersWithOtherCoders() throws {
        let numbers: [FMNumber] = [1, 1.5, FMNumber(validLiteral: "12345678901234567890")]
        let json = try JSONEncoder().encode(numbers)
        #expect(String(decoding: json, as: UTF8.self) == "[1,1.5,12345678901234567890]")
        #expect(try JSONDecoder().decode([FMNumber].self, from: json) == numbers)
        #expect(try JSONDecoder().decode([FMNumber].self, from: Data("[\"5 kg\"]".utf8)) == [5])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([FMNumber].self, from: Data("[\"\"]".utf8)) }
    }

    // MARK: Values

    @Test func literals() {
        let fields: FieldData = ["a": "x", "b": 1, "c": 1.5, "d": true, "e": "n\(1)", "a": "y"]
        #expect(fields.names == ["a", "b", "c", "d", "e"])
        #expect(fields["a"] == .text("y"))
        #expect(fields["b"]?.int == 1)
        #expect(fields["c"]?.double == 1.5)
        #expect(fields["d"]?.bool == true)
        #expect(fields["e"]?.text == "n1")
        #expect(fields["z"] == nil)
    }

    @Test func readings() {
        #expect(FieldValue("01/05/2024").date()?.day == 5)
        #expect(FieldValue("25:00:00").time()?.hours == 25)
        #expect(FieldValue("2024-01-05T01:02:03").timestamp(.iso)?.time.seconds == 3)
        #expect(FieldValue("12 kg").int == 12)
        #expect(FieldValue("12.5").decimal == Decimal(string: "12.5"))
        #expect(FieldValue("").int == nil)
        #expect(FieldValue("").isEmpty)
        #expect(!FieldValue("no").bool)
        #expect(FieldValue(Double.nan) == .empty)
        #expect(FieldValue(1.50) == FieldValue.number(1.5))
        #expect("\(FieldValue("a\rb"))" == "a\rb")
    }

    @Test func fieldsChange() {
        var fields: FieldData = ["a": 1, "b": 2]
        fields["c"] = 3
        fields["a"] = nil
        fields["b"] = .empty
        #expect(fields == ["c": 3, "b": ""])
        #expect(fields.map(\.name) == ["b", "c"])
        #expect(fields.count == 2)
        fields["zz"] = nil
        #expect(fields.hashValue == FieldData([("c", 3), ("b", "")]).hashValue)
    }

    @Test func fieldsWithOtherCoders() throws {
        let json = Data(#"{"a":"x\r","b":1.5,"c":true,"d":null,"e":12345678901234567890}"#.utf8)
        let fields = try JSONDecoder().decode(FieldData.self, from: json)
        #expect(
            fields == [
                "a": "x\r", "b": 1.5, "c": 1, "d": "", "e": .number(FMNumber(validLiteral: "12345678901234567890")),
            ]
        )
        let again = try JSONDecoder().decode(FieldData.self, from: JSONEncoder().encode(fields))
        #expect(again == fields)
    }
}
