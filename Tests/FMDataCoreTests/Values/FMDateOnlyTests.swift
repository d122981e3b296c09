import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

@Suite struct FMDateOnlyTests {
    struct Value: Codable, Equatable {
        @FMDateOnly var a: Date
        @FMDateOnly var b: Date?
    }

    private let day: FMDate

    init() throws {
        day = try #require(FMDate(year: 2024, month: 1, day: 5))
    }

    @Test func anEmptyOrAbsentOptionalIsNil() throws {
        for rest in ["", #","b":"""#, #","b":null"#] {
            let value = try FMDecoder().decodeFields(Value.self, from: Array(#"{"a":"01/05/2024"\#(rest)}"#.utf8))
            expectNoDifference(value, Value(a: day.instant(in: .gmt), b: nil))
        }
    }

    @Test func whatIsNoDateIsAnError() {
        for text in ["", "01/05/2024 10:00:00", "x"] {
            #expect(throws: DecodingFailure.self) {
                try FMDecoder().decodeFields(Value.self, from: Array(#"{"a":"\#(text)"}"#.utf8))
            }
        }
        #expect(throws: DecodingFailure.self) {
            try FMDecoder().decodeFields(Value.self, from: Array(#"{"a":"01/05/2024","b":"x"}"#.utf8))
        }
        #expect(throws: EncodingFailure.self) { try FMEncoder().encodeFields(Value(a: .distantFuture + 1e12, b: nil)) }
    }

    @Test func nilIsWrittenAsOfAnyOptional() throws {
        let value = Value(a: day.instant(in: .gmt), b: nil)
        expectNoDifference(
            String(decoding: try FMEncoder().encodeFields(value), as: UTF8.self),
            #"{"a":"01/05/2024","b":""}"#
        )
        var options = EncodingOptions(values: ValueOptions(format: .iso))
        options.nilValues = .omit
        expectNoDifference(
            String(decoding: try FMEncoder(options: options).encodeFields(value), as: UTF8.self),
            #"{"a":"2024-01-05"}"#
        )
    }

    @Test func othersCodersTakeFormatAndZoneFromTheirUserInfo() throws {
        let zone = try #require(TimeZone(identifier: "Pacific/Kiritimati"))
        let decoder = JSONDecoder()
        decoder.userInfo = [.fileMakerFormat: ValueFormat.iso, .fileMakerTimeZone: zone]
        let encoder = JSONEncoder()
        encoder.userInfo = decoder.userInfo
        let value = try decoder.decode(Value.self, from: Data(#"{"a":"2024-01-05"}"#.utf8))
        expectNoDifference(value, Value(a: day.instant(in: zone), b: nil))
        expectNoDifference(String(decoding: try encoder.encode(value), as: UTF8.self), #"{"a":"2024-01-05"}"#)
        let us = try JSONDecoder().decode(Value.self, from: Data(#"{"a":"01/05/2024"}"#.utf8))
        expectNoDifference(us.a, day.instant(in: .gmt))
    }
}
