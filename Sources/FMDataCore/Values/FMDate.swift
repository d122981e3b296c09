public import Foundation

/// A day of the calendar, as in a FileMaker date field: without time and time zone.
///
/// A value is always an existing day between 0001-01-01 and 9999-12-31 (FileMaker itself ends at 4000-12-31).
///
/// In records it is decoded and encoded in the format of the request (``ValueOptions/format``). ISO 8601 is accepted on
/// reading with every format, because it is unambiguous. With other coders the format comes from
/// `userInfo[.fileMakerFormat]`; the default is US.
public struct FMDate: Hashable, Sendable {
    private let storedYear: Int16
    private let storedMonth: Int8
    private let storedDay: Int8

    /// The year: 1 to 9999.
    public var year: Int { Int(storedYear) }
    /// The month: 1 to 12.
    public var month: Int { Int(storedMonth) }
    /// The day of the month: 1 to 31.
    public var day: Int { Int(storedDay) }

    /// Creates a date; `nil` if there is no such day.
    public init?(year: Int, month: Int, day: Int) {
        guard
            (1...9999).contains(year), (1...12).contains(month),
            day >= 1, day <= CivilCalendar.days(inMonth: month, of: year)
        else { return nil }
        storedYear = Int16(year)
        storedMonth = Int8(month)
        storedDay = Int8(day)
    }

    /// `nil` if the day is outside 0001-01-01 … 9999-12-31.
    init?(dayNumber: Int) {
        guard (-719_162...2_932_896).contains(dayNumber) else { return nil }
        let day = CivilCalendar.day(dayNumber)
        self.init(year: day.year, month: day.month, day: day.day)
    }

    /// The number of days since 1970-01-01.
    var dayNumber: Int { CivilCalendar.dayNumber(year: year, month: month, day: day) }

    /// The day of the week, from 1 for Sunday to 7 for Saturday, as FileMaker's `DayOfWeek` counts.
    public var weekday: Int {
        let days = dayNumber + 4
        return days - CivilCalendar.floorDivide(days, 7) * 7 + 1
    }

    /// The date this number of days later, or earlier for a negative number; `nil` outside of the calendar.
    public func adding(days: Int) -> FMDate? {
        let (sum, overflow) = dayNumber.addingReportingOverflow(days)
        return overflow ? nil : FMDate(dayNumber: sum)
    }

    /// The number of days from this date to the other; negative if the other is earlier.
    public func days(to other: FMDate) -> Int { other.dayNumber - dayNumber }
}

extension FMDate: Comparable {
    /// Whether the left date is earlier.
    public static func < (left: FMDate, right: FMDate) -> Bool {
        (left.storedYear, left.storedMonth, left.storedDay) < (right.storedYear, right.storedMonth, right.storedDay)
    }
}

extension FMDate {
    /// Reads a date in a format, or in ISO 8601; `nil` if the text is not a date. Leading zeros may be missing.
    public init?(_ text: some StringProtocol, format: ValueFormat) {
        var text = String(text)
        guard let date = text.withUTF8({ FMDate.read($0, format) }) else { return nil }
        self = date
    }

    /// The date as text, zero-padded according to the format's pattern.
    public func text(_ format: ValueFormat) -> String {
        var fields = CivilFields()
        fields.date = self
        return fields.text(format.date)
    }
}

extension FMDate: LosslessStringConvertible {
    /// ISO 8601: `2024-01-05`.
    public var description: String { text(.iso) }

    /// Reads ISO 8601: `2024-01-05`.
    public init?(_ description: String) { self.init(description, format: .iso) }
}

extension FMDate {
    /// The date of an instant in a time zone; `nil` for instants before year 1 or after 9999.
    public init?(_ instant: Date, in timeZone: TimeZone) {
        guard let timestamp = FMTimestamp(instant, in: timeZone) else { return nil }
        self = timestamp.date
    }

    /// The first instant of the day in a time zone.
    public func instant(in timeZone: TimeZone) -> Date {
        FMTimestamp(midnightOf: self).instant(in: timeZone)
    }
}

extension FMDate: CivilValue {
    static func pattern(of format: ValueFormat) -> CivilPattern { format.date }

    init?(_ fields: CivilFields) {
        self.init(year: fields.year, month: fields.month, day: fields.day)
    }
}

extension FMDate: Codable {
    /// Reads a date from its text, in the format of the request or in ISO 8601.
    public init(from decoder: any Decoder) throws {
        self = try decoder.decodeCivil()
    }

    /// Writes the date as text in the format of the request.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encodeCivil(text(encoder.fileMakerFormat))
    }
}
