import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

@Suite struct FMEncoderTests {
    struct Person: Codable, Equatable {
        var name: String
        var age: Int?
        var isMember: Bool
        var rate: Decimal
        var born: FMDate
        var seen: Date
        var phones: [String]
        var homepage: URL?

        enum CodingKeys: String, CodingKey {
            case name = "Name", age = "Age", isMember = "Member", rate = "Rate", born = "Born", seen = "Seen"
            case phones = "Phone", homepage = "Home"
        }
    }

    private let person: Person

    init() throws {
        person = Person(
            name: "Ada \"the\" first\r\\",
            age: nil,
            isMember: true,
            rate: try #require(Decimal(string: "12345678901234567890.123456789")),
            born: try #require(FMDate(year: 1815, month: 12, day: 10)),
            seen: Date(timeIntervalSince1970: 1_700_000_000),
            phones: ["555", ""],
            homepage: URL(string: "https://example.com/a")
        )
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func recordByFileMakersRules() throws {
        #expect(
            text(try FMEncoder().encodeFields(person)) == #"{"Name":"Ada \"the\" first\r\\","Age":"","Member":1,"#
                + #""Rate":"12345678901234567890.123456789","Born":"12/10/1815","Seen":"11/14/2023 22:13:20","#
                + #""Phone(1)":"555","Phone(2)":"","Home":"https://example.com/a"}"#
        )
    }

    @Test func formatAndTimeZoneOfTheRequest() throws {
        var options = EncodingOptions(
            values: ValueOptions(format: .iso, timeZone: try #require(TimeZone(identifier: "America/Edmonton")))
        )
        options.nilValues = .omit
        let json = text(try FMEncoder(options: options).encodeFields(person))
        #expect(json.contains(#""Born":"1815-12-10","Seen":"2023-11-14T15:13:20""#))
        #expect(!json.contains("Age"))
    }

    @Test func aRepetitionThatIsNilIsLeftAloneOrCleared() throws {
        struct Contact: Encodable {
            var phones: [String?] = ["1", nil, "3"]
            var born: FMDate?
        }
        expectNoDifference(
            text(try FMEncoder().encodeFields(Contact())),
            #"{"phones(1)":"1","phones(2)":"","phones(3)":"3","born":""}"#
        )
        var options = EncodingOptions()
        options.nilValues = .omit
        expectNoDifference(
            text(try FMEncoder(options: options).encodeFields(Contact())),
            #"{"phones(1)":"1","phones(3)":"3"}"#
        )
    }

    @Test func decodesWhatItEncodes() throws {
        let json = try FMEncoder().encodeFields(person)
        expectNoDifference(try FMDecoder().decodeFields(Person.self, from: json), person)
    }

    @Test func rowsOfPortals() throws {
        struct Row: Encodable {
            var recordId: Int?
            var modId: Int?
            var article: String
            var count: Int?

            enum CodingKeys: String, CodingKey {
                case recordId, modId, article = "Article", count = "Other::Count"
            }
        }
        let portals = ["Lines": [Row(recordId: 7, modId: 3, article: "Tea"), Row(article: "Milk", count: 2)]]
        var options = EncodingOptions()
        options.keys = .withTable
        #expect(
            text(try FMEncoder(options: options).encodePortals(portals))
                == #"{"Lines":[{"recordId":"7","modId":"3","Lines::Article":"Tea","Other::Count":""},"#
                + #"{"Lines::Article":"Milk","Other::Count":2}]}"#
        )
    }

