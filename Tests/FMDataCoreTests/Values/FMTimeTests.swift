import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

@Suite struct FMTimeTests {
    @Test(arguments: [
        ("06:00:00", 21_600_000_000_000), ("6:00:00", 21_600_000_000_000), ("6:00", 21_600_000_000_000),
        ("25:00:00", 90_000_000_000_000), ("1000:00:01", 3_600_001_000_000_000), ("-01:30:00", -5_400_000_000_000),
        ("-0:00:00.5", -500_000_000), ("00:00:00.123456789", 123_456_789), ("00:00:00.1234567899", 123_456_789),
        ("00:00:01,5", 1_500_000_000), ("00:00:00", 0),
    ])
    func reads(_ text: String, _ nanoseconds: Int) {
        #expect(FMTime(text, format: .us)?.totalNanoseconds == nanoseconds)
    }

    @Test(arguments: [
        "", "6", "06:60:00", "06:00:60", "06:00:00.", "06:00:00x", "06::00", "--1:00:00", "1:-2:00",
        "99999999999:00:00",
        "a:00:00",
    ])
    func refuses(_ text: String) {
        #expect(FMTime(text, format: .us) == nil)
    }

    /// FileMaker's hours go up to 2,147,483,647.
    @Test(arguments: [
        "2562047:47:17", "2562048:00:00", "9999999:59:59.5", "2147483647:59:59.999999999", "-2147483647:00:00",
    ])
    func manyHours(_ text: String) throws {
        let time = try #require(FMTime(text, format: .us))
        expectNoDifference(time.description, text)
        expectNoDifference(FMTime(time.duration), time)
        #expect(time.isNegative == text.hasPrefix("-"))
        #expect(time.isNegative ? time < FMTime() : time > FMTime(hours: 2_562_047))
    }

    @Test func partsOfDifferentSigns() {
        expectNoDifference(FMTime(seconds: 1, nanoseconds: -1).description, "00:00:00.999999999")
        expectNoDifference(FMTime(seconds: -1, nanoseconds: 1), FMTime(totalNanoseconds: -999_999_999))
        expectNoDifference(FMTime(seconds: 2, nanoseconds: -3_500_000_000).description, "-00:00:01.5")
        #expect(FMTime(nanoseconds: -1) < FMTime())
        #expect(FMTime(seconds: -1, nanoseconds: -1) < FMTime(seconds: -1))
        expectNoDifference(FMTime(hours: 3_000_000).hours, 3_000_000)
    }

    @Test func writes() {
        #expect(FMTime(hours: 25).description == "25:00:00")
        #expect(FMTime(hours: -1, minutes: -30).description == "-01:30:00")
        #expect(FMTime(seconds: 3_661, nanoseconds: 250_000_000).description == "01:01:01.25")
        #expect(FMTime(totalNanoseconds: 1).description == "00:00:00.000000001")
        #expect(FMTime(hours: 1_000).description == "1000:00:00")
    }

    @Test func readsWhatItWrites() {
        var random = SplitMix(seed: 11)
        for _ in 0..<1_000 {
            let time = FMTime(
                totalNanoseconds: Int.random(in: -4_000_000_000_000_000...4_000_000_000_000_000, using: &random)
            )
            #expect(FMTime(time.description) == time)
        }
    }

    @Test func twelveHours() throws {
        let format = try ValueFormat(date: "MM/dd/yyyy", time: "h:mm:ss a")
        for (text, hours) in [("12:00:00 AM", 0), ("1:00:00 am", 1), ("12:00:00 PM", 12), ("11:00:00 PM", 23)] {
            #expect(FMTime(text, format: format) == FMTime(hours: hours))
            #expect(FMTime(hours: hours).text(format) == text.uppercased())
        }
        #expect(FMTime("13:00:00 PM", format: format) == nil)
        #expect(FMTime("1:00:00 XM", format: format) == nil)
        #expect(FMTimestamp("01/05/2024 1:02:03 PM", format: format)?.time == FMTime(hours: 13, minutes: 2, seconds: 3))
    }

    /// A twelve-hour clock cannot show these times. They are written like FileMaker's durations, which every format
    /// reads.
    @Test(arguments: [
        (25, 0, "25:00:00"), (24, 0, "24:00:00"), (-1, -30, "-01:30:00"), (0, -1, "-00:01:00"), (23, 59, "11:59:00 PM"),
    ])
    func whatTwelveHoursDoNotShow(_ hours: Int, _ minutes: Int, _ text: String) throws {
        let format = try ValueFormat(date: "MM/dd/yyyy", time: "h:mm:ss a")
        let time = FMTime(hours: hours, minutes: minutes)
        expectNoDifference(time.text(format), text)
        expectNoDifference(FMTime(text, format: format), time)
        struct One: Codable, Equatable { var v: FMTime }
        var encoding = EncodingOptions()
        encoding.values.format = format
        var decoding = DecodingOptions()
        decoding.values.format = format
        let json = try FMEncoder(options: encoding).encodeFields(One(v: time))
        expectNoDifference(String(decoding: json, as: UTF8.self), #"{"v":"\#(text)"}"#)
        expectNoDifference(try FMDecoder(options: decoding).decodeFields(One.self, from: json), One(v: time))
    }

    @Test func sumsOutOfRangeStopAtItsEnds() {
        #expect(FMTime(hours: .max).totalNanoseconds == .max)
        #expect(FMTime(hours: .min).totalNanoseconds == .min)
        #expect(FMTime(hours: 2_562_047, minutes: 100_000).totalNanoseconds == .max)
        #expect(FMTime(Duration.seconds(Int64.max)).totalNanoseconds == .max)
        #expect(FMTime(totalNanoseconds: .min).hours == 2_562_047)
        #expect(FMTime(totalNanoseconds: .min).isNegative)
    }

    @Test func durations() {
        #expect(FMTime(Duration.milliseconds(-1_500)).description == "-00:00:01.5")
        #expect(FMTime(hours: 1).duration == .seconds(3_600))
        #expect(FMTime(minutes: 1) < FMTime(minutes: 2))
    }
}
