import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

@Suite struct CivilTimeTests {
    @Test(.thorough) func everyDayOfTheCalendarHasItsNumber() throws {
        var expected = 0
        var wrong: [CivilDate] = []
        for year in 1...4000 {
            for month in 1...12 {
                for day in 1...CivilDate.days(inMonth: month, year: year) where day == 1 || month == 2 || day > 28 {
                    let date = try #require(CivilDate(year: year, month: month, day: day))
                    if date.components != (year, month, day) || date.number != expected + day { wrong.append(date) }
                }
                expected += CivilDate.days(inMonth: month, year: year)
            }
        }
        #expect(wrong.isEmpty)
        #expect(expected == CivilDate.numbers.upperBound)
    }

    @Test func impossibleDaysDoNotExist() {
        for (year, month, day) in [(2023, 2, 29), (1900, 2, 29), (2024, 4, 31), (2024, 13, 1), (0, 1, 1), (4001, 1, 1)]
        {
            #expect(CivilDate(year: year, month: month, day: day) == nil)
        }
    }

    @Test func weekdaysAreThoseOfTheCalendar() throws {
        // 1 January 2025 was a Wednesday, 29 February 2024 a Thursday.
        #expect(try #require(CivilDate(year: 2025, month: 1, day: 1)).weekday == 3)
        #expect(try #require(CivilDate(year: 2024, month: 2, day: 29)).weekday == 4)
    }

    @Test(
        arguments: [
            ("05:06:07", "05:06:07"), ("5:6:7", "05:06:07"), ("12:30", "12:30:00"), ("5 pm", "17:00:00"),
            ("12:15 AM", "00:15:00"), ("12:15pm", "12:15:00"), ("25:00:00", "25:00:00"), ("-1:30:00", "-01:30:00"),
            ("0:75", "01:15:00"), ("1:02:03.250", "01:02:03.25"), ("100:00:00", "100:00:00"),
        ]
    )
    func timesAreReadAndWritten(_ text: String, _ written: String) {
        #expect(CivilTime(text: text)?.text == written)
    }

    @Test(arguments: ["", ":", "x", "1:2:3:4", "13 pm", "0 am", "1:-2", "99999999:00", "1.5:00"])
    func othersAreNoTimes(_ text: String) {
        #expect(CivilTime(text: text) == nil)
    }

    @Test func datesFollowTheNotation() throws {
        let date = try #require(CivilDate(year: 2024, month: 3, day: 9))
        let german = DateNotation.file(try #require(FileDateFormat(pattern: "dd.MM.yyyy")))
        for (notation, text) in [(DateNotation.us, "03/09/2024"), (.iso(), "2024-03-09"), (german, "09.03.2024")] {
            #expect(notation.write(date) == text)
            #expect(notation.date(from: text) == date)
        }
        #expect(DateNotation.us.date(from: "3/9/24") == date)
        #expect(DateNotation.us.date(from: "31/12/2024") == nil)
        #expect(DateNotation.us.date(from: "2024-03-09") == nil)
        #expect(DateNotation.us.date(from: "3/9") == nil)
    }

    @Test func timestampsFollowTheNotation() throws {
        let timestamp = try #require(DateNotation.us.timestamp(from: "3/9/2024 1:02:03 PM"))
        #expect(DateNotation.us.write(timestamp) == "03/09/2024 13:02:03")
        #expect(DateNotation.iso().write(timestamp) == "2024-03-09T13:02:03")
        #expect(DateNotation.iso(.space).write(timestamp) == "2024-03-09 13:02:03")
        #expect(DateNotation.iso().timestamp(from: "2024-03-09T13:02:03") == timestamp)
        #expect(DateNotation.iso().timestamp(from: "2024-03-09 13:02:03") == timestamp)
        #expect(DateNotation.us.timestamp(from: "3/9/2024 25:00:00") == nil)
    }

    @Test func theWallClockFollowsTheZone() throws {
        let noon = Date(timeIntervalSince1970: 1_736_942_400)
        #expect(DateNotation.us.write(CivilTimestamp(noon, in: .gmt)) == "01/15/2025 12:00:00")
        let east = try #require(TimeZone(secondsFromGMT: 13 * 3600))
        #expect(DateNotation.us.write(CivilTimestamp(noon, in: east)) == "01/16/2025 01:00:00")
        #expect(
            DateNotation.us.write(CivilTimestamp(Date(timeIntervalSince1970: -1), in: .gmt)) == "12/31/1969 23:59:59"
        )
    }

    @Test(arguments: ["", "dd", "yyyy/MM", "dd.MM.yy", "dd.dd.yyyy"])
    func aBrokenPatternIsNoFormat(_ pattern: String) {
        #expect(FileDateFormat(pattern: pattern) == nil)
    }
}
