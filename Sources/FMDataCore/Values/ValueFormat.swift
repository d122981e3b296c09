/// How dates, times and timestamps are written: the request's `dateformats`.
///
/// ``us`` is the server's default (`dateformats` 0), ``iso`` is ISO 8601 (`dateformats` 2). For the locale of the
/// hosted file (`dateformats` 1), give the file's patterns:
///
///     let german = try ValueFormat(date: "dd.MM.yyyy")
///
/// Source: Claris Data API guide, "Get a single record", request parameter `dateformats`.
public struct ValueFormat: Hashable, Sendable {
    /// The US format: `MM/dd/yyyy`, `HH:mm:ss`, `MM/dd/yyyy HH:mm:ss`.
    public static let us = ValueFormat(
        date: [.month(2), .literal("/"), .day(2), .literal("/"), .year(4)],
        time: clock,
        separator: " "
    )

    /// The ISO 8601 format: `yyyy-MM-dd`, `HH:mm:ss`, `yyyy-MM-ddTHH:mm:ss`. On reading, a space is accepted instead of
    /// the `T`.
    public static let iso = ValueFormat(
        date: [.year(4), .literal("-"), .month(2), .literal("-"), .day(2)],
        time: clock,
        separator: "T"
    )

    private static let clock: [CivilPattern.Piece] = [.hour(2), .literal(":"), .minute(2), .literal(":"), .second(2)]

    let date: CivilPattern
    let time: CivilPattern
    let timestamp: CivilPattern

    private init(date: [CivilPattern.Piece], time: [CivilPattern.Piece], separator: String) {
        let isISO = separator == "T"
        self.date = CivilPattern(pieces: date, fixedLayout: .init(isISO: isISO, hasDate: true, hasTime: false))
        self.time = CivilPattern(pieces: time, fixedLayout: .init(isISO: isISO, hasDate: false, hasTime: true))
        timestamp = CivilPattern(
            pieces: date + [.literal(separator)] + time,
            fixedLayout: .init(isISO: isISO, hasDate: true, hasTime: true)
        )
    }

    /// Creates a format from patterns, as `productInfo` reports them.
    ///
    /// The letters are `yyyy` for the year, `M` or `MM` for the month, `d` or `dd` for the day, `H` or `HH` for the
    /// hour, `h` or `hh` for the hour of twelve with `a` for AM or PM, `m` or `mm` for the minute, and `s` or `ss` for
    /// the second. Text between apostrophes and all characters that are no letters stand for themselves. Doubled
    /// letters are padded with a zero on writing; reading accepts both. A fraction of a second needs no letter: it is
    /// read and written if there is one.
    ///
    /// - Parameters:
    ///   - date: The pattern of dates.
    ///   - time: The pattern of times. The default is `HH:mm:ss`.
    ///   - timestamp: The pattern of timestamps. The default is date and time with a space between them.
    /// - Throws: ``PatternError`` if a pattern lacks a part, has a part twice, has an unknown letter, or has a year of
    ///   two digits, which cannot be read back.
    public init(date: String, time: String = "HH:mm:ss", timestamp: String? = nil) throws(PatternError) {
        self.date = try CivilPattern(date, needing: .date)
        self.time = try CivilPattern(time, needing: .time)
        self.timestamp = try CivilPattern(timestamp ?? date + " " + time, needing: .timestamp)
    }

    /// A pattern that cannot be used.
    public struct PatternError: Error, Hashable, CustomStringConvertible {
        /// The pattern as it was given.
        public let pattern: String
        /// What is wrong with it.
        public let reason: String

        /// The pattern and what is wrong with it.
        public var description: String { "The pattern \"\(pattern)\" cannot be used: \(reason)." }
    }
}
