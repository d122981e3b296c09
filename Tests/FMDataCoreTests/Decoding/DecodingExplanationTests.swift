import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

/// The full texts of the errors about fields that cannot be decoded, one per cause.
@Suite struct DecodingExplanationTests {
    private struct One<Value: Decodable>: Decodable {
        var v: Value
    }

    private enum Color: String, Decodable { case red, green }
    private enum Level: Int, Decodable { case low, high }

    /// The error's text about the field `v` of the only record of an answer, without the part that says where it is.
    private func account<Value: Decodable>(
        _ type: Value.Type,
        _ json: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout DecodingOptions) -> Void = { _ in }
    ) throws -> String {
        var options = DecodingOptions()
        change(&options)
        let answer = """
            {"response":{"data":[{"fieldData":{"v":\(json)},"portalData":{},"recordId":"7","modId":"0"}]},
            "messages":[{"code":"0","message":"OK"}]}
            """
        let failure = try #require(throws: DecodingFailure.self, sourceLocation: sourceLocation) {
            _ = try read(answer, as: DataAPI.Record<One<Value>, DataAPI.EmptyPortal>.self, options: options)
        }
        let place = "Could not decode the answer at response.data[0].fieldData.v (record 1, recordId 7): "
        #expect(failure.description.hasPrefix(place), sourceLocation: sourceLocation)
        #expect(failure.field == "v", sourceLocation: sourceLocation)
        return String(failure.description.dropFirst(place.count))
    }

    // MARK: Numbers

    @Test func anEmptyFieldIsNoNumber() throws {
        expectNoDifference(
            try account(Int.self, #""""#),
            "the field is empty, and Int is not optional. Hint: Declare it as Int?, or turn config.decoding.emptyIsZero on "
                + "to read 0."
        )
        expectNoDifference(try account(Int.self, #""""#), try account(Int8.self, #""""#).replacing("Int8", with: "Int"))
        for text in [try account(Decimal.self, #""""#), try account(FMNumber.self, #""""#)] {
            #expect(text.hasPrefix("the field is empty, and "))
        }
        expectNoDifference(
            try account(Int?.self, #""""#) { $0.emptyIsNil = false },
            "expected Int, found an empty field. Hint: Turn config.decoding.emptyIsNil on and declare it as Int?, or turn "
                + "config.decoding.emptyIsZero on to read 0."
        )
    }

    @Test func aTextWithoutANumber() throws {
        expectNoDifference(
            try account(Int.self, #""none of your business""#),
            "expected Int, found a text without a number in it. Hint: Declare it as String, or as FMNumber? to get nil "
                + "for such texts."
        )
        expectNoDifference(
            try account(Int.self, #""none of your business""#) { $0.numbers = .asFileMaker },
            "expected Int, found a text without a number in it. Hint: Declare it as String, or as Int? to get nil for such "
                + "texts."
        )
        expectNoDifference(
            try account(Int.self, #""12 secrets""#),
            "expected Int, found a text that is more than a number. Hint: FMNumber reads the number in it as FileMaker does, and "
                + "so does every type with config.decoding.numbers = .asFileMaker. Declare it as String to have it as it is."
        )
        expectNoDifference(
            try account(Double?.self, #""none of your business""#) { $0.emptyIsNil = false },
            "expected Double, found a text without a number in it. Hint: Declare it as String."
        )
    }

    @Test func aNumberThatDoesNotFit() throws {
        expectNoDifference(
            try account(Int8.self, "4711"),
            "expected Int8, found a number outside of -128 to 127. Hint: Declare it as Int, or as FMNumber, which holds every "
                + "number."
        )
        expectNoDifference(try account(Int8.self, "4711"), try account(Int8.self, #""04711""#))
        expectNoDifference(
            try account(Int.self, "9223372036854775808"),
            "expected Int, found a number outside of -9223372036854775808 to 9223372036854775807. Hint: FMNumber holds every "
                + "number."
        )
        expectNoDifference(
            try account(Int.self, "1.5"),
            "expected Int, found a number with a fraction. Hint: Declare it as Double, Decimal or FMNumber."
        )
        expectNoDifference(try account(Int.self, "1.5"), try account(Int.self, "1e-400"))
        expectNoDifference(
            try account(Double.self, "1e999"),
            "expected Double, found a number that it does not hold. Hint: FMNumber holds every number."
        )
        expectNoDifference(
            try account(Decimal.self, String(repeating: "7", count: 58)),
            "expected Decimal, found a number that it does not hold. Hint: FMNumber holds every number."
        )
    }

    // MARK: Other kinds of values

    @Test func anotherKindOfValue() throws {
        expectNoDifference(try account(Int.self, "{}"), "expected Int, found an object.")
        expectNoDifference(try account(String.self, "[1]"), "expected String, found a list.")
        expectNoDifference(
            try account(Int.self, "null"),
            "expected Int, found null. Hint: Declare it as Int?."
        )
        expectNoDifference(
            try account(FMDate.self, "4711"),
            "expected FMDate, found a number. Hint: Declare it as FMNumber, Int or Double."
        )
        expectNoDifference(
            try account([String: Int].self, #""secret""#),
            "expected an object, found a text. Hint: A field holds one text or number: declare it as a type that is made of one."
        )
        expectNoDifference(
            try account([String: Int].self, #""""#),
            "the field is empty, and an object is not optional. Hint: Declare it as an optional."
        )
        expectNoDifference(
            try account([Int].self, "{}"),
            "expected a list, found an object."
        )
    }

    @Test func aRuleThatIsOff() throws {
        expectNoDifference(
            try account(Int.self, #""5""#) { $0.numbersFromText = false },
            "expected Int, found a text. Hint: Turn config.decoding.numbersFromText on."
        )
        expectNoDifference(
            try account(String.self, "5") { $0.textFromNumbers = false },
            "expected String, found a number. Hint: Turn config.decoding.textFromNumbers on."
        )
        expectNoDifference(
            try account(Bool.self, "1") { $0.booleansFromNumbers = false },
            "expected Bool, found a number. Hint: Turn config.decoding.booleansFromNumbers on."
        )
        expectNoDifference(
            try account([String].self, #""a""#) { $0.repetitions = false },
            "expected a list, found a text. Hint: Turn config.decoding.repetitions on."
        )
    }

    // MARK: Dates

    @Test func dateAndTimeNameTheDeclaredTypeAndTheForm() throws {
        expectNoDifference(
            try account(Date.self, #""5 January""#),
            #"expected Date, written "MM/dd/yyyy HH:mm:ss" or "MM/dd/yyyy", found another text. "#
                + "Hint: config.dateFormats says how dates and times are written. For texts of other forms declare it as "
                + "String instead of Date."
        )
        expectNoDifference(
            try account(FMDate.self, #""13/45/2024""#) { $0.values.format = .iso },
            #"expected FMDate, written "yyyy-MM-dd", found another text. "#
                + "Hint: config.dateFormats says how dates and times are written. For texts of other forms declare it as "
                + "String instead of FMDate."
        )
        #expect(
            try account(FMTime.self, #""noon""#).hasPrefix(#"expected FMTime, written "HH:mm:ss", found another text."#)
        )
        #expect(
            try account(FMTimestamp.self, #""noon""#) { $0.values.format = .iso }
                .hasPrefix(#"expected FMTimestamp, written "yyyy-MM-dd'T'HH:mm:ss", found another text."#)
        )
        for text in [
            try account(Date.self, #""""#), try account(FMDate.self, #""""#).replacing("FMDate", with: "Date"),
        ] {
            expectNoDifference(text, "the field is empty, and Date is not optional. Hint: Declare it as Date?.")
        }
    }

    @Test(arguments: ["d.M.yyyy", "yyyy-MM-dd", "dd'/'MM'o''clock'''yyyy", "''''yyyy'MM'MM''dd"])
    func patternsAreSpelledAsTheyAreRead(_ pattern: String) throws {
        let format = try ValueFormat(date: pattern, time: "h:mm:ss a", timestamp: "\(pattern)'T'HH:mm:ss")
        expectNoDifference(
            try ValueFormat(date: "\(format.date)", time: "\(format.time)", timestamp: "\(format.timestamp)"),
            format
        )
    }

    // MARK: Other types

    @Test func anEnumWithoutACase() throws {
        expectNoDifference(
            try account(Color.self, #""secret-4711""#),
            "expected the enum Color, found a text for which it has no case. Hint: Add the case to Color, or declare the field "
                + "as String."
        )
        expectNoDifference(
            try account(Level.self, "4711"),
            "expected the enum Level, found a number for which it has no case. Hint: Add the case to Level, or declare the "
                + "field as FMNumber."
        )
        expectNoDifference(
            try account(Color.self, #""""#),
            "the field is empty, for which the enum Color has no case. Hint: Declare it as Color?."
        )
        #expect(
            try account(Color.self, #""""#) { $0.emptyIsNil = false }
                .hasSuffix("Hint: Turn config.decoding.emptyIsNil on and declare it as Color?.")
        )
        // Elements of a list are named as well.
        let failure = try #require(throws: DecodingFailure.self) {
            try FMDecoder().decodeFields([String: [Color]].self, from: #"{"c(1)":"red","c(2)":"x"}"#.utf8)
        }
        #expect(failure.reason == "expected the enum Color, found a text for which it has no case.")
    }

    @Test func formsThatCannotBeRead() throws {
        expectNoDifference(
            try account(UUID.self, #""secret""#),
            "expected UUID, found a text that is no UUID. Hint: Declare it as String."
        )
        expectNoDifference(
            try account(UUID.self, #""""#),
            "the field is empty, and UUID is not optional. Hint: Declare it as UUID?."
        )
        expectNoDifference(
            try account(URL.self, #""http://[secret""#),
            "expected URL, found a text that is no URL. Hint: Declare it as String."
        )
        expectNoDifference(
            try account(URL.self, #""""#),
            "the field is empty, and URL is not optional. Hint: Declare it as URL?."
        )
        expectNoDifference(
            try account(Data.self, #""https://secret.example""#),
            "expected Data, found a text that is no Base64. Hint: Declare it as String. Of a container a field holds the URL; "
                + "its content is downloaded."
        )
    }

    /// The errors of others are not quoted: they may show the value.
    @Test func aTypeThatRefusesItself() throws {
        struct Even: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                let number = try container.decode(Int.self)
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(number) is odd")
            }
        }
        struct Rich: Decodable {
            struct Broke: Error {}
            init(from decoder: any Decoder) throws { throw Broke() }
        }
        expectNoDifference(
            try account(Even.self, "4711"),
            "the declared type cannot be made of a number. Hint: What it threw is in the failure's `underlying`, which may show "
                + "the value."
        )
        // What was decoded last is not what failed.
        struct Pair: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                _ = try? container.decode(Color.self)
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "")
            }
        }
        #expect(try account(Pair.self, #""red""#).hasPrefix("the declared type cannot be made of a text."))
        let failure = try #require(throws: DecodingFailure.self) {
            try FMDecoder().decodeFields(One<Rich>.self, from: #"{"v":1}"#.utf8)
        }
        expectNoDifference(failure.description, "Could not decode the JSON: the declared type threw Broke.")
    }

    // MARK: Lists

    @Test func aListThatEnds() throws {
        struct Three: Decodable {
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                for _ in 0..<3 { _ = try container.decode(Int.self) }
            }
        }
        let failure = try #require(throws: DecodingFailure.self) {
            try FMDecoder().decode(One<Three>.self, from: #"{"v":[1,2]}"#.utf8)
        }
        expectNoDifference(
            failure.description,
            "Could not decode the JSON at v[2]: expected another element, but the list ends here."
        )
    }
}
