public import Foundation

/// A `Date` in a date field. It is read as the first instant of the day and written as its day, both in
/// ``ValueOptions/timeZone``.
///
/// ```swift
/// struct Person: Codable {
///     @FMDateOnly var born: Date
///     @FMDateOnly var left: Date?
/// }
/// ```
///
/// A plain `Date` can be read from date fields as well, but it is written as a timestamp by default, which a date field
/// refuses. ``FMDate`` needs no time zone and is the better type for days.
///
/// Reading a timestamp field fails. With other coders than FMData's own, the format comes from
/// `userInfo[.fileMakerFormat]`, US by default, and the time zone from `userInfo[.fileMakerTimeZone]`, GMT by default.
@propertyWrapper
public struct FMDateOnly<Value: FMDateOnlyValue> {
    /// The date; any time of its day.
    public var wrappedValue: Value

    /// Wraps a date or an optional date.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

/// The types that ``FMDateOnly`` can wrap: `Date` and `Date?`.
public protocol FMDateOnlyValue {
    /// The date; `nil` if there is none.
    var dateIfAny: Date? { get }
    /// Creates a value from an optional date; `nil` if the type requires a date and there is none.
    init?(dateIfAny: Date?)
}

extension Date: FMDateOnlyValue {
    /// The date itself.
    public var dateIfAny: Date? { self }

    /// The date; `nil` if there is none.
    public init?(dateIfAny: Date?) {
        guard let dateIfAny else { return nil }
        self = dateIfAny
    }
}

extension Date?: FMDateOnlyValue {
    /// The optional date itself.
    public var dateIfAny: Date? { self }

    /// Creates an optional date.
    public init(dateIfAny: Date?) {
        self = dateIfAny
    }
}

extension FMDateOnly: Equatable where Value: Equatable {}
extension FMDateOnly: Hashable where Value: Hashable {}
extension FMDateOnly: Sendable where Value: Sendable {}

extension FMDateOnly: Decodable where Value: Decodable {
    /// Reads the text of a date.
    ///
    /// - Throws: `DecodingError` if there is no date and the value is not optional.
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
    /// Writes the text of its day.
    ///
    /// - Throws: `EncodingError` for a date outside the years 1 to 9999.
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

// The compiler calls these overloads for properties of types with synthesized coding. As with a plain optional, the key
// may be absent.

extension KeyedDecodingContainer {
    /// Reads a date; an absent field is `nil`.
    public func decode(_ type: FMDateOnly<Date?>.Type, forKey key: Key) throws -> FMDateOnly<Date?> {
        try decodeIfPresent(type, forKey: key) ?? FMDateOnly(wrappedValue: nil)
    }
}

extension KeyedEncodingContainer {
    /// Writes a date; `nil` is written like that of any optional: it clears the field, or is left out if
    /// ``EncodingOptions/nilValues`` say so.
    public mutating func encode(_ value: FMDateOnly<Date?>, forKey key: Key) throws {
        try encodeIfPresent(value.wrappedValue == nil ? nil : value, forKey: key)
    }
}
