/// An independent validator of JSON, written for clarity alone: RFC 8259 as recursive functions over the grammar,
/// without limits. (Foundation accepts trailing commas and unknown escapes in keys, so it cannot serve.)
public struct ReferenceJSON {
    private let bytes: [UInt8]
    private var position = 0

    /// Returns whether the bytes are valid JSON in UTF-8.
    public static func accepts(_ bytes: [UInt8]) -> Bool {
        // No byte beyond ASCII is allowed outside strings, so the encoding can be checked for the text as a whole.
        guard String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes) else { return false }
        var parser = ReferenceJSON(bytes: bytes)
        parser.space()
        guard parser.value() else { return false }
        parser.space()
        return parser.position == bytes.count
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ text: StaticString) -> Bool {
        let end = position + text.utf8CodeUnitCount
        guard end <= bytes.count else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[position + index] != text.utf8Start[index] { return false }
        position = end
        return true
    }

    private mutating func space() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func value() -> Bool {
        if take("{") { return members() }
        if take("[") { return elements() }
        if take("true") || take("false") || take("null") { return true }
        return next == UInt8(ascii: "\"") ? string() : number()
    }

    private mutating func members() -> Bool {
        space()
        if take("}") { return true }
        repeat {
            space()
            guard string() else { return false }
            space()
            guard take(":") else { return false }
            space()
            guard value() else { return false }
            space()
        } while take(",")
        return take("}")
    }

    private mutating func elements() -> Bool {
        space()
        if take("]") { return true }
        repeat {
            space()
            guard value() else { return false }
            space()
        } while take(",")
        return take("]")
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case 0..<0x20: return false
            case UInt8(ascii: "\\"): guard escape() else { return false }
            default: break
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        if take("u") {
            guard let unit = unit() else { return false }
            if (0xDC00...0xDFFF).contains(unit) { return false }
            guard (0xD800...0xDBFF).contains(unit) else { return true }
            guard take("\\u"), let second = self.unit() else { return false }
            return (0xDC00...0xDFFF).contains(second)
        }
        guard let byte = next, "\"\\/bfnrt".utf8.contains(byte) else { return false }
        position += 1
        return true
    }

    private mutating func unit() -> Int? {
        guard position + 4 <= bytes.count else { return nil }
        let digits = String(decoding: bytes[position..<position + 4], as: UTF8.self)
        position += 4
        return digits.allSatisfy { $0.isASCII && $0.isHexDigit } ? Int(digits, radix: 16) : nil
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0") { guard digits() else { return false } }
        if take(".") { guard digits() else { return false } }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard digits() else { return false }
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        return position > start
    }
}
