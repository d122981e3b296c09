public import Foundation

/// The value of a field whose type is not declared: a text or a number, as the server sends it.
///
/// Dates, times, timestamps and containers are sent as texts; read them with ``date(_:)`` and its relatives. An empty
/// field is the empty text. FileMaker ends lines with a carriage return (`\r`), which is kept.
///
///     let person: FieldData = ["Name": "Ada", "Age": 36, "Rate": 12.50]
public enum FieldValue: Hashable, Sendable {
    /// A text, with the line ends that the server sent.
    case text(String)
    /// A number with exactly the digits that were sent.
    case number(FMNumber)

    /// An empty field. Writing it clears the field.
    public static let empty = FieldValue.text("")

    /// Whether the field is empty.
    public var isEmpty: Bool { self == .empty }

    /// The value as text; for a number its digits.
    public var text: String {
        switch self {
        case .text(let text): text
        case .number(let number): number.literal
        }
    }

    /// The value as a number, read from a text by FileMaker's rule with a decimal point; `nil` if the text contains no
    /// number.
    public var number: FMNumber? {
        switch self {
        case .text(let text): FMNumber(text)
        case .number(let number): number
        }
    }

    /// The value as an integer; `nil` if it contains no number, has a fraction or does not fit.
    public var int: Int? { number?.int }
    /// The value as a binary number, by FileMaker's rule; `nil` if it contains no number.
    public var double: Double? { number?.double }
    /// The value as a `Decimal`; `nil` if it contains no number or if a `Decimal` cannot hold it exactly.
    public var decimal: Decimal? { number?.decimal }
    /// FileMaker's truth value: `true` for a number other than zero.
    public var bool: Bool { number?.isTrue ?? false }

    /// The value as a date in the request's format; `nil` if it is not a date.
    public func date(_ format: ValueFormat = .us) -> FMDate? { FMDate(text, format: format) }
    /// The value as a time in the request's format; `nil` if it is not a time.
    public func time(_ format: ValueFormat = .us) -> FMTime? { FMTime(text, format: format) }
    /// The value as a timestamp in the request's format; `nil` if it is not a timestamp.
    public func timestamp(_ format: ValueFormat = .us) -> FMTimestamp? { FMTimestamp(text, format: format) }
}

extension FieldValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// Creates a text: `let name: FieldValue = "Ada"`.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Creates a number: `let age: FieldValue = 36`.
    public init(integerLiteral value: Int) { self = .number(FMNumber(value)) }
    /// Creates a number: `let price: FieldValue = 2.5`.
    public init(floatLiteral value: Double) { self = .number(FMNumber(floatLiteral: value)) }
    /// Creates 1 or 0, since FileMaker has no booleans.
    public init(booleanLiteral value: Bool) { self = .number(value ? 1 : 0) }
}

extension FieldValue {
    /// Creates a text; `""` is an empty field.
    public init(_ text: String) { self = .text(text) }
    /// Creates a number from an integer of any size.
    public init(_ number: some BinaryInteger) { self = .number(FMNumber(number)) }
    /// Creates a number; infinity and not-a-number become an empty field.
    public init(_ number: Double) { self = FMNumber(number).map(FieldValue.number) ?? .empty }
    /// Creates a number with all its digits; not-a-number becomes an empty field.
    public init(_ number: Decimal) { self = FMNumber(number).map(FieldValue.number) ?? .empty }
    /// Creates 1 or 0.
    public init(_ bool: Bool) { self = .number(bool ? 1 : 0) }
    /// Creates the text of a date in a format, which must be that of the request.
    public init(_ date: FMDate, format: ValueFormat = .us) { self = .text(date.text(format)) }
    /// Creates the text of a time in a format, which must be that of the request.
    public init(_ time: FMTime, format: ValueFormat = .us) { self = .text(time.text(format)) }
    /// Creates the text of a timestamp in a format, which must be that of the request.
    public init(_ timestamp: FMTimestamp, format: ValueFormat = .us) { self = .text(timestamp.text(format)) }
}

extension FieldValue: CustomStringConvertible {
    /// The same as ``text``.
    public var description: String { text }
}

extension FieldValue: Codable {
    /// Reads a text or a number; `null` is an empty field, `true` and `false` are 1 and 0.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .empty
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let bool = try? container.decode(Bool.self) {
            self = FieldValue(bool)
        } else {
            self = .number(try container.decode(FMNumber.self))
        }
    }

    /// Writes a text as text and a number with its digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        }
    }
}