    @Test func rulesHoldInsideABodyOfPlainJSON() throws {
        struct Body: Encodable {
            var fieldData: AsFields<[String: Bool]>
            var portalData: AsPortals<[String: [[String: Bool]]]>
            var isDraft: Bool
            var modId: Int?
        }
        let body = Body(
            fieldData: AsFields(value: ["a": true]),
            portalData: AsPortals(value: ["p": [["b": false]]]),
            isDraft: true
        )
        #expect(
            text(try FMEncoder().encode(body)) == #"{"fieldData":{"a":1},"portalData":{"p":[{"b":0}]},"isDraft":true}"#
        )
        let foreign = JSONEncoder()
        foreign.outputFormatting = .sortedKeys
        #expect(
            String(decoding: try foreign.encode(body), as: UTF8.self)
                == #"{"fieldData":{"a":true},"isDraft":true,"portalData":{"p":[{"b":false}]}}"#
        )
    }

    @Test func lineBreaks() throws {
        #expect(text(try FMEncoder().encodeFields(["a": "1\n2\r\n3\r4"])) == #"{"a":"1\r2\r3\r4"}"#)
        let fields: FieldData = ["a": "1\n2"]
        #expect(text(try FMEncoder().encodeFields(fields)) == #"{"a":"1\r2"}"#)
        #expect(text(try FMEncoder().encode(["a": "1\n2"])) == #"{"a":"1\n2"}"#)
        var options = EncodingOptions()
        options.lineBreaks = .asTheyAre
        #expect(text(try FMEncoder(options: options).encodeFields(["a": "1\n2\r\n3"])) == #"{"a":"1\n2\r\n3"}"#)
    }

    @Test func controlCharactersAreEscaped() throws {
        #expect(text(try FMEncoder().encode("\u{1}\t\u{1F}é/")) == "\"\\u0001\\t\\u001fé/\"")
    }

    @Test func dynamicFieldsInOrder() throws {
        let fields: FieldData = [
            "Name": "Ada", "Age": 36, "Rate": 12.5, "Member": true, "Digits": .number(1), "x": .empty,
        ]
        #expect(
            text(try FMEncoder().encodeFields(fields))
                == #"{"Name":"Ada","Age":36,"Rate":12.5,"Member":1,"Digits":1,"x":""}"#
        )
        #expect(text(try FMEncoder().encodeFields(FieldData())) == "{}")
    }

    @Test func everyDigitOfANumber() throws {
        let digits = String(repeating: "1234567890", count: 6) + ".5"
        let fields: FieldData = ["n": .number(try #require(FMNumber(digits)))]
        #expect(text(try FMEncoder().encodeFields(fields)) == "{\"n\":\"\(digits)\"}")
        #expect(text(try FMEncoder().encode(fields)) == "{\"n\":\(digits)}")
    }

    /// A number whose digits a `Double` can hold is written as a JSON number, others as text: the host may read JSON
    /// with JavaScript.
    @Test(arguments: [
        ("9007199254740993", false), ("9007199254740992", true), ("-9007199254740993", false),
        ("1152921504606846976", false),
        ("123456789012345678000000", false), ("100000000000000000000000", true), ("0.1", true), ("0.1000", true),
        ("0.30000000000000004", true), ("0.300000000000000041", false), ("1e400", false), ("1e300", true),
        ("1e-400", false),
    ])
    func digitsBeyondABinaryNumber(_ digits: String, _ isNumber: Bool) throws {
        let fields: FieldData = ["n": .number(try #require(FMNumber(digits)))]
        #expect(
            text(try FMEncoder().encodeFields(fields)) == (isNumber ? "{\"n\":\(digits)}" : "{\"n\":\"\(digits)\"}")
        )
        #expect(
            try FMDecoder().decodeFields([String: FMNumber].self, from: FMEncoder().encodeFields(fields))["n"]
                == FMNumber(digits)
        )
    }

    @Test func integersAndDecimalsBeyondABinaryNumber() throws {
        struct Big: Encodable {
            var a = Int.max
            var b: UInt64? = .max
            var c = Decimal(string: "12345678901234567890.5")!
            var d = 9_007_199_254_740_992
            var e = [Int.min]
        }
        #expect(
            text(try FMEncoder().encodeFields(Big()))
                == #"{"a":"9223372036854775807","b":"18446744073709551615","c":"12345678901234567890.5","#
                + #""d":9007199254740992,"e(1)":"-9223372036854775808"}"#
        )
        #expect(text(try FMEncoder().encode(Int.max)) == "9223372036854775807")
    }

    @Test func refusesWhatAFieldCannotHold() throws {
        #expect(throws: EncodingFailure.self) { try FMEncoder().encodeFields(["a": ["b": 1]]) }
        #expect(throws: EncodingFailure.self) { try FMEncoder().encodeFields(["a": [[1]]]) }
        #expect(throws: EncodingFailure.self) { try FMEncoder().encodeFields(["a": Double.infinity]) }
        do {
            _ = try FMEncoder().encode(["secret": Double.nan])
            Issue.record("not-a-number was written")
        } catch {
            #expect(error.path == ["secret"])
        }
    }

    @Test func plainJSONIsThatOfFoundation() throws {
        struct Everything: Codable, Equatable {
            var text: String
            var number: Double
            var flag: Bool
            var none: Int?
            var list: [[Int]]
            var nested: [String: Bool]
            var date: Date
        }
        let value = Everything(
            text: "a\"/é\n",
            number: 1e-7,
            flag: false,
            list: [[1], []],
            nested: ["x": true],
            date: Date(timeIntervalSinceReferenceDate: 12.5)
        )
        let json = try FMEncoder().encode(value)
        #expect(try JSONDecoder().decode(Everything.self, from: Data(json)) == value)
    }
}
