/// A strict parser of RFC 8259: it accepts no trailing commas, no comments, no unescaped control characters, only valid
/// UTF-8 and surrogate pairs, and nothing after the value. It never traps, whatever the input is.
struct JSONParser {
    /// The error and the byte offset where it was found.
    struct Failure: Error, Equatable {
        var reason: String
        var offset: Int
    }

    /// The maximum nesting depth, so that a hostile body cannot exhaust the stack.
    private static let maximumDepth = 128

    private let bytes: [UInt8]
    private var position = 0

    static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
        var parser = JSONParser(bytes: bytes)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.failure("expected nothing after the value") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func failure(_ reason: String) -> Failure { Failure(reason: reason, offset: position) }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func value(depth: Int) throws(Failure) -> JSONValue {
        guard depth < Self.maximumDepth else { throw failure("nested too deeply") }
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte): return .number(try number())
        default: throw failure("expected a value")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
        let end = position + word.utf8CodeUnitCount
        let matches =
            end <= bytes.count
            && word.withUTF8Buffer { letters in bytes[position..<end].elementsEqual(letters) }
        guard matches else { throw failure("expected a value") }
        position = end
        return value
    }

    private mutating func object(depth: Int) throws(Failure) -> JSONValue {
        position += 1
        var members: [JSONObject.Member] = []
        skipSpace()
        if current == UInt8(ascii: "}") {
            position += 1
            return .object(JSONObject())
        }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw failure("expected a key in quotes") }
            let key = try string()
            skipSpace()
            guard current == UInt8(ascii: ":") else { throw failure("expected :") }
            position += 1
            members.append(JSONObject.Member(key: key, value: try value(depth: depth + 1)))
            guard try anotherElement(before: UInt8(ascii: "}")) else { return .object(JSONObject(members: members)) }
        }
    }

    private mutating func array(depth: Int) throws(Failure) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if current == UInt8(ascii: "]") {
            position += 1
            return .array([])
        }
        while true {
            elements.append(try value(depth: depth + 1))
            guard try anotherElement(before: UInt8(ascii: "]")) else { return .array(elements) }
        }
    }

    /// Whether a comma (true) or the closing bracket (false) follows.
    private mutating func anotherElement(before close: UInt8) throws(Failure) -> Bool {
        skipSpace()
        let byte = current
        guard byte == UInt8(ascii: ",") || byte == close else {
            throw failure("expected , or \(Character(Unicode.Scalar(close)))")
        }
        position += 1
        return byte != close
    }

    private mutating func number() throws(Failure) -> String {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if current == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(Failure) {
        let start = position
        while let byte = current, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw failure("expected a digit") }
    }

    private mutating func string() throws(Failure) -> String {
        position += 1
        var start = position
        var text: [UInt8] = []
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                text += bytes[start..<position]
                position += 1
                guard let string = String(validating: text, as: UTF8.self) else { throw failure("invalid UTF-8") }
                return string
            case UInt8(ascii: "\\"):
                text += bytes[start..<position]
                position += 1
                text += String(try escape()).utf8
                start = position
            case 0..<0x20:
                throw failure("control character in a string")
            default:
                position += 1
            }
        }
        throw failure("unterminated string")
    }

    private mutating func escape() throws(Failure) -> Unicode.Scalar {
        guard let byte = current else { throw failure("unterminated string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw failure("unknown escape")
        }
    }

    private mutating func unicodeEscape() throws(Failure) -> Unicode.Scalar {
        let unit = try hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard (0xD800...0xDBFF).contains(unit), current == UInt8(ascii: "\\") else { throw failure("lone surrogate") }
        position += 1
        guard current == UInt8(ascii: "u") else { throw failure("lone surrogate") }
        position += 1
        let low = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw failure("lone surrogate") }
        return scalar
    }

    private mutating func hexadecimal() throws(Failure) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw failure("expected four hexadecimal digits")
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
