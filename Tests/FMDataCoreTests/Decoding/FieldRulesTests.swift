import FMData
import Foundation
import Testing

@testable import FMDataCore

/// FileMaker's values in `fieldData` and portal rows: each rule, switched on and off.
@Suite struct FieldRulesTests {
    /// A record with one field `v`.
    private struct One<Value: Decodable>: Decodable {
        var v: Value
    }

    /// A record with one optional field `v`.
    private struct Maybe<Value: Decodable>: Decodable {
        var v: Value?
    }

    private func one<Value: Decodable>(
        _ type: Value.Type = Value.self,
        _ json: String,
        _ options: DecodingOptions = DecodingOptions()
    ) throws -> Value {
        try FMDecoder(options: options).decodeFields(One<Value>.self, from: "{\"v\":\(json)}".utf8).v
    }

    private func maybe<Value: Decodable>(
        _ type: Value.Type = Value.self,
        _ json: String,
        _ options: DecodingOptions = DecodingOptions()
    ) throws -> Value? {
        try FMDecoder(options: options).decodeFields(Maybe<Value>.self, from: "{\"v\":\(json)}".utf8).v
    }

    private func options(_ change: (inout DecodingOptions) -> Void) -> DecodingOptions {
        var options = DecodingOptions()
        change(&options)
        return options
    }

    // MARK: Numbers

