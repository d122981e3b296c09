public import Foundation

/// A day and a time of that day, as a FileMaker timestamp field holds them: wall time of the host, without a time zone.
///
/// In records it decodes and encodes in the format of the request (``ValueOptions/format``); ISO 8601, with `T` or a
/// space, is accepted on reading whatever the format. With other coders the format comes from
/// `userInfo[.fileMakerFormat]`, US if nothing is set.
public struct FMTimestamp: Hashable, Sendable {
    /// The day.
    public let date: FMDate
    /// From 00:00:00 to just before 24:00:00.
    public let time: FMTime

    /// `nil` when the time is negative or 24 hours and more.
    public init?(date: FMDate, time: FMTime) {
        guard !time.isNegative, time.hours < 24 else { return nil }
        self.date = date
        self.time = time
    }

    /// `nil` when there is no such day or no such time of day.
    public init?(
        year: Int,
        month: Int,
        day: Int,
        hour: Int = 0,
        minute: Int = 0,
        second: Int = 0,
        nanosecond: Int = 0
    ) {
        guard
            let date = FMDate(year: year, month: month, day: day),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second),
            (0...999_999_999).contains(nanosecond)
        else { return nil }
        self.date = date
        time = FMTime(hours: hour, minutes: minute, seconds: second, nanoseconds: nanosecond)
    }

    init(midnightOf date: FMDate) {
        self.date = date
        time = FMTime(totalNanoseconds: 0)
    }
}

extension FMTimestamp {
    /// So much later, or earlier; the nearest end of the calendar where that lies outside of it.
    func moved(by span: Duration) -> FMTimestamp {
        let day = 86_400 * 1_000_000_000
        let (sum, overflow) = time.totalNanoseconds.addingReportingOverflow(FMTime(span).totalNanoseconds)
        guard !overflow else { return self }
        let days = (sum - (sum < 0 ? day - 1 : 0)) / day
        guard let date = FMDate(dayNumber: date.dayNumber + days) else { return self }
        return FMTimestamp(date: date, time: FMTime(totalNanoseconds: sum - days * day)) ?? self
    }
}

extension FMTimestamp: Comparable {
    /// Earlier or later: by the day, then by the time.
    public static func < (left: FMTimestamp, right: FMTimestamp) -> Bool {
        (left.date, left.time) < (right.date, right.time)
    }
}

extension FMTimestamp {
    /// Reads a timestamp in a format; `nil` when the text is not one. Leading zeros may be missing.
    public init?(_ text: some StringProtocol, format: ValueFormat) {
        var text = String(text)
        guard let timestamp = text.withUTF8({ FMTimestamp.read($0, format) }) else { return nil }
        self = timestamp
    }

    /// The timestamp as text, with a fraction of a second when there is one.
    public func text(_ format: ValueFormat) -> String {
        var fields = CivilFields()
        fields.date = date
        fields.time = time
        return fields.text(format.timestamp)
    }
}

extension FMTimestamp: LosslessStringConvertible {
    /// ISO 8601: `2024-01-05T06:00:00`.
    public var description: String { text(.iso) }

    /// Reads ISO 8601, with `T` or a space: `2024-01-05T06:00:00`.
    public init?(_ description: String) { self.init(description, format: .iso) }
}

extension FMTimestamp {
    /// What clock and calendar show at an instant in a time zone; `nil` for instants before year 1 or after 9999.
    ///
    /// A `Date` holds a binary fraction: the nanoseconds are what it says, to the microsecond.
    public init?(_ instant: Date, in timeZone: TimeZone) {
        let seconds = instant.timeIntervalSince1970 + Double(timeZone.secondsFromGMT(for: instant))
        guard seconds.magnitude < 1e12 else { return nil }
        let microseconds = Int((seconds * 1_000_000).rounded())
        let dayNumber = CivilCalendar.floorDivide(microseconds, CivilCalendar.secondsPerDay * 1_000_000)
        guard let date = FMDate(dayNumber: dayNumber) else { return nil }
        self.date = date
        time = FMTime(
            totalNanoseconds: (microseconds - dayNumber * CivilCalendar.secondsPerDay * 1_000_000) * 1_000
        )
    }

    /// The instant at which clock and calendar of a time zone show this.
    ///
    /// When clocks are set back a wall time comes twice: the first one counts. When they are set forward some wall
    /// times do not exist: such a time moves forward by the length of the gap.
    public func instant(in timeZone: TimeZone) -> Date {
        instant(offset: WallClock.offset(at: secondsSinceEpoch, in: timeZone))
    }

    func instant(offset: Int) -> Date {
        Date(
            timeIntervalSince1970: Double(secondsSinceEpoch - offset) + Double(time.nanoseconds) / 1_000_000_000
        )
    }

    /// Whole seconds since 1970-01-01 00:00:00, as if the wall time were GMT.
    var secondsSinceEpoch: Int {
        date.dayNumber * CivilCalendar.secondsPerDay + time.hours * 3_600 + time.minutes * 60 + time.seconds
    }
}

extension FMTimestamp: CivilValue {
    static func pattern(of format: ValueFormat) -> CivilPattern { format.timestamp }

    init?(_ fields: CivilFields) {
        guard let date = FMDate(fields), fields.hour < 24, !fields.isNegative else { return nil }
        self.date = date
        time = fields.time
    }
}

extension FMTimestamp: Codable {
    /// Reads a timestamp from its text, in the format of the request or in ISO 8601.
    public init(from decoder: any Decoder) throws {
        self = try decoder.decodeCivil()
    }

    /// Writes the timestamp as text in the format of the request.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encodeCivil(text(encoder.fileMakerFormat))
    }
}
