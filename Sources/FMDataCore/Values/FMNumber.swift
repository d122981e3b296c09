public import Foundation

/// A number with exactly the digits that were sent: FileMaker keeps up to 400 digits, more than any binary type.
///
/// Two numbers are equal if their values are, in any spelling: `1.50` equals `1.5`.
///
/// It decodes from a JSON number or a text. Other decoders than FMData's own give access to a number only as a
/// `Decimal`, with at most 38 digits.
public struct FMNumber: Sendable {
    /// The number as a JSON literal, with the digits that were sent.
    public let literal: String

    /// Reads a number from a text by FileMaker's rule: the digits, a minus before the first digit and one decimal
    /// separator count, and everything else is dropped; `"7-14/..71.5"` is 714.715 and `"-"` is 0. A text that is a
    /// number as a whole, also with an exponent, is that number. `nil` if the text contains no number.
    public init?(_ text: some StringProtocol, decimalSeparator: ValueOptions.DecimalSeparator = .point) {
        var text = String(text)
        guard let literal = text.withUTF8({ NumberText.literal(in: $0, separator: decimalSeparator.byte) }) else {
            return nil
        }
        self.literal = literal
    }

    /// Creates a number from an integer of any size.
    public init(_ number: some BinaryInteger) {
        literal = String(number)
    }

    /// Creates a number from a `Double`; `nil` for infinity and not-a-number.
    public init?(_ number: Double) {
        guard number.isFinite else { return nil }
        // The shortest digits that give the same number when they are read.
        let text = number.description
        literal = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Creates a number from a `Decimal`; `nil` for not-a-number.
    public init?(_ number: Decimal) {
        guard number.isFinite else { return nil }
        literal = number.description
    }

    /// A literal that is known to be valid JSON.
    init(validLiteral literal: String) {
        self.literal = literal
    }

    /// The number as an integer; `nil` if it has a fraction or does not fit.
    public var int: Int? { withLiteral { NumberText.integer($0, as: Int.self) } }
    /// The nearest `Double`; infinite beyond its range.
    public var double: Double { Double(literal) ?? .nan }
    /// The number as a `Decimal`; `nil` if a `Decimal` cannot hold it exactly.
    public var decimal: Decimal? { withLiteral { NumberText.decimal($0) } }
    /// FileMaker's truth value: `true` for every number except zero.
    public var isTrue: Bool { withLiteral { NumberText.isNonZero($0) } }

    private func withLiteral<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var literal = literal
        return literal.withUTF8(body)
    }
}

extension FMNumber: Hashable {
    /// Whether the values are equal, in any spelling: `1.50` equals `1.5`.
    public static func == (left: FMNumber, right: FMNumber) -> Bool {
        left.literal == right.literal || left.canonical == right.canonical
    }

    /// Hashes the value, so all spellings have the same hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(canonical)
    }

    package var canonical: NumberText.Canonical { withLiteral { NumberText.canonical($0) } }
}

extension FMNumber: Comparable {
    /// Whether the left value is smaller. Exact for any number of digits.
    public static func < (left: FMNumber, right: FMNumber) -> Bool { left.canonical < right.canonical }
}

extension FMNumber: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, CustomStringConvertible {
    /// Creates a number from an integer literal: `let count: FMNumber = 3`.
    public init(integerLiteral value: Int) { self.init(value) }
    /// Creates a number from a floating-point literal: `let price: FMNumber = 2.5`.
    public init(floatLiteral value: Double) {
        // A literal in source code is always finite.
        self = FMNumber(value) ?? 0
    }

    /// The same as ``literal``.
    public var description: String { literal }
}

extension FMNumber: Codable {
    /// Reads a number, or a text that contains one. FMData's own decoder keeps every digit; with others, the digits are
    /// those of an `Int` or a `Decimal`.
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

    /// Writes the number. FMData's own encoder writes ``literal``; others get an integer or a `Decimal`, or the text if
    /// it fits neither.
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
