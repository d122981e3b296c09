public import Foundation

/// The value of one field, when no type says what it should be: a text or a number, as the server sends it.
///
/// Dates, times, timestamps and containers are texts on the wire; read them with ``date(_:)`` and its relatives. An
/// empty field is the empty text. FileMaker ends lines with a carriage return (`\r`), which is kept.
///
///     let person: FieldData = ["Name": "Ada", "Age": 36, "Rate": 12.50]
public enum FieldValue: Hashable, Sendable {
    case text(String)
    /// A number with exactly the digits that were sent.
    case number(FMNumber)

    /// An empty field; writing it clears the field.
    public static let empty = FieldValue.text("")

    /// Whether the field is empty.
    public var isEmpty: Bool { self == .empty }

    /// The value as text; a number as its digits.
    public var text: String {
        switch self {
        case .text(let text): text
        case .number(let number): number.literal
        }
    }

    /// The value as a number, read out of a text by FileMaker's rule; `nil` when there is none in it.
    public var number: FMNumber? {
        switch self {
        case .text(let text): FMNumber(text)
        case .number(let number): number
        }
    }

    /// The value as an integer; `nil` when it is empty, has a fraction or does not fit.
    public var int: Int? { number?.int }
    /// The value as a binary number, by FileMaker's rule; `nil` when it holds no digit.
    public var double: Double? { number?.double }
    /// `nil` when it is empty or needs more than a `Decimal` holds.
    public var decimal: Decimal? { number?.decimal }
    /// FileMaker's truth: a number other than zero.
    public var bool: Bool { number?.isTrue ?? false }

    /// The value as a date in the request's format.
    public func date(_ format: ValueFormat = .us) -> FMDate? { FMDate(text, format: format) }
    /// The value as a time; `nil` when it is none in this format.
    public func time(_ format: ValueFormat = .us) -> FMTime? { FMTime(text, format: format) }
    /// The value as a timestamp; `nil` when it is none in this format.
    public func timestamp(_ format: ValueFormat = .us) -> FMTimestamp? { FMTimestamp(text, format: format) }
}

extension FieldValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// A text: `let name: FieldValue = "Ada"`.
    public init(stringLiteral value: String) { self = .text(value) }
    /// A number: `let age: FieldValue = 36`.
    public init(integerLiteral value: Int) { self = .number(FMNumber(value)) }
    /// A number: `let price: FieldValue = 2.5`.
    public init(floatLiteral value: Double) { self = .number(FMNumber(floatLiteral: value)) }
    /// FileMaker has no booleans: 1 or 0.
    public init(booleanLiteral value: Bool) { self = .number(value ? 1 : 0) }
}

extension FieldValue {
    /// A text; `""` is an empty field.
    public init(_ text: String) { self = .text(text) }
    /// A number, whatever its size.
    public init(_ number: some BinaryInteger) { self = .number(FMNumber(number)) }
    /// An infinite number or not-a-number becomes an empty field.
    public init(_ number: Double) { self = FMNumber(number).map(FieldValue.number) ?? .empty }
    /// A number with all its digits; not-a-number becomes an empty field.
    public init(_ number: Decimal) { self = FMNumber(number).map(FieldValue.number) ?? .empty }
    /// 1 or 0.
    public init(_ bool: Bool) { self = .number(bool ? 1 : 0) }
    /// The text of a date in a format, which has to be that of the request.
    public init(_ date: FMDate, format: ValueFormat = .us) { self = .text(date.text(format)) }
    /// The text of a time in a format, which has to be that of the request.
    public init(_ time: FMTime, format: ValueFormat = .us) { self = .text(time.text(format)) }
    /// The text of a timestamp in a format, which has to be that of the request.
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