    @Test(arguments: [
        ("5", 5), ("\"5\"", 5), ("\"-5\"", -5), ("5.0", 5),
        ("\"5.00\"", 5),
        ("1e3", 1000), ("\"1e3\"", 1000), ("true", 1), ("false", 0), ("\" 7 \"", 7), (#""\u0035""#, 5),
    ])
    func integers(_ json: String, _ expected: Int) throws {
        #expect(try one(Int.self, json) == expected)
        #expect(try maybe(Int.self, json) == expected)
    }

    @Test(arguments: [
        ("\"foo1bar2\"", 12), ("\"25abc\"", 25), ("\"-\"", 0), ("\"a-5-6\"", -56), ("\"5\"", 5), ("\"007\"", 7),
    ])
    func integersAsFileMakerReadsThem(_ json: String, _ expected: Int) throws {
        let options = options { $0.numbers = .asFileMaker }
        #expect(try one(Int.self, json, options) == expected)
        #expect(try maybe(Int.self, json, options) == expected)
    }

    /// Two separators are a range in a find, but a typing error in a field. With `.asFileMaker` the second separator is
    /// dropped, like any other character that is not part of a number; by default decoding fails.
    @Test(arguments: ["11..36", "-8..0", "11.36.", "1..", "..5", "8.-0", "1.+0"])
    func twoSeparatorsAreNoNumber(_ text: String) {
        for options in [DecodingOptions(), options { $0.values.decimalSeparator = .comma }] {
            #expect(throws: DecodingFailure.self) { try one(Int.self, "\"\(text)\"", options) }
            #expect(throws: DecodingFailure.self) { try one(Double.self, "\"\(text)\"", options) }
            #expect(throws: DecodingFailure.self) { try maybe(Decimal.self, "\"\(text)\"", options) }
            #expect(throws: DecodingFailure.self) { try one(Bool.self, "\"\(text)\"", options) }
        }
        let commas = text.replacingOccurrences(of: ".", with: ",")
        let comma = options { $0.values.decimalSeparator = .comma }
        #expect(throws: DecodingFailure.self) { try one(Double.self, "\"\(commas)\"", comma) }
        #expect(throws: DecodingFailure.self) { try one(Double.self, "\"11,.36\"", comma) }
    }

    @Test func twoSeparatorsAsFileMakerReadsThem() throws {
        let rough = options { $0.numbers = .asFileMaker }
        #expect(try one(Double.self, "\"11..36\"", rough) == 11.36)
        #expect(try one(Int.self, "\"-8..0\"", rough) == -8)
        #expect(try one(FMNumber.self, "\"11..36\"") == 11.36)
    }

    @Test func textIsNoNumberWhenTheRuleIsOff() {
        let options = options { $0.numbersFromText = false }
        #expect(throws: DecodingFailure.self) { try one(Int.self, "\"5\"", options) }
        #expect(throws: DecodingFailure.self) { try one(Double.self, "\"5\"", options) }
        #expect(throws: DecodingFailure.self) { try one(Int.self, "true", options) }
    }

    @Test func numbersThatDoNotFit() {
        #expect(throws: DecodingFailure.self) { try one(Int.self, "1.5") }
        #expect(throws: DecodingFailure.self) { try one(Int8.self, "\"128\"") }
        #expect(throws: DecodingFailure.self) { try one(UInt.self, "-1") }
        #expect(throws: DecodingFailure.self) { try one(Int.self, "9223372036854775808") }
        #expect(throws: DecodingFailure.self) { try one(Double.self, "1e999") }
        #expect(throws: DecodingFailure.self) { try one(Decimal.self, String(repeating: "7", count: 58)) }
    }

    @Test func doublesAndDecimals() throws {
        let rough = options { $0.numbers = .asFileMaker }
        #expect(try one(Double.self, "\"1,234.5 kg\"", rough) == 1234.5)
        #expect(try one(Double.self, "\"7-14/...71.5\"", rough) == 714.715)
        let comma = options { $0.values.decimalSeparator = .comma }
        #expect(try one(Double.self, "\"1234,5\"", comma) == 1234.5)
        #expect(throws: DecodingFailure.self) { try one(Double.self, "\"1.234,5\"", comma) }
        let roughComma = options {
            $0.values.decimalSeparator = .comma
            $0.numbers = .asFileMaker
        }
        #expect(try one(Double.self, "\"1.234,5 kg\"", roughComma) == 1234.5)
        #expect(try one(Double.self, "0.1") == 0.1)
        #expect(try one(Float.self, "0.1") == 0.1)
        let digits = "12345678901234567890.123456789012345678"
        #expect(try one(Decimal.self, digits).description == digits)
        #expect(try one(Decimal.self, "\"\(digits)\"").description == digits)
        #expect(try one(Decimal.self, "-0.00001").description == "-0.00001")
    }

    @Test func everyDigitSurvives() throws {
        let digits = String(repeating: "1234567890", count: 5) + "12345.678"
        #expect(try one(String.self, digits) == digits)
        #expect(try one(FMNumber.self, digits).literal == digits)
        #expect(try one(FieldValue.self, digits) == .number(try #require(FMNumber(digits))))
        #expect(try one(String.self, "1.50") == "1.50")
    }

    @Test func noTextFromNumbersWhenTheRuleIsOff() {
        #expect(throws: DecodingFailure.self) { try one(String.self, "1", options { $0.textFromNumbers = false }) }
    }

    // MARK: Empty fields

    @Test func emptyIsNil() throws {
        #expect(try maybe(Int.self, "\"\"") == nil)
        #expect(try maybe(Double.self, "\"\"") == nil)
        #expect(try maybe(Bool.self, "\"\"") == nil)
        #expect(try maybe(Decimal.self, "\"\"") == nil)
        #expect(try maybe(FMNumber.self, "\"\"") == nil)
        #expect(try maybe(FMDate.self, "\"\"") == nil)
        #expect(try maybe(Date.self, "\"\"") == nil)
        #expect(try maybe(URL.self, "\"\"") == nil)
        #expect(try maybe(Color.self, "\"\"") == nil)
        #expect(try maybe(String.self, "\"\"") == "")
        #expect(try maybe(FieldValue.self, "\"\"") == .empty)
        #expect(try maybe(Wrapped.self, "\"\"") == Wrapped(text: ""))
        #expect(try maybe(Int.self, "null") == nil)
        let rough = options { $0.numbers = .asFileMaker }
        #expect(try maybe(Int.self, "\"n/a\"", rough) == nil)
        #expect(try maybe(Decimal.self, "\"n/a\"", rough) == nil)
    }

    @Test func emptyIsNilWithinCollections() throws {
        #expect(try FMDecoder().decodeFields([String: Int?].self, from: #"{"a":"","b":1}"#.utf8) == ["a": nil, "b": 1])
        #expect(try FMDecoder().decodeFields([String: String?].self, from: #"{"a":""}"#.utf8) == ["a": ""])
    }

    @Test func emptyIsAnErrorForWhatIsNotOptional() throws {
        #expect(throws: DecodingFailure.self) { try one(Int.self, "\"\"") }
        #expect(throws: DecodingFailure.self) { try one(Decimal.self, "\"\"") }
        #expect(throws: DecodingFailure.self) { try one(FMDate.self, "\"\"") }
        #expect(throws: DecodingFailure.self) { try one(Int.self, "\"n/a\"") }
        #expect(try one(Bool.self, "\"\"") == false)
        #expect(try one(String.self, "\"\"") == "")
    }

    @Test func emptyIsZeroWhenAskedFor() throws {
        let zero = options { $0.emptyIsZero = true }
        #expect(try one(Int.self, "\"\"", zero) == 0)
        #expect(try one(Double.self, "\"\"", zero) == 0)
        #expect(try one(Decimal.self, "\"\"", zero) == 0)
        #expect(try one(FMNumber.self, "\"\"", zero) == 0)
        #expect(try maybe(Int.self, "\"\"", zero) == nil)
        let onlyZero = options {
            $0.emptyIsZero = true
            $0.emptyIsNil = false
        }
        #expect(try maybe(Int.self, "\"\"", onlyZero) == 0)
        #expect(throws: DecodingFailure.self) { try maybe(Int.self, "\"\"", options { $0.emptyIsNil = false }) }
        #expect(throws: DecodingFailure.self) { try maybe(Int.self, "\"n/a\"", options { $0.emptyIsNil = false }) }
    }

    // MARK: Booleans

    @Test(arguments: [
        ("1", true), ("0", false), ("2", true), ("-0.5", true), ("0.00", false), ("0e9", false), ("\"1\"", true),
        ("\"0\"", false),
        ("true", true), ("false", false), ("\"\"", false),
    ])
    func truth(_ json: String, _ expected: Bool) throws {
        #expect(try one(Bool.self, json) == expected)
    }

    /// A text of white space alone counts as empty.
    @Test(arguments: ["\"\"", "\" \"", "\"  \"", #""\r""#, #""\t \n""#, #""\u0020""#])
    func aBlankIsEmptyForNumbersAndTruthAlike(_ json: String) throws {
        #expect(try maybe(Int.self, json) == nil)
        #expect(try maybe(Double.self, json) == nil)
        #expect(try maybe(Float.self, json) == nil)
        #expect(try maybe(FMNumber.self, json) == nil)
        #expect(try maybe(Decimal.self, json) == nil)
        #expect(try maybe(Bool.self, json) == nil)
        #expect(try FMDecoder().decodeFields([String: Bool?].self, from: "{\"v\":\(json)}".utf8) == ["v": nil])
        #expect(try FMDecoder().decodeFields([String: Int?].self, from: "{\"v\":\(json)}".utf8) == ["v": nil])
        #expect(try one(Bool.self, json) == false)
        #expect(throws: DecodingFailure.self) { try one(Int.self, json) }
        #expect(try one(Int.self, json, options { $0.emptyIsZero = true }) == 0)
        let rough = options { $0.numbers = .asFileMaker }
        #expect(try maybe(Int.self, json, rough) == nil)
        #expect(try maybe(Bool.self, json, rough) == nil)
        #expect(try one(Bool.self, json, rough) == false)
        #expect(throws: DecodingFailure.self) { try maybe(Bool.self, "\"n/a\"", rough) }
        #expect(throws: DecodingFailure.self) { try maybe(Bool.self, "\"yes\"") }
    }

    @Test func onlyWordsAreTrueWhenTheRuleIsOff() throws {
        let options = options { $0.booleansFromNumbers = false }
        #expect(throws: DecodingFailure.self) { try one(Bool.self, "1", options) }
        #expect(try one(Bool.self, "true", options))
    }

    // MARK: Dates

    @Test func datesInTheFormatOfTheRequest() throws {
        #expect(try one(FMDate.self, "\"01/05/2024\"") == FMDate(year: 2024, month: 1, day: 5))
        #expect(try one(FMDate.self, #""01\/05\/2024""#) == FMDate(year: 2024, month: 1, day: 5))
        #expect(try one(FMTime.self, "\"-25:00:00.5\"").totalNanoseconds == -90_000_500_000_000)
        #expect(try one(FMTimestamp.self, "\"03/19/2030 5:30:00\"").description == "2030-03-19T05:30:00")
        #expect(throws: DecodingFailure.self) { try one(FMDate.self, "\"13/05/2024\"") }
        let iso = options { $0.values.format = .iso }
        #expect(try one(FMTimestamp.self, "\"2024-01-05T06:07:08\"", iso).description == "2024-01-05T06:07:08")
        #expect(try one(FMTimestamp.self, "\"2024-01-05 06:07:08\"", iso).description == "2024-01-05T06:07:08")
        #expect(throws: DecodingFailure.self) { try one(FMDate.self, "\"01/05/2024\"", iso) }
        let german = try ValueFormat(date: "dd.MM.yyyy")
        #expect(try one(FMDate.self, "\"05.01.2024\"", options { $0.values.format = german }).month == 1)
    }

    @Test func instantsInTheTimeZone() throws {
        let zurich = try #require(TimeZone(identifier: "Europe/Zurich"))
        let options = options { $0.values.timeZone = zurich }
        #expect(try one(Date.self, "\"07/01/2024 12:00:00\"", options).timeIntervalSince1970 == 1_719_828_000)
        #expect(try one(Date.self, "\"07/01/2024 12:00:00\"").timeIntervalSince1970 == 1_719_835_200)
        #expect(try one(Date.self, "\"07/01/2024\"").timeIntervalSince1970 == 1_719_792_000)
        #expect(try one(Date.self, "5", self.options { $0.datesFromText = false }).timeIntervalSinceReferenceDate == 5)
    }

    // MARK: Other types

    private enum Color: String, Decodable { case red, green }

    private struct Wrapped: Decodable, Equatable {
        var text: String
        init(text: String) { self.text = text }
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    }

    @Test func valueListsAndAddresses() throws {
        #expect(try one(Color.self, "\"red\"") == .red)
        #expect(throws: DecodingFailure.self) { try one(Color.self, "\"blue\"") }
        #expect(try one(URL.self, "\"https://example.com/a?b\"").host == "example.com")
        #expect(try one(String.self, #""a\rb""#) == "a\rb")
        #expect(try one(UUID.self, "\"7F3A9B52-1000-4C1E-9D60-000000000001\"").uuidString.hasPrefix("7F3A"))
    }

    // MARK: Names

    @Test func repetitions() throws {
        struct Phones: Decodable {
            var phone: [String]
            var number: [Int]?
            var first: String?
        }
        let json =
            #"{"phone(1)":"a","phone(2)":"","phone(3)":"","number(1)":1,"number(2)":"","first(1)":"x","first(2)":"y"}"#
        let phones = try FMDecoder().decodeFields(Phones.self, from: json.utf8)
        #expect(phones.phone == ["a", "", ""])
        #expect(phones.number == [1])
        #expect(phones.first == "x")
        let single = try FMDecoder().decodeFields(Phones.self, from: #"{"phone":"a","number":""}"#.utf8)
        #expect(single.phone == ["a"])
        #expect(single.number == [])
        let off = options { $0.repetitions = false }
        #expect(throws: DecodingFailure.self) { try FMDecoder(options: off).decodeFields(Phones.self, from: json.utf8) }
    }

    @Test func anEmptyRepetitionInTheMiddleIsAnError() {
        #expect(throws: DecodingFailure.self) {
            try FMDecoder().decodeFields([String: [Int]].self, from: #"{"v":[1,"",2]}"#.utf8)
        }
    }

    private struct Line: Decodable, Equatable {
        var recordId: Int
        var article: String
        var count: Int?
    }

    @Test func namesWithoutTheirTable() throws {
        let json = #"{"recordId":"7","Lines::article":"Tea","Other::count":"2"}"#
        let options = options { $0.keys = .withoutTable }
        let line = try FMDecoder(options: options).decodeFields(Line.self, from: json.utf8)
        #expect(line == Line(recordId: 7, article: "Tea", count: 2))
        #expect(throws: DecodingFailure.self) { try FMDecoder().decodeFields(Line.self, from: json.utf8) }
    }

    @Test func anExactNameGoesBeforeOneWithTable() throws {
        let options = options { $0.keys = .withoutTable }
        let json = #"{"X::v":1,"v":2}"#
        #expect(try FMDecoder(options: options).decodeFields(One<Int>.self, from: json.utf8).v == 2)
    }

    @Test func namesByAFunction() throws {
        let options = options { $0.keys = .custom { $0.lowercased().replacingOccurrences(of: "lines::", with: "") } }
        let json = #"{"RecordId":"7","Lines::Article":"Tea","COUNT(1)":3}"#
        #expect(throws: DecodingFailure.self) {
            try FMDecoder(options: options).decodeFields(Line.self, from: json.utf8)
        }
        struct Lower: Decodable, Equatable {
            var recordid: Int
            var article: String
            var count: Int?
        }
        let line = try FMDecoder(options: options).decodeFields(Lower.self, from: json.utf8)
        #expect(line == Lower(recordid: 7, article: "Tea", count: 3))
        let all = try FMDecoder(options: options).decodeFields([String: String].self, from: json.utf8)
        #expect(all == ["recordid": "7", "article": "Tea", "count(1)": "3"])
    }

    @Test func namesInEveryUnicodeForm() throws {
        struct Composed: Decodable {
            var value: Int
            enum CodingKeys: String, CodingKey { case value = "Stra\u{DF}e \u{FC}ber" }
        }
        let decomposed = "{\"Stra\u{DF}e u\u{308}ber\":1}"
        #expect(try FMDecoder().decodeFields(Composed.self, from: decomposed.utf8).value == 1)
        #expect(try FMDecoder().decodeFields(Composed.self, from: #"{"Stra\u00dfe \u00fcber":1}"#.utf8).value == 1)
    }

    @Test func emptyKeysAndMarkers() throws {
        let fields = try FMDecoder().decodeFields(FieldData.self, from: #"{"":"<No Access>","a":1}"#.utf8)
        #expect(fields == ["": "<No Access>", "a": 1])
        #expect(fields.names == ["", "a"])
    }

    @Test func ruleAreForFieldsOnly() {
        #expect(throws: DecodingFailure.self) { try FMDecoder().decode(One<Int>.self, from: #"{"v":"5"}"#.utf8) }
        #expect(throws: DecodingFailure.self) { try FMDecoder().decode(One<Bool>.self, from: #"{"v":1}"#.utf8) }
        #expect(throws: DecodingFailure.self) { try FMDecoder().decode(One<String>.self, from: #"{"v":1}"#.utf8) }
        #expect(throws: DecodingFailure.self) {
            try FMDecoder(options: .plain).decodeFields(One<Int>.self, from: #"{"v":"5"}"#.utf8)
        }
    }

    // MARK: Portals

    @Test func portalsOfAnAnswerThatHasNone() throws {
        struct Portals: Decodable, Equatable {
            var lines: [Line]
            var notes: [Line]?
        }
        let json =
            #"{"response":{"data":[{"fieldData":{},"portalData":{},"recordId":"1","modId":"2"}]},"messages":[{"code":"0"}]}"#
        let record = try read(json, as: DataAPI.Record<FieldData, Portals>.self).records[0]
        #expect(record.portalData == Portals(lines: [], notes: nil))
        let off = options { $0.absentPortalsAreEmpty = false }
        #expect(throws: DecodingFailure.self) {
            try read(json, as: DataAPI.Record<FieldData, Portals>.self, options: off)
        }
    }

    @Test func aPortalThatIsNotAmongOthers() throws {
        struct Portals: Decodable, Equatable {
            var lines: [Line]
            var notes: [Line]?
        }
        func json(_ portals: String) -> String {
            #"{"response":{"data":[{"fieldData":{},"portalData":\#(portals),"recordId":"1","modId":"2"}]},"#
                + #""messages":[{"code":"0"}]}"#
        }
        let failure = #expect(throws: DecodingFailure.self) {
            try read(json(#"{"Lines":[],"notes":[]}"#), as: DataAPI.Record<FieldData, Portals>.self)
        }
        #expect(failure?.reason.contains(#"the layout sends no portal "lines", but "Lines", "notes""#) == true)
        let there = try read(json(#"{"lines":[]}"#), as: DataAPI.Record<FieldData, Portals>.self).records[0]
        #expect(there.portalData == Portals(lines: [], notes: nil))
    }

    @Test func textThatIsNoTextCanBeRepaired() throws {
        let json = Array("{\"v\":\"a\nb\\uD800\"}".utf8)
        #expect(throws: DecodingFailure.self) { try FMDecoder().decodeFields(One<String>.self, from: json) }
        let repairing = FMDecoder(options: options { $0.malformedText = .repair })
        #expect(try repairing.decodeFields(One<String>.self, from: json).v == "a\nb\u{FFFD}")
    }
}
