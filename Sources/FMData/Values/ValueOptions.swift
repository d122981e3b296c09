public import Foundation

/// How values are written on the wire, for reading and writing alike.
public struct ValueOptions: Hashable, Sendable {
    /// The format of dates, times and timestamps: what the request's `dateformats` asks for. The default is
    /// ``ValueFormat/us``, and in the options of a ``DataAPI/Config`` what its ``DataAPI/Config/dateFormats`` say.
    public var format: ValueFormat {
        get { givenFormat ?? .us }
        set { givenFormat = newValue }
    }
    /// The time zone in which a timestamp becomes a `Date` and back. The server says nothing about its zone, so the
    /// default is GMT: the wall time as it stands, the same on every machine. Give the host's zone for true instants.
    public var timeZone: TimeZone
    /// What separates whole and fraction in numbers that come as text: `.` by default, `,` for files made in such a
    /// locale. JSON numbers always use a point.
    public var decimalSeparator: DecimalSeparator
    /// What a year of two digits means in a date that is read. The default is ``ShortYears/refuse``: FileMaker's hosts write
    /// four digits, so that two of them were typed somewhere else.
    public var shortYears = ShortYears.refuse

    /// `nil` until it is set, so that a configuration can tell a choice from the default.
    private(set) var givenFormat: ValueFormat?

    /// US dates, GMT and a decimal point, unless said otherwise.
    ///
    /// - Parameters:
    ///   - format: `nil`, the default, is ``ValueFormat/us``, or what a configuration says that the options are put
    ///     into.
    ///   - timeZone: the zone of timestamps. The default is GMT.
    ///   - decimalSeparator: what separates whole and fraction in numbers that come as text. The default is a point.
    public init(
        format: ValueFormat? = nil,
        timeZone: TimeZone = .gmt,
        decimalSeparator: DecimalSeparator = .point
    ) {
        givenFormat = format
        self.timeZone = timeZone
        self.decimalSeparator = decimalSeparator
    }

    /// The same format, whether it was given or is the default, the same zone and separator.
    public static func == (lhs: ValueOptions, rhs: ValueOptions) -> Bool {
        lhs.format == rhs.format && lhs.timeZone == rhs.timeZone && lhs.decimalSeparator == rhs.decimalSeparator
            && lhs.shortYears == rhs.shortYears
    }

    /// The same for equal options.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(format)
        hasher.combine(timeZone)
        hasher.combine(decimalSeparator)
        hasher.combine(shortYears)
    }

    /// What a year of two digits means.
    public enum ShortYears: Hashable, Sendable {
        /// Nothing: the date is an error.
        case refuse
        /// What FileMaker takes it for in the given year: one of the 30 years after it, or else of the years before. In
        /// 2026, 56 is 2056 and 57 is 1957.
        case asFileMaker(in: Int)

        /// What FileMaker takes it for today.
        public static var asFileMaker: ShortYears {
            .asFileMaker(in: FMTimestamp(Date(), in: .gmt)?.date.year ?? 2000)
        }

        func year(_ digits: Int) -> Int? {
            guard case .asFileMaker(let now) = self, (1...9_900).contains(now) else { return nil }
            let last = now + 30
            // The last year with these digits that is not beyond it.
            return last - ((last - digits) % 100 + 100) % 100
        }
    }

    /// The sign between the whole and the fraction of a number.
    public enum DecimalSeparator: String, Hashable, Sendable {
        /// `1.5`
        case point = "."
        /// `1,5`
        case comma = ","

        var byte: UInt8 { self == .point ? UInt8(ascii: ".") : UInt8(ascii: ",") }
    }
}
