public import Foundation

/// How values are written on the wire, for reading and writing alike.
public struct ValueOptions: Hashable, Sendable {
    /// The format of dates, times and timestamps: what the request's `dateformats` asks for. The default is ``ValueFormat/us``.
    public var format: ValueFormat
    /// The time zone in which a timestamp becomes a `Date` and back. The server says nothing about its zone, so the
    /// default is GMT: the wall time as it stands, the same on every machine. Give the host's zone for true instants.
    public var timeZone: TimeZone
    /// What separates whole and fraction in numbers that come as text: `.` by default, `,` for files made in such a
    /// locale. JSON numbers always use a point.
    public var decimalSeparator: DecimalSeparator

    /// US dates, GMT and a decimal point, unless said otherwise.
    public init(
        format: ValueFormat = .us,
        timeZone: TimeZone = .gmt,
        decimalSeparator: DecimalSeparator = .point
    ) {
        self.format = format
        self.timeZone = timeZone
        self.decimalSeparator = decimalSeparator
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
