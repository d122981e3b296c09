import FMData
import Foundation
import Testing

@testable import FMDataCore

@Suite struct DecodingFailureTests {
    private enum Color: String, Decodable { case red }

    private struct Car: Decodable {
        var color: Color
        var doors: Int
    }

    private func failure(_ fields: String) throws -> DecodingFailure {
        let json = """
            {"response":{"data":[{"fieldData":{"color":"red","doors":1},"recordId":"4","modId":"0"},
            {"fieldData":\(fields),"recordId":"42","modId":"0"}]},"messages":[{"code":"0"}]}
            """
        return try #require(throws: DecodingFailure.self) {
            _ = try read(json, as: DataAPI.Record<Car, DataAPI.EmptyPortal>.self)
        }
    }

    @Test func saysWhichRecordAndField() throws {
        let failure = try failure(#"{"color":"red","doors":"none of your business"}"#)
        #expect(failure.recordNumber == 2)
        #expect(failure.recordId == 42)
        #expect(failure.field == "doors")
        #expect(failure.path == ["response", "data", "Index 1", "fieldData", "doors"])
        #expect(failure.rawValue == "\"none of your business\"")
        #expect(
            failure.description
                == "Could not decode the answer at response.data[1].fieldData.doors (record 2, recordId 42): "
                + "expected Int, found a text without a number in it. Hint: Declare it as String, or as FMNumber? to get nil "
                + "for such texts."
        )
    }

    /// The names differ in the form of the accent only, and are equal as Swift's strings are.
    @Test func saysWhichOfTwoNamesThatLookAlikeHasFailed() throws {
        struct Cafe: Decodable {
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }

            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: Key.self)
                _ = try fields.decode(Int.self, forKey: Key(stringValue: "caf\u{E9}"))
                _ = try fields.decode(Int.self, forKey: Key(stringValue: "cafe\u{301}"))
            }
        }
        let fields = Array(#"{"caf\#u{E9}":"1","cafe\#u{301}":"none"}"#.utf8)
        let failure = try #require(throws: DecodingFailure.self) {
            _ = try FMDecoder().decodeFields(Cafe.self, from: fields)
        }
        #expect(failure.rawValue == "\"none\"")
    }

    /// The standard library's error for an enum prints the value; this error must not.
    @Test func neverPrintsAValue() throws {
        let failure = try failure(#"{"color":"secret-4711","doors":1}"#)
        #expect(failure.field == "color")
        #expect(failure.rawValue == "\"secret-4711\"")
        var dumped = ""
        dump(failure, to: &dumped)
        for text in [
            failure.description, failure.reason, String(reflecting: failure), "\(failure as any Error)", dumped,
        ] {
            #expect(!text.contains("4711"), "\(text)")
        }
        guard case .dataCorrupted? = failure.decodingError else {
            Issue.record("\(String(describing: failure.decodingError))")
            return
        }
    }

    @Test func saysWhichKeyIsMissing() throws {
        let failure = try failure(#"{"color":"red"}"#)
        #expect(failure.field == "doors")
        #expect(failure.rawValue == nil)
        #expect(failure.reason == "the layout sends no field \"doors\", but 1 other.")
    }

    @Test func saysWhereTheTextBreaks() throws {
        let json = #"{"response":{"data":[{"fieldData":{"color":"red","doors":01}"#
        let failure = try #require(throws: DecodingFailure.self) {
            _ = try read(json, as: DataAPI.Record<Car, DataAPI.EmptyPortal>.self)
        }
        #expect(failure.byteOffset == json.utf8.count - 3)
        #expect(failure.description.contains("not a JSON number at byte"))
    }

    @Test func theNextRecordCanStillBeRead() throws {
        let json = """
            {"response":{"data":[{"fieldData":{},"recordId":"1","modId":"0"},
            {"fieldData":{"color":"red","doors":5},"recordId":"2","modId":"0"}]},"messages":[{"code":"0"}]}
            """
        var reader = RecordResponseReader<Car, DataAPI.EmptyPortal>()
        Array(json.utf8).withUnsafeBytes { reader.feed($0) }
        #expect(throws: DecodingFailure.self) { try reader.nextRecord() }
        #expect(try reader.nextRecord()?.fieldData.doors == 5)
        #expect(try reader.finish().recordCount == 2)
    }

    @Test func errorsOfTheTypeItself() throws {
        struct Mine: Error {}
        struct Picky: Decodable {
            init(from decoder: any Decoder) throws { throw Mine() }
        }
        let failure = try #require(throws: DecodingFailure.self) { try FMDecoder().decode(Picky.self, from: "{}".utf8) }
        #expect(failure.underlying is Mine)
        #expect(failure.reason.contains("Mine"))
    }
}
