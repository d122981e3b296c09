import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

@Suite struct FMDateTests {
    @Test func onlyDaysThatExist() {
        #expect(FMDate(year: 2024, month: 2, day: 29) != nil)
        for (year, month, day) in [
            (2023, 2, 29), (1900, 2, 29), (2024, 4, 31), (2024, 13, 1), (2024, 0, 1), (2024, 1, 0), (0, 1, 1),
            (10_000, 1, 1),
        ] {
            #expect(FMDate(year: year, month: month, day: day) == nil)
        }
        #expect(FMDate(year: 2000, month: 2, day: 29) != nil)
    }

    /// Compares with Foundation's calendar over the whole range.
    @Test func calendarArithmetic() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for dayNumber in stride(from: -141_427, through: 2_932_896, by: 997) {
            let date = try #require(FMDate(dayNumber: dayNumber))
            let instant = Date(timeIntervalSince1970: Double(dayNumber) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: instant)
            #expect(
                [date.year, date.month, date.day, date.weekday] == [parts.year, parts.month, parts.day, parts.weekday]
            )
            #expect(date.dayNumber == dayNumber)
        }
        #expect(FMDate(dayNumber: -719_162)?.description == "0001-01-01")
        #expect(FMDate(dayNumber: 2_932_896)?.description == "9999-12-31")
        #expect(FMDate(dayNumber: -719_163) == nil)
        #expect(FMDate(dayNumber: 2_932_897) == nil)
    }

    @Test func counting() throws {
        let date = try #require(FMDate("2024-02-28"))
        #expect(date.adding(days: 2)?.description == "2024-03-01")
        #expect(date.adding(days: -59)?.description == "2023-12-31")
        #expect(date.adding(days: .max) == nil)
        #expect(date.days(to: try #require(FMDate("2025-02-28"))) == 366)
    }

    @Test(arguments: [
        ("01/05/2024", "2024-01-05"), ("1/5/2024", "2024-01-05"), ("12/31/1999", "1999-12-31"),
        ("1/1/0001", "0001-01-01"),
        ("2024-01-05", "2024-01-05"), ("02/30/2024", nil), ("05.01.2024", nil), ("", nil), ("1/5/", nil),
        ("1/5/2024 ", nil), ("1/5/24", nil), ("1/5/4", nil), ("1/5/024", nil), ("24-01-05", nil),
        ("+1/5/2024", nil), ("1/5/20245", nil), ("001/5/2024", nil), ("١/٥/٢٠٢٤", nil), ("0a/05/2024", nil),
        ("01-05-2024", nil),
    ])
    func readsUS(_ text: String, _ expected: String?) {
        #expect(FMDate(text, format: .us)?.description == expected)
    }

    /// In the 30 years after 2026, otherwise in the past.
    @Test(arguments: [(24, 2024), (26, 2026), (56, 2056), (57, 1957), (99, 1999), (0, 2000)])
    func yearsOfTwoDigits(_ digits: Int, _ year: Int) throws {
        struct Row: Decodable, Equatable {
            var day: FMDate
            var timestamp: FMTimestamp
            var date: Date
        }
        var options = DecodingOptions()
        let text = "01/05/" + (digits < 10 ? "0" : "") + "\(digits)"
        let json = #"{"day":"\#(text)","timestamp":"\#(text) 06:00:00","date":"\#(text)"}"#
        let failure = try #require(throws: DecodingFailure.self) {
            try FMDecoder(options: options).decodeFields(Row.self, from: json.utf8)
        }
        expectNoDifference(failure.reason, #"expected FMDate, written "MM/dd/yyyy", found another text."#)
        options.values.shortYears = .asFileMaker(in: 2026)
        let row = try FMDecoder(options: options).decodeFields(Row.self, from: json.utf8)
        let day = try #require(FMDate(year: year, month: 1, day: 5))
        expectNoDifference(row.day, day)
        expectNoDifference(row.timestamp.date, day)
        expectNoDifference(row.date, day.instant(in: .gmt))
    }

    @Test func patterns() throws {
        let date = try #require(FMDate("2024-01-05"))
        for (pattern, text) in [
            ("dd.MM.yyyy", "05.01.2024"), ("d/M/yyyy", "5/1/2024"), ("yyyy年M月d日", "2024年1月5日"),
            ("yyyyMMdd", "20240105"),
            ("'den' d. M. yyyy", "den 5. 1. 2024"), ("yyyy-MM-dd''", "2024-01-05'"), ("d-M-y", "5-1-2024"),
        ] {
            let format = try ValueFormat(date: pattern)
            #expect(date.text(format) == text)
            #expect(FMDate(text, format: format) == date)
            #expect(FMDate("2024-01-05", format: format) == date)
        }
    }

    @Test(arguments: [
        "dd.MM.yy", "dd.MM", "MM/dd/yyyy HH", "QQ/dd/yyyy", "dd/dd/MM/yyyy", "'dd.MM.yyyy", "MMM/dd/yyyy", "",
    ])
    func refusesPatterns(_ pattern: String) {
        #expect(throws: ValueFormat.PatternError.self) { try ValueFormat(date: pattern) }
    }

    @Test func coding() throws {
        let date = try #require(FMDate("2024-01-05"))
        #expect(String(decoding: try JSONEncoder().encode([date]), as: UTF8.self) == #"["01\/05\/2024"]"#)
        #expect(
            try JSONDecoder().decode([FMDate].self, from: Data(#"["01/05/2024","2024-01-05"]"#.utf8)) == [date, date]
        )
        let encoder = JSONEncoder()
        encoder.userInfo[.fileMakerFormat] = ValueFormat.iso
        #expect(String(decoding: try encoder.encode([date]), as: UTF8.self) == #"["2024-01-05"]"#)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([FMDate].self, from: Data(#"["x"]"#.utf8)) }
    }

    @Test func order() throws {
        let dates = ["2023-12-31", "2024-01-01", "2024-01-02", "2024-02-01"].compactMap(FMDate.init(_:))
        #expect(dates.shuffled().sorted() == dates)
    }
}
