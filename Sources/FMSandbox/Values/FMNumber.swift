/// A decimal number of any length, as FileMaker parses it from a text. It is compared digit by digit, so that two
/// numbers of 58 digits that differ in the last one are different.
struct FMNumber: Equatable, Hashable, Sendable {
    /// -1, 0 or 1.
    private(set) var sign: Int
    /// The position of the decimal point: the value is 0.d₁d₂d₃… × 10^exponent.
    private(set) var exponent: Int
    /// Significant digits (0…9) without leading or trailing zeros; empty for zero.
    private(set) var digits: [UInt8]

    static let zero = FMNumber(sign: 0, exponent: 0, digits: [])

    private init(sign: Int, exponent: Int, digits: [UInt8]) {
        self.sign = sign
        self.exponent = exponent
        self.digits = digits
    }

    private init(negative: Bool, whole: [UInt8], fraction: [UInt8], power: Int = 0) {
        let all = whole + fraction
        guard let first = all.firstIndex(where: { $0 != 0 }), let last = all.lastIndex(where: { $0 != 0 }) else {
            self = .zero
            return
        }
        self.init(sign: negative ? -1 : 1, exponent: whole.count - first + power, digits: Array(all[first...last]))
    }

    init(_ value: Int) {
        self = FMNumber(literal: String(value)) ?? .zero
    }

    /// Parses a text that is a number and nothing else: `-12.50`, `.5`, `+7`, `1.5e3`. Spaces around it are allowed.
    init?(literal text: String) {
        var text = text
        guard let number = text.withUTF8({ Self.scan(literal: $0) }) else { return nil }
        self = number
    }

    /// Parses a number from any text as FileMaker does: the digits, a minus sign before them and the first decimal
    /// point count, the rest is ignored. `"7-14/…71.5"` is 714.715, `"-"` is 0; a text without digit or minus sign is
    /// not a number.
    init?(reading text: String) {
        if let literal = FMNumber(literal: text) {
            self = literal
            return
        }
        var negative = false
        var hasSign = false
        var whole: [UInt8] = []
        var fraction: [UInt8]?
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39:
                if fraction == nil { whole.append(byte - 0x30) } else { fraction?.append(byte - 0x30) }
            case UInt8(ascii: "-"):
                hasSign = true
                if whole.isEmpty, fraction == nil { negative = true }
            case UInt8(ascii: "."):
                if fraction == nil { fraction = [] }
            default:
                break
            }
        }
        guard hasSign || !whole.isEmpty || !(fraction ?? []).isEmpty else { return nil }
        self.init(negative: negative, whole: whole, fraction: fraction ?? [])
    }

    private static func scan(literal bytes: UnsafeBufferPointer<UInt8>) -> FMNumber? {
        var bytes = bytes[...]
        while let byte = bytes.last, byte == 0x20 { bytes.removeLast() }
        while let byte = bytes.first, byte == 0x20 { bytes.removeFirst() }
        var negative = false
        if let byte = bytes.first, byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") {
            negative = byte == UInt8(ascii: "-")
            bytes.removeFirst()
        }
        let whole = takeDigits(&bytes)
        var fraction: [UInt8] = []
        if bytes.first == UInt8(ascii: ".") {
            bytes.removeFirst()
            fraction = takeDigits(&bytes)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        guard let power = takePower(&bytes), bytes.isEmpty else { return nil }
        return FMNumber(negative: negative, whole: whole, fraction: fraction, power: power)
    }

    private static func takeDigits(_ bytes: inout Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8] {
        let digits = bytes.prefix { (0x30...0x39).contains($0) }
        bytes = bytes[digits.endIndex...]
        return digits.map { $0 - 0x30 }
    }

    /// The power of ten after an `e`: 0 if there is none, nil if it is malformed or beyond FileMaker's range (10^±400).
    private static func takePower(_ bytes: inout Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard let mark = bytes.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return 0 }
        guard let power = Int(String(decoding: bytes.dropFirst(), as: UTF8.self)), (-400...400).contains(power) else {
            return nil
        }
        bytes = bytes[bytes.endIndex...]
        return power
    }

    /// The number in plain decimal notation as in JSON, without superfluous zeros and without a power of ten.
    var text: String {
        guard sign != 0 else { return "0" }
        let zero = UInt8(ascii: "0")
        var bytes: [UInt8] = sign < 0 ? [UInt8(ascii: "-")] : []
        if exponent <= 0 {
            bytes += [zero, UInt8(ascii: ".")] + Array(repeating: zero, count: -exponent) + digits.map { $0 + zero }
        } else if exponent >= digits.count {
            bytes += digits.map { $0 + zero } + Array(repeating: zero, count: exponent - digits.count)
        } else {
            bytes += digits[..<exponent].map { $0 + zero } + [UInt8(ascii: ".")] + digits[exponent...].map { $0 + zero }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    var isInteger: Bool { exponent >= digits.count }
    var int: Int? { isInteger ? Int(text) : nil }
    var isZero: Bool { sign == 0 }
    var negated: FMNumber { FMNumber(sign: -sign, exponent: exponent, digits: digits) }
}

extension FMNumber: Comparable {
    static func < (left: FMNumber, right: FMNumber) -> Bool {
        if left.sign != right.sign { return left.sign < right.sign }
        return left.sign >= 0 ? left.isSmallerInSize(than: right) : right.isSmallerInSize(than: left)
    }

    private func isSmallerInSize(than other: FMNumber) -> Bool {
        if sign == 0 || other.sign == 0 { return sign == 0 && other.sign != 0 }
        if exponent != other.exponent { return exponent < other.exponent }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}
