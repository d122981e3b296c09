public import Foundation

/// How values are written in JSON, for both reading and writing.
public struct ValueOptions: Hashable, Sendable {
    /// The format of dates, times and timestamps, which corresponds to the request's `dateformats`. The default is
    /// ``ValueFormat/us``; in the options of a ``DataAPI/Config`` it follows ``DataAPI/Config/dateFormats``.
    public var format: ValueFormat {
        get { givenFormat ?? .us }
        set { givenFormat = newValue }
    }
    /// The time zone for converting timestamps to `Date` and back. The server does not send its zone, so the default is
    /// GMT: the wall time without conversion, the same on every machine. Set the host's zone to get true instants.
    public var timeZone: TimeZone
    /// The separator between whole and fraction in numbers that come as text: `.` by default, `,` for files created in
    /// such a locale. JSON numbers always use a point.
    public var decimalSeparator: DecimalSeparator
    /// The meaning of a two-digit year in a date that is read. The default is ``ShortYears/refuse``: FileMaker's hosts
    /// write four digits, so two digits were typed elsewhere.
    public var shortYears = ShortYears.refuse

    /// `nil` until it is set, so that a configuration can distinguish a choice from the default.
    private(set) var givenFormat: ValueFormat?

    /// Creates options. The defaults are US dates, GMT and a decimal point.
    ///
    /// - Parameters:
    ///   - format: `nil`, the default, is ``ValueFormat/us``, or the format of the configuration that the options are
    ///     used in.
    ///   - timeZone: the zone of timestamps. The default is GMT.
    ///   - decimalSeparator: the separator between whole and fraction in numbers that come as text. The default is a
    ///     point.
    public init(
        format: ValueFormat? = nil,
        timeZone: TimeZone = .gmt,
        decimalSeparator: DecimalSeparator = .point
    ) {
        givenFormat = format
        self.timeZone = timeZone
        self.decimalSeparator = decimalSeparator
    }

    /// Whether format, zone, separator and short years are equal. It makes no difference whether the format was set or
    /// is the default.
    public static func == (lhs: ValueOptions, rhs: ValueOptions) -> Bool {
        lhs.format == rhs.format && lhs.timeZone == rhs.timeZone && lhs.decimalSeparator == rhs.decimalSeparator
            && lhs.shortYears == rhs.shortYears
    }

    /// Hashes the format, whether it was set or is the default, and the other settings.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(format)
        hasher.combine(timeZone)
        hasher.combine(decimalSeparator)
        hasher.combine(shortYears)
    }

    /// The meaning of a two-digit year.
    public enum ShortYears: Hashable, Sendable {
        /// It has no meaning: such a date is an error.
        case refuse
        /// FileMaker's rule in the given year: the year is one of the next 30 years, or else an earlier one. In 2026,
        /// 56 is 2056 and 57 is 1957.
        case asFileMaker(in: Int)

        /// FileMaker's rule in the current year.
        public static var asFileMaker: ShortYears {
            .asFileMaker(in: FMTimestamp(Date(), in: .gmt)?.date.year ?? 2000)
        }

        func year(_ digits: Int) -> Int? {
            guard case .asFileMaker(let now) = self, (1...9_900).contains(now) else { return nil }
            let last = now + 30
            // The latest year with these digits that is not after `last`.
            return last - ((last - digits) % 100 + 100) % 100
        }
    }

    /// The character between the whole and the fraction of a number.
    public enum DecimalSeparator: String, Hashable, Sendable {
        /// A point: `1.5`.
        case point = "."
        /// A comma: `1,5`.
        case comma = ","

        var byte: UInt8 { self == .point ? UInt8(ascii: ".") : UInt8(ascii: ",") }
    }
}
