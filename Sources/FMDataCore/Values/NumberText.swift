import Foundation

/// Exact conversions of numbers from their decimal digits. Every function expects a valid JSON number, except those
/// that make one.
package enum NumberText {
    private static let zero = UInt8(ascii: "0")
    private static let minus = UInt8(ascii: "-")
    private static let point = UInt8(ascii: ".")

    // MARK: FileMaker's rule

    /// The JSON literal of the number in a text, by the rule of ``FMNumber/init(_:decimalSeparator:)``.
    static func literal(in text: UnsafeBufferPointer<UInt8>, separator: UInt8) -> String? {
        if let literal = literal(of: text, separator: separator) { return literal }
        var whole: [UInt8] = []
        var fraction: [UInt8] = []
        var isNegative = false
        var hasPoint = false
        for byte in text {
            if byte &- zero < 10 {
                if hasPoint { fraction.append(byte) } else { whole.append(byte) }
            } else if byte == minus, whole.isEmpty, fraction.isEmpty {
                isNegative = true
            } else if byte == separator {
                hasPoint = true
            }
        }
        // Without a digit, only a lone sign is a number, zero. A full stop in a sentence is none.
        guard !whole.isEmpty || !fraction.isEmpty || text.count == 1 && isNegative else { return nil }
        let digits = whole.drop { $0 == zero }
        if digits.isEmpty, fraction.isEmpty { return "0" }
        return (isNegative ? "-" : "") + (digits.isEmpty ? "0" : String(decoding: digits, as: UTF8.self))
            + (fraction.isEmpty ? "" : "." + String(decoding: fraction, as: UTF8.self))
    }

    // MARK: Numbers in texts

    /// The JSON literal of a text that is a number as a whole: a JSON number, or one with leading zeros, a plus, no
    /// digits on one side of its separator, or spaces around it. `nil` for any other text.
    package static func literal(of text: UnsafeBufferPointer<UInt8>, separator: UInt8) -> String? {
        if isLiteral(text) { return String(decoding: text, as: UTF8.self) }
        var rest = text[...]
        while let byte = rest.first, isSpace(byte) { rest.removeFirst() }
        while let byte = rest.last, isSpace(byte) { rest.removeLast() }
        let isNegative = rest.first == minus
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        let whole = rest.prefix { $0 &- zero < 10 }
        rest = rest.dropFirst(whole.count)
        var fraction = rest.prefix(0)
        if rest.first == separator {
            fraction = rest.dropFirst().prefix { $0 &- zero < 10 }
            rest = rest.dropFirst(1 + fraction.count)
            // "11..36": a point after the separator would be read as the literal's own.
            guard rest.first != point else { return nil }
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var literal = (isNegative ? [minus] : []) + whole.drop { $0 == zero }
        if literal.last.map({ $0 == minus }) ?? true { literal.append(zero) }
        if !fraction.isEmpty { literal += [point] + fraction }
        literal += rest
        // The rest must be an exponent; otherwise the text is not a number.
        guard literal.withUnsafeBufferPointer(isLiteral) else { return nil }
        return String(decoding: literal, as: UTF8.self)
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Whether a text is the shortest form of its number, without redundant zeros and without an exponent.
    static func isCanonical(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard isLiteral(text), !text.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return false }
        if text.contains(point), text.last == zero { return false }
        return text.first != minus || isNonZero(text)
    }

    /// Whether the text is a JSON number.
    static func isLiteral(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var position = 0
        func skipDigits() -> Int {
            let start = position
            while position < text.count, text[position] &- zero < 10 { position += 1 }
            return position - start
        }
        if text.first == minus { position = 1 }
        let first = position
        let digits = skipDigits()
        guard digits == 1 || digits > 1 && text[first] != zero else { return false }
        if position < text.count, text[position] == point {
            position += 1
            guard skipDigits() > 0 else { return false }
        }
        if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < text.count, text[position] == UInt8(ascii: "+") || text[position] == minus { position += 1 }
            guard skipDigits() > 0 else { return false }
        }
        return position == text.count
    }

    // MARK: Integers

    /// `nil` if the number has a fraction or does not fit.
    @inline(__always)
    static func integer<Integer: FixedWidthInteger>(
        _ text: UnsafeBufferPointer<UInt8>,
        as type: Integer.Type
    ) -> Integer? {
        // Up to 18 digits cannot overflow an Int64. Nearly all numbers are that short.
        if text.count <= 18 {
            var position = 0
            let isNegative = text[0] == minus
            if isNegative { position = 1 }
            var number: Int64 = 0
            while position < text.count {
                let digit = text[position] &- zero
                guard digit < 10 else { return integerFromDigits(text) }
                number = number &* 10 &+ Int64(digit)
                position += 1
            }
            return Integer(exactly: isNegative ? -number : number)
        }
        return integerFromDigits(text)
    }

    /// The general case: many digits, a fraction of zeros, an exponent.
    private static func integerFromDigits<Integer: FixedWidthInteger>(_ text: UnsafeBufferPointer<UInt8>) -> Integer? {
        let number = canonical(text)
        guard !number.digits.isEmpty else { return 0 }
        let zeros = number.exponent - number.digits.count
        guard zeros >= 0, number.exponent < 64 else { return nil }
        var result: Integer = 0
        for digit in number.digits + Array(repeating: 0, count: zeros) {
            let (product, overflow) = result.multipliedReportingOverflow(by: 10)
            let (sum, carry) =
                number.isNegative
                ? product.subtractingReportingOverflow(Integer(digit))
                : product.addingReportingOverflow(Integer(digit))
            if overflow || carry { return nil }
            result = sum
        }
        return result
    }

    // MARK: Floating point

    static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// The nearest `Double`, correctly rounded; `nil` beyond its range.
    static func double(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        // A mantissa below 2^53 and a power of ten up to 22 are both exact, so their quotient is correctly rounded.
        if text.count <= 17 {
            var mantissa: Int64 = 0
            var fractionDigits = 0
            var hasPoint = false
            var position = text[0] == minus ? 1 : 0
            while position < text.count {
                let byte = text[position]
                let digit = byte &- zero
                if digit < 10 {
                    mantissa = mantissa &* 10 &+ Int64(digit)
                    if hasPoint { fractionDigits += 1 }
                } else if byte == point {
                    hasPoint = true
                } else {
                    break
                }
                position += 1
            }
            if position == text.count, mantissa < 1 << 53 {
                let magnitude = Double(mantissa) / powersOfTen[fractionDigits]
                return text[0] == minus ? -magnitude : magnitude
            }
        }
        guard let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else { return nil }
        return number
    }

    /// Whether a `Double` holds exactly these digits, so that they can be written from it again.
    static func isBinary(_ literal: String) -> Bool {
        // Up to fifteen digits always fit.
        if literal.utf8.count <= 15, !literal.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) { return true }
        var literal = literal
        return literal.withUTF8 { holds($0, double) }
    }

    /// Whether the number that is read from a text gives the same digits when it is written.
    static func holds<Number: CustomStringConvertible>(
        _ text: UnsafeBufferPointer<UInt8>,
        _ read: (UnsafeBufferPointer<UInt8>) -> Number?
    ) -> Bool {
        guard var written = read(text)?.description else { return false }
        return written.withUTF8(canonical) == canonical(text)
    }

    /// The nearest `Float`; `nil` beyond its range.
    static func float(_ text: UnsafeBufferPointer<UInt8>) -> Float? {
        guard let number = Float(String(decoding: text, as: UTF8.self)), number.isFinite else { return nil }
        return number
    }

    // MARK: Decimal

    /// The number as a `Decimal`; `nil` if it needs more than 38 digits or an exponent out of range.
    static func decimal(_ text: UnsafeBufferPointer<UInt8>) -> Decimal? {
        let number = canonical(text)
        guard !number.digits.isEmpty else { return 0 }
        var exponent = number.exponent - number.digits.count
        var digits = number.digits
        if exponent > 127 {
            // A Decimal's exponent is at most 127; its mantissa may take some of the zeros.
            guard exponent - 127 + digits.count <= 38 else { return nil }
            digits += Array(repeating: 0, count: exponent - 127)
            exponent = 127
        }
        guard digits.count <= 38, exponent >= -127 else { return nil }
        // Nineteen digits fit into a UInt64; two such halves are the 38 digits.
        func half(_ digits: ArraySlice<UInt8>) -> Decimal {
            Decimal(digits.reduce(into: UInt64(0)) { $0 = $0 * 10 + UInt64($1) })
        }
        let significand =
            digits.count <= 19
            ? half(digits[...])
            : Decimal(sign: .plus, exponent: 19, significand: half(digits.dropLast(19))) + half(digits.suffix(19))
        return Decimal(sign: number.isNegative ? .minus : .plus, exponent: exponent, significand: significand)
    }

    // MARK: Value

    static func isNonZero(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in text {
            if byte | 0x20 == UInt8(ascii: "e") { return false }
            if byte &- zero < 10, byte != zero { return true }
        }
        return false
    }

    /// A number as 0.digits × 10^exponent, without zeros at either end: the same for every spelling of a value.
    package struct Canonical: Hashable {
        var isNegative = false
        var digits: [UInt8] = []
        var exponent = 0

        var hasFraction: Bool { digits.count > exponent }
    }

    package static func canonical(_ text: UnsafeBufferPointer<UInt8>) -> Canonical {
        var result = Canonical()
        var hasPoint = false
        var position = 0
        loop: while position < text.count {
            let byte = text[position]
            switch byte {
            case minus:
                result.isNegative = true
            case point:
                hasPoint = true
            case zero...UInt8(ascii: "9"):
                if byte != zero || !result.digits.isEmpty {
                    result.digits.append(byte - zero)
                    if !hasPoint { result.exponent += 1 }
                } else if hasPoint {
                    result.exponent -= 1
                }
            default:
                break loop
            }
            position += 1
        }
        if position < text.count { result.exponent += exponent(UnsafeBufferPointer(rebasing: text[(position + 1)...])) }
        while result.digits.last == 0 { result.digits.removeLast() }
        return result.digits.isEmpty ? Canonical() : result
    }

    /// The value of the digits after the `e`. Larger exponents make no difference, so it is limited to a billion.
    private static func exponent(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var result = 0
        for byte in text where byte &- zero < 10 {
            result = min(result * 10 + Int(byte - zero), 1_000_000_000)
        }
        return text.first == minus ? -result : result
    }
}

extension NumberText.Canonical: Comparable {
    package static func < (left: NumberText.Canonical, right: NumberText.Canonical) -> Bool {
        guard left.sign == right.sign else { return left.sign < right.sign }
        return left.isNegative ? right.isSmallerMagnitude(than: left) : left.isSmallerMagnitude(than: right)
    }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    private func isSmallerMagnitude(than other: NumberText.Canonical) -> Bool {
        exponent == other.exponent ? digits.lexicographicallyPrecedes(other.digits) : exponent < other.exponent
    }
}
