/// A FileMaker time: a duration rather than a time of day, since it may exceed 24 hours and be negative.
///
/// The resolution is a nanosecond; digits beyond are cut off. The range is that of an `Int` of seconds, far more than the
/// 2,147,483,647 hours that FileMaker holds.
///
/// In records it decodes and encodes as `HH:mm:ss` or as the request's format says, with a fraction where there is one.
/// With other coders the format comes from `userInfo[.fileMakerFormat]`, US if nothing is set.
public struct FMTime: Hashable, Sendable {
    private static let unit = 1_000_000_000

    /// Whole seconds, and what is beyond them; neither has another sign than the other.
    private let wholeSeconds: Int
    private let fraction: Int

    /// - Parameters:
    ///   - wholeSeconds: any number of them.
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

    /// A time of so many nanoseconds.
    public init(totalNanoseconds: Int) {
        wholeSeconds = totalNanoseconds / FMTime.unit
        fraction = totalNanoseconds % FMTime.unit
    }

    /// The sum of the parts, each of any size and sign. A sum out of range becomes the nearest end of the range.
    public init(hours: Int = 0, minutes: Int = 0, seconds: Int = 0, nanoseconds: Int = 0) {
        let parts = [(hours, 3_600), (minutes, 60), (seconds, 1)]
        let sum = parts.reduce(nanoseconds / FMTime.unit) { sum, part in
            let (product, overflow) = part.0.multipliedReportingOverflow(by: part.1)
            return FMTime.saturatingAdd(sum, overflow ? (part.0 < 0 ? .min : .max) : product)
        }
        self.init(wholeSeconds: sum, fraction: nanoseconds % FMTime.unit)
    }

    /// A duration, cut to whole nanoseconds.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(wholeSeconds: Int(seconds), fraction: Int(attoseconds / 1_000_000_000))
    }

    private static func saturatingAdd(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? (right < 0 ? .min : .max) : sum
    }

    /// The whole duration in nanoseconds; negative for a negative time. Beyond ±2,562,047 hours, where an `Int` of them ends,
    /// that end; ``duration`` is exact for all times.
    public var totalNanoseconds: Int {
        let (product, overflow) = wholeSeconds.multipliedReportingOverflow(by: FMTime.unit)
        return overflow ? (isNegative ? .min : .max) : FMTime.saturatingAdd(product, fraction)
    }

    /// The same length of time as a `Duration`.
    public var duration: Duration { .seconds(wholeSeconds) + .nanoseconds(fraction) }

    /// Whether the time is less than zero.
    public var isNegative: Bool { wholeSeconds < 0 || fraction < 0 }
    /// Whole hours of the time without its sign; may exceed 23.
    public var hours: Int { Int(magnitude / 3_600) }
    /// 0 to 59.
    public var minutes: Int { Int(magnitude / 60 % 60) }
    /// 0 to 59.
    public var seconds: Int { Int(magnitude % 60) }
    /// The fraction of the second: 0 to 999,999,999.
    public var nanoseconds: Int { abs(fraction) }

    /// Whole seconds without the sign.
    private var magnitude: UInt { wholeSeconds.magnitude }
}

extension FMTime: Comparable {
    /// Shorter or longer; a negative time is shorter than none.
    public static func < (left: FMTime, right: FMTime) -> Bool {
        (left.wholeSeconds, left.fraction) < (right.wholeSeconds, right.fraction)
    }
}

extension FMTime {
    /// Reads a time in a format; `nil` when the text is not one. Leading zeros and the seconds may be missing.
    public init?(_ text: some StringProtocol, format: ValueFormat) {
        var text = String(text)
        guard let time = text.withUTF8({ FMTime.read($0, format) }) else { return nil }
        self = time
    }

    /// The time as text, with a fraction when there is one. What a clock of twelve hours does not show, a negative time or
    /// one of 24 hours and more, is written `HH:mm:ss` whatever the format, and read so.
    public func text(_ format: ValueFormat) -> String {
        var fields = CivilFields()
        fields.time = self
        return fields.text(format.time.canShow(self) ? format.time : ValueFormat.iso.time)
    }
}

extension FMTime: LosslessStringConvertible {
    /// `25:00:00`, `-01:30:00`, `00:00:00.25`.
    public var description: String { text(.iso) }

    /// Reads what ``description`` writes.
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
