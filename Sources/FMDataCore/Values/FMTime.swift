/// A FileMaker time. It is a duration rather than a time of day, since it may exceed 24 hours and be negative.
///
/// The resolution is one nanosecond; further digits are cut off. The range is that of an `Int` of seconds, far more
/// than the 2,147,483,647 hours that FileMaker holds.
///
/// In records it is decoded and encoded as `HH:mm:ss`, or in the request's format, with a fraction if there is one.
/// With other coders the format comes from `userInfo[.fileMakerFormat]`; the default is US.
public struct FMTime: Hashable, Sendable {
    private static let unit = 1_000_000_000

    /// The whole seconds and the remaining nanoseconds; they never have different signs.
    private let wholeSeconds: Int
    private let fraction: Int

    /// - Parameters:
    ///   - wholeSeconds: any number of seconds.
    ///   - fraction: nanoseconds of any sign, less than a second.
    init(wholeSeconds: Int, fraction: Int) {
        if wholeSeconds > 0, fraction < 0 {
            (self.wholeSeconds, self.fraction) = (wholeSeconds - 1, fraction + FMTime.unit)
        } else if wholeSeconds < 0, fraction > 0 {
            (self.wholeSeconds, self.fraction) = (wholeSeconds + 1, fraction - FMTime.unit)
        } else {
            (self.wholeSeconds, self.fraction) = (wholeSeconds, fraction)
        }
    }

    /// Creates a time of this number of nanoseconds.
    public init(totalNanoseconds: Int) {
        wholeSeconds = totalNanoseconds / FMTime.unit
        fraction = totalNanoseconds % FMTime.unit
    }

    /// Creates the sum of the parts, each of any size and sign. A sum out of range becomes the nearest end of the
    /// range.
    public init(hours: Int = 0, minutes: Int = 0, seconds: Int = 0, nanoseconds: Int = 0) {
        let parts = [(hours, 3_600), (minutes, 60), (seconds, 1)]
        let sum = parts.reduce(nanoseconds / FMTime.unit) { sum, part in
            let (product, overflow) = part.0.multipliedReportingOverflow(by: part.1)
            return FMTime.saturatingAdd(sum, overflow ? (part.0 < 0 ? .min : .max) : product)
        }
        self.init(wholeSeconds: sum, fraction: nanoseconds % FMTime.unit)
    }

    /// Creates a time from a duration, cut to whole nanoseconds.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(wholeSeconds: Int(seconds), fraction: Int(attoseconds / 1_000_000_000))
    }

    private static func saturatingAdd(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? (right < 0 ? .min : .max) : sum
    }

    /// The whole time in nanoseconds; negative for a negative time. Beyond ±2,562,047 hours, the limit of an `Int`, it
    /// is the nearest limit; ``duration`` is exact for all times.
    public var totalNanoseconds: Int {
        let (product, overflow) = wholeSeconds.multipliedReportingOverflow(by: FMTime.unit)
        return overflow ? (isNegative ? .min : .max) : FMTime.saturatingAdd(product, fraction)
    }

    /// The time as a `Duration`.
    public var duration: Duration { .seconds(wholeSeconds) + .nanoseconds(fraction) }

    /// Whether the time is less than zero.
    public var isNegative: Bool { wholeSeconds < 0 || fraction < 0 }
    /// The whole hours of the time without its sign; may exceed 23.
    public var hours: Int { Int(magnitude / 3_600) }
    /// The minutes of the hour: 0 to 59.
    public var minutes: Int { Int(magnitude / 60 % 60) }
    /// The seconds of the minute: 0 to 59.
    public var seconds: Int { Int(magnitude % 60) }
    /// The fraction of the second: 0 to 999,999,999.
    public var nanoseconds: Int { abs(fraction) }

    /// The whole seconds without the sign.
    private var magnitude: UInt { wholeSeconds.magnitude }
}

extension FMTime: Comparable {
    /// Whether the left time is shorter; a negative time is shorter than zero.
    public static func < (left: FMTime, right: FMTime) -> Bool {
        (left.wholeSeconds, left.fraction) < (right.wholeSeconds, right.fraction)
    }
}

extension FMTime {
    /// Reads a time in a format, or as `HH:mm:ss`; `nil` if the text is not a time. Leading zeros and the seconds may
    /// be missing.
    public init?(_ text: some StringProtocol, format: ValueFormat) {
        var text = String(text)
        guard let time = text.withUTF8({ FMTime.read($0, format) }) else { return nil }
        self = time
    }

    /// The time as text, with a fraction if there is one. A clock of twelve hours cannot show negative times and times
    /// of 24 hours or more: they are written as `HH:mm:ss` with any format, and read as such.
    public func text(_ format: ValueFormat) -> String {
        var fields = CivilFields()
        fields.time = self
        return fields.text(format.time.canShow(self) ? format.time : ValueFormat.iso.time)
    }
}

extension FMTime: LosslessStringConvertible {
    /// The time as `HH:mm:ss`: `25:00:00`, `-01:30:00`, `00:00:00.25`.
    public var description: String { text(.iso) }

    /// Reads the form that ``description`` has.
    public init?(_ description: String) { self.init(description, format: .iso) }
}

extension FMTime: CivilValue {
    static func pattern(of format: ValueFormat) -> CivilPattern { format.time }

    init?(_ fields: CivilFields) {
        self = fields.time
    }
}

extension FMTime: Codable {
    /// Reads a time from its text, in the format of the request or in ISO 8601.
    public init(from decoder: any Decoder) throws {
        self = try decoder.decodeCivil()
    }

    /// Writes the time as text in the format of the request.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encodeCivil(text(encoder.fileMakerFormat))
    }
}
