/// Writes compact JSON in the order of the calls.
///
/// Records are written straight from the store, without a `JSONValue` in between: a page of a thousand records is the
/// one case in which the sandbox must be fast.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    /// Whether the next element needs a comma before it; opening brackets and keys clear it.
    private var needsComma = false

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

    mutating func beginObject() { open(UInt8(ascii: "{")) }
    mutating func endObject() { close(UInt8(ascii: "}")) }
    mutating func beginArray() { open(UInt8(ascii: "[")) }
    mutating func endArray() { close(UInt8(ascii: "]")) }

    mutating func key(_ key: String) {
        separate()
        quote(key)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a key that ``renderedKey(_:)`` made once for many records, with quotes, escapes and colon.
    mutating func key(rendered: [UInt8]) {
        separate()
        bytes.append(contentsOf: rendered)
        needsComma = false
    }

    static func renderedKey(_ key: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.key(key)
        return writer.bytes
    }

    mutating func string(_ text: String) {
        separate()
        quote(text)
        needsComma = true
    }

    mutating func number(_ digits: String) {
        separate()
        bytes.append(contentsOf: digits.utf8)
        needsComma = true
    }

    mutating func number(_ value: Int) { number(String(value)) }

    /// Writes JSON that was made elsewhere.
    mutating func raw(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    mutating func value(_ value: JSONValue) {
        switch value {
        case .null: number("null")
        case .bool(let bool): number(bool ? "true" : "false")
        case .number(let digits): number(digits)
        case .string(let text): string(text)
        case .array(let elements):
            beginArray()
            for element in elements { self.value(element) }
            endArray()
        case .object(let object):
            beginObject()
            for member in object.members {
                key(member.key)
                self.value(member.value)
            }
            endObject()
        }
    }

    static func write(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(value)
        return writer.bytes
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { letters in
            // Most values need no escape: check once and copy.
            if letters.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
                bytes.append(contentsOf: letters)
            } else {
                for letter in letters { escape(letter) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ letter: UInt8) {
        switch letter {
        case UInt8(ascii: "\""): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "\"")]
        case UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "\\")]
        case 0x0D: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
        case 0x0A: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
        case 0x09: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
        case 0x08: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "b")]
        case 0x0C: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "f")]
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            bytes += Array("\\u00".utf8) + [digits[Int(letter >> 4)], digits[Int(letter & 15)]]
        default: bytes.append(letter)
        }
    }
}
