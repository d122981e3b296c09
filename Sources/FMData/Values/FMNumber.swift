public import Foundation

/// A number with exactly the digits that were sent: FileMaker keeps up to 400 of them, more than any binary type.
///
/// Two numbers are equal when their values are, whatever their spelling: `1.50` is `1.5`.
///
/// It decodes from a JSON number or a text. Other decoders than FMData's own hand over a number only through `Decimal`,
/// with 38 digits at most.
public struct FMNumber: Sendable {
    /// The number as a JSON literal, digit for digit as it was sent.
    public let literal: String

    /// Reads a number out of a text by FileMaker's rule: the digits, a minus before the first of them and one decimal
    /// separator count, everything else is dropped; `"7-14/..71.5"` is 714.715 and `"-"` is 0. A text that is a number
    /// as it stands, with an exponent too, is that number. `nil` when there is nothing of a number in it.
    public init?(_ text: some StringProtocol, decimalSeparator: ValueOptions.DecimalSeparator = .point) {
        var text = String(text)
        guard let literal = text.withUTF8({ NumberText.literal(in: $0, separator: decimalSeparator.byte) }) else {
            return nil
        }
        self.literal = literal
    }

    /// The same number, whatever its size.
    public init(_ number: some BinaryInteger) {
        literal = String(number)
    }

    /// `nil` for infinity and not-a-number.
    public init?(_ number: Double) {
        guard number.isFinite else { return nil }
        // The shortest digits that read back as the same number.
        let text = number.description
        literal = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// `nil` for not-a-number.
    public init?(_ number: Decimal) {
        guard number.isFinite else { return nil }
        literal = number.description
    }

    /// A literal that is known to be valid JSON.
    init(validLiteral literal: String) {
        self.literal = literal
    }

    /// The number as an integer; `nil` when it has a fraction or does not fit.
    public var int: Int? { withLiteral { NumberText.integer($0, as: Int.self) } }
    /// The nearest `Double`; infinite beyond its range.
    public var double: Double { Double(literal) ?? .nan }
    /// The same number as a `Decimal`; `nil` when it needs more than a `Decimal` holds.
    public var decimal: Decimal? { withLiteral { NumberText.decimal($0) } }
    /// FileMaker's truth: every number but zero.
    public var isTrue: Bool { withLiteral { NumberText.isNonZero($0) } }

    private func withLiteral<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var literal = literal
        return literal.withUTF8(body)
    }
}

extension FMNumber: Hashable {
    /// Equal in value, however they are spelled: `1.50` is `1.5`.
    public static func == (left: FMNumber, right: FMNumber) -> Bool {
        left.literal == right.literal || left.canonical == right.canonical
    }

    /// The same for all spellings of a value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(canonical)
    }

    var canonical: NumberText.Canonical { withLiteral { NumberText.canonical($0) } }
}

extension FMNumber: Comparable {
    /// Smaller in value, at any number of digits.
    public static func < (left: FMNumber, right: FMNumber) -> Bool { left.canonical < right.canonical }
}

extension FMNumber: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, CustomStringConvertible {
    /// A number in source code: `let count: FMNumber = 3`.
    public init(integerLiteral value: Int) { self.init(value) }
    /// A number in source code: `let price: FMNumber = 2.5`.
    public init(floatLiteral value: Double) {
        // A literal in source code is finite.
        self = FMNumber(value) ?? 0
    }

    /// The same as ``literal``.
    public var description: String { literal }
}

extension FMNumber: Codable {
    /// Reads a number or a text with one in it. FMData's own decoder keeps every digit; others give what an `Int` or a
    /// `Decimal` holds.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int.self) {
            self.init(integer)
        } else if let decimal = try? container.decode(Decimal.self), let number = FMNumber(decimal) {
            self = number
        } else if let number = FMNumber(try container.decode(String.self)) {
            self = number
        } else {
            let cause = DecodingCause.noNumber(wanted: FMNumber.self)
            throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: container.codingPath, cause: cause))
        }
    }

    /// FMData's own encoder writes ``literal`` as it is; others get an integer or a `Decimal`, or the text when it fits
    /// neither.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let int {
            try container.encode(int)
        } else if let decimal {
            try container.encode(decimal)
        } else {
            try container.encode(literal)
        }
    }
}
