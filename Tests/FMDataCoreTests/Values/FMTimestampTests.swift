import FMData
import Foundation
import Testing

@testable import FMDataCore

@Suite struct FMTimestampTests {
    @Test(arguments: [
        ("05/19/2031 06:00:00", "2031-05-19T06:00:00"), ("05/19/2031 6:00:00", "2031-05-19T06:00:00"),
        ("5/5/2031 6:00", "2031-05-05T06:00:00"), ("2031-05-19T06:00:00", "2031-05-19T06:00:00"),
        ("2031-05-19 06:00:00.25", "2031-05-19T06:00:00.25"), ("05/19/2031 24:00:00", nil), ("05/19/2031", nil),
        ("05/19/2031T06:00:00", nil), ("05/19/2031 -6:00:00", nil), ("02/30/2031 06:00:00", nil), ("", nil),
        ("2031-05-19T06:00:00Z", nil),
    ])
    func reads(_ text: String, _ expected: String?) {
        #expect(FMTimestamp(text, format: .us)?.description == expected)
    }

    @Test func instantsOfEveryZone() throws {
        for name in ["GMT", "Europe/Zurich", "America/Edmonton", "Asia/Kolkata", "Pacific/Apia", "Australia/Lord_Howe"]
        {
            let zone = try #require(TimeZone(identifier: name))
            var clock = WallClock(timeZone: zone)
            for seconds in stride(from: 0.0, through: 1_800_000_000, by: 7_777_777) {
                let instant = Date(timeIntervalSince1970: seconds)
                let timestamp = try #require(FMTimestamp(instant, in: zone))
                // A time that occurs twice is converted back to its first occurrence.
                let back = timestamp.instant(in: zone)
                #expect(
                    back == instant || FMTimestamp(back, in: zone) == timestamp && back < instant,
                    "\(name) \(seconds)"
                )
                #expect(timestamp.instant(offset: clock.offset(at: timestamp.secondsSinceEpoch)) == back)
                #expect(timestamp.instant(offset: clock.offset(at: timestamp.secondsSinceEpoch)) == back)
            }
        }
    }

    /// Zurich, 2024: clocks go from 02:00 to 03:00 on 31 March and from 03:00 to 02:00 on 27 October.
    @Test func hoursThatAreMissingOrComeTwice() throws {
        let zurich = try #require(TimeZone(identifier: "Europe/Zurich"))
        let missing = try #require(FMTimestamp("2024-03-31T02:30:00"))
        #expect(FMTimestamp(missing.instant(in: zurich), in: zurich)?.description == "2024-03-31T03:30:00")
        let twice = try #require(FMTimestamp("2024-10-27T02:30:00"))
        #expect(twice.instant(in: zurich) == Date(timeIntervalSince1970: 1_729_989_000))
        #expect(FMTimestamp("2024-10-27T03:00:00")?.instant(in: zurich) == Date(timeIntervalSince1970: 1_729_994_400))
        var clock = WallClock(timeZone: zurich)
        #expect(clock.offset(at: twice.secondsSinceEpoch) == 7_200)
        #expect(clock.offset(at: twice.secondsSinceEpoch + 86_400) == 3_600)
    }

    @Test func fractionsAndDistantInstants() throws {
        let timestamp = try #require(FMTimestamp(Date(timeIntervalSince1970: -0.25), in: .gmt))
        #expect(timestamp.description == "1969-12-31T23:59:59.75")
        let start = Date(timeIntervalSince1970: -62_135_596_800)
        #expect(FMTimestamp(start, in: .gmt)?.description == "0001-01-01T00:00:00")
        #expect(FMTimestamp(start.addingTimeInterval(-1), in: .gmt) == nil)
        #expect(FMTimestamp(Date(timeIntervalSince1970: .infinity), in: .gmt) == nil)
        #expect(FMTimestamp(Date(timeIntervalSince1970: .nan), in: .gmt) == nil)
        #expect(FMTimestamp(Date(timeIntervalSince1970: 1e11 * 9), in: .gmt) == nil)
        #expect(FMDate(Date(timeIntervalSince1970: 86_399), in: .gmt)?.description == "1970-01-01")
    }

    @Test func parts() throws {
        let timestamp = try #require(FMTimestamp(year: 2024, month: 1, day: 5, hour: 23, minute: 59, second: 59))
        #expect(timestamp.text(.us) == "01/05/2024 23:59:59")
        #expect(FMTimestamp(year: 2024, month: 1, day: 5, hour: 24) == nil)
        #expect(FMTimestamp(date: timestamp.date, time: FMTime(hours: 24)) == nil)
        #expect(FMTimestamp(date: timestamp.date, time: FMTime(hours: -1)) == nil)
        #expect(FMTimestamp(midnightOf: timestamp.date) < timestamp)
    }
}
