/// A date of the proleptic Gregorian calendar, 1 January 0001 to 31 December 4000 (FileMaker's limits).
struct CivilDate: Hashable, Comparable, Sendable {
    /// The days since 31 December 0000, so that 1 January 0001 is 1: FileMaker's own number of a date.
    let number: Int

    static let numbers = 1...1_460_970

    init?(number: Int) {
        guard Self.numbers.contains(number) else { return nil }
        self.number = number
    }

    init?(year: Int, month: Int, day: Int) {
        guard (1...4000).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.days(inMonth: month, year: year)
        else { return nil }
        number = Self.daysBefore(year: year) + Self.daysBefore(month: month, year: year) + day
    }

    static func < (left: CivilDate, right: CivilDate) -> Bool { left.number < right.number }

    static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    static func days(inMonth month: Int, year: Int) -> Int {
        [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    private static func daysBefore(year: Int) -> Int {
        let past = year - 1
        return past * 365 + past / 4 - past / 100 + past / 400
    }

    private static func daysBefore(month: Int, year: Int) -> Int {
        [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month - 1] + (month > 2 && isLeap(year) ? 1 : 0)
    }

    var components: (year: Int, month: Int, day: Int) {
        var year = number * 400 / 146_097 + 1
        while Self.daysBefore(year: year) >= number { year -= 1 }
        while Self.daysBefore(year: year + 1) < number { year += 1 }
        var month = 12
        while Self.daysBefore(year: year) + Self.daysBefore(month: month, year: year) >= number { month -= 1 }
        return (year, month, number - Self.daysBefore(year: year) - Self.daysBefore(month: month, year: year))
    }

    /// The day of the week; 0 is Sunday.
    var weekday: Int { number % 7 }
}

/// A duration or time of day, with a fraction of a second. FileMaker's time fields are durations: 25:00:00 and
/// −01:30:00 exist.
struct CivilTime: Hashable, Comparable, Sendable {
    var microseconds: Int

    static let second = 1_000_000
    static let minute = 60 * second
    static let hour = 60 * minute
    static let day = 24 * hour

    static func < (left: CivilTime, right: CivilTime) -> Bool { left.microseconds < right.microseconds }

    var hours: Int { abs(microseconds) / Self.hour }
    var minutes: Int { abs(microseconds) % Self.hour / Self.minute }
    var seconds: Int { abs(microseconds) % Self.minute / Self.second }
    var fraction: Int { abs(microseconds) % Self.second }
}

/// A date and a time of day without a time zone: the Data API sends the wall clock of its host.
struct CivilTimestamp: Hashable, Comparable, Sendable {
    var date: CivilDate
    /// From 0 to less than a day.
    var time: CivilTime

    static func < (left: CivilTimestamp, right: CivilTimestamp) -> Bool {
        (left.date, left.time) < (right.date, right.time)
    }

    /// Microseconds since the start of day 0.
    var microseconds: Int { date.number * CivilTime.day + time.microseconds }
}
