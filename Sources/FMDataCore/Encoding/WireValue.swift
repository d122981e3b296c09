/// A JSON value as it is sent, with its members in order.
package enum WireValue: Hashable, Sendable {
    /// A number, `true`, `false` or `null`.
    case literal(String)
    case text(String)
    case array([WireValue])
    case object([Member])

    package struct Member: Hashable, Sendable {
        package let name: String
        package let value: WireValue

        package init(name: String, value: WireValue) {
            self.name = name
            self.value = value
        }
    }

    /// An object with its members sorted by name, so that equal dictionaries give the same bytes.
    package static func object(_ texts: [String: String]) -> WireValue {
        .object(texts.sorted { $0.key < $1.key }.map { Member(name: $0.key, value: .text($0.value)) })
    }

    static func texts(_ texts: [String]) -> WireValue { .array(texts.map(WireValue.text)) }
}

extension WireValue {
    /// The text; `nil` for other values.
    package var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The elements of an array; empty for other values.
    package var elements: [WireValue] { if case .array(let elements) = self { elements } else { [] } }

    /// The members of an object; empty for other values.
    package var members: [Member] { if case .object(let members) = self { members } else { [] } }

    /// The same structure with `mark` in place of every value. The names of members stay.
    func replacingValues(by mark: String) -> WireValue {
        switch self {
        case .literal, .text: .text(mark)
        case .array(let elements): .array(elements.map { $0.replacingValues(by: mark) })
        case .object(let members):
            .object(members.map { Member(name: $0.name, value: $0.value.replacingValues(by: mark)) })
        }
    }
}

extension WireValue {
    /// The value as JSON in UTF-8.
    package var json: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }

    private func write(into bytes: inout [UInt8]) {
        switch self {
        case .literal(let literal):
            bytes += literal.utf8
        case .text(let text):
            Self.write(text, into: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (position, element) in elements.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (position, member) in members.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, into: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a text as a JSON string, in quotes.
    private static func write(_ text: String, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x09: bytes += "\\t".utf8
            case 0..<0x20:
                bytes += "\\u00".utf8
                bytes.append(byte >> 4 + UInt8(ascii: "0"))
                let digit = byte & 15
                bytes.append(digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a"))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
