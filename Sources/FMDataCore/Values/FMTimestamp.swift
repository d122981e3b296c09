public import Foundation

/// A day and a time of that day, as in a FileMaker timestamp field: wall time of the host, without a time zone.
///
/// In records it is decoded and encoded in the format of the request (``ValueOptions/format``). ISO 8601, with `T` or a
/// space, is accepted on reading with every format. With other coders the format comes from
/// `userInfo[.fileMakerFormat]`; the default is US.
public struct FMTimestamp: Hashable, Sendable {
    /// The day.
    public let date: FMDate
    /// The time of the day: from 00:00:00 to just before 24:00:00.
    public let time: FMTime

    /// Creates a timestamp; `nil` if the time is negative, or 24 hours or more.
    public init?(date: FMDate, time: FMTime) {
        guard !time.isNegative, time.hours < 24 else { return nil }
        self.date = date
        self.time = time
    }

    /// Creates a timestamp; `nil` if there is no such day or no such time of day.
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
    /// The timestamp this much later, or earlier for a negative span; unchanged if the result would be outside of the
    /// calendar.
    package func moved(by span: Duration) -> FMTimestamp {
        let day = 86_400 * 1_000_000_000
        let (sum, overflow) = time.totalNanoseconds.addingReportingOverflow(FMTime(span).totalNanoseconds)
        guard !overflow else { return self }
        let days = (sum - (sum < 0 ? day - 1 : 0)) / day
        guard let date = FMDate(dayNumber: date.dayNumber + days) else { return self }
        return FMTimestamp(date: date, time: FMTime(totalNanoseconds: sum - days * day)) ?? self
    }
}

extension FMTimestamp: Comparable {
    /// Whether the left timestamp is earlier: by day, then by time.
    public static func < (left: FMTimestamp, right: FMTimestamp) -> Bool {
        (left.date, left.time) < (right.date, right.time)
    }
}

extension FMTimestamp {
    /// Reads a timestamp in a format, or in ISO 8601; `nil` if the text is not a timestamp. Leading zeros may be
    /// missing.
    public init?(_ text: some StringProtocol, format: ValueFormat) {
        var text = String(text)
        guard let timestamp = text.withUTF8({ FMTimestamp.read($0, format) }) else { return nil }
        self = timestamp
    }

    /// The timestamp as text, with a fraction of a second if there is one.
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
    /// The wall time of an instant in a time zone; `nil` for instants before year 1 or after 9999.
    ///
    /// A `Date` is a binary fraction, so the nanoseconds are rounded to whole microseconds.
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

    /// The instant at which the clocks of a time zone show this wall time.
    ///
    /// If clocks are set back, a wall time occurs twice, and the first one counts. If they are set forward, some wall
    /// times do not exist; such a time is moved forward by the length of the gap.
    public func instant(in timeZone: TimeZone) -> Date {
        instant(offset: WallClock.offset(at: secondsSinceEpoch, in: timeZone))
    }

    func instant(offset: Int) -> Date {
        Date(
            timeIntervalSince1970: Double(secondsSinceEpoch - offset) + Double(time.nanoseconds) / 1_000_000_000
        )
    }

    /// The whole seconds since 1970-01-01 00:00:00, as if the wall time were GMT.
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
