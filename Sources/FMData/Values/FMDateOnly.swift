public import Foundation

/// A `Date` in a date field: it is read as the first instant of the day and written as the day that it is, both in
/// ``ValueOptions/timeZone``.
///
/// ```swift
/// struct Person: Codable {
///     @FMDateOnly var born: Date
///     @FMDateOnly var left: Date?
/// }
/// ```
///
/// A plain `Date` is read from date fields as well, but written as a timestamp, which a date field refuses. ``FMDate`` needs no
/// time zone and is the better type for days.
///
/// A timestamp field does not decode. With coders that are not FMData's own the format comes from
/// `userInfo[.fileMakerFormat]`, US if nothing is set, and the time zone from `userInfo[.fileMakerTimeZone]`, GMT if
/// nothing is.
@propertyWrapper
public struct FMDateOnly<Value: FMDateOnlyValue> {
    /// The date, at any time of its day.
    public var wrappedValue: Value

    /// A date, or an optional one.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

/// What ``FMDateOnly`` can wrap: `Date` and `Date?`.
public protocol FMDateOnlyValue {
    /// The date, unless there is none.
    var dateIfAny: Date? { get }
    /// `nil` where there has to be a date.
    init?(dateIfAny: Date?)
}

extension Date: FMDateOnlyValue {
    /// The date itself.
    public var dateIfAny: Date? { self }

    /// The date, if there is one.
    public init?(dateIfAny: Date?) {
        guard let dateIfAny else { return nil }
        self = dateIfAny
    }
}

extension Date?: FMDateOnlyValue {
    /// The date, if there is one.
    public var dateIfAny: Date? { self }

    /// The date, if there is one.
    public init(dateIfAny: Date?) {
        self = dateIfAny
    }
}

extension FMDateOnly: Equatable where Value: Equatable {}
extension FMDateOnly: Hashable where Value: Hashable {}
extension FMDateOnly: Sendable where Value: Sendable {}

extension FMDateOnly: Decodable where Value: Decodable {
    /// Reads the text of a date.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let day = Value(dateIfAny: nil) == nil ? try container.decode(FMDate.self) : try container.decode(FMDate?.self)
        guard let value = Value(dateIfAny: day?.instant(in: decoder.fileMakerTimeZone)) else {
            throw DecodingError.valueNotFound(
                Value.self,
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "There is no date.")
            )
        }
        wrappedValue = value
    }
}

extension FMDateOnly: Encodable where Value: Encodable {
    /// Writes the text of the day that it is.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let date = wrappedValue.dateIfAny else { return try container.encodeNil() }
        guard let day = FMDate(date, in: encoder.fileMakerTimeZone) else {
            throw EncodingError.invalidValue(
                date,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "A date outside the years 1 to 9999."
                )
            )
        }
        try container.encode(day)
    }
}

// What the compiler calls for a property in a type whose coding it writes: as for a plain optional, a key may be absent.

extension KeyedDecodingContainer {
    /// An absent field is `nil`.
    public func decode(_ type: FMDateOnly<Date?>.Type, forKey key: Key) throws -> FMDateOnly<Date?> {
        try decodeIfPresent(type, forKey: key) ?? FMDateOnly(wrappedValue: nil)
    }
}

extension KeyedEncodingContainer {
    /// `nil` is written as that of any optional: it clears the field, or leaves it out where
    /// ``EncodingOptions/nilValues`` say so.
    public mutating func encode(_ value: FMDateOnly<Date?>, forKey key: Key) throws {
        try encodeIfPresent(value.wrappedValue == nil ? nil : value, forKey: key)
    }
}
