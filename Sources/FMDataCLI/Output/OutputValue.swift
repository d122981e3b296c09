import FMData

/// A value of what a command prints as JSON, with the members of objects in order.
enum OutputValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// A number in the spelling of JSON.
    case number(String)
    case text(String)
    case list([OutputValue])
    case object([Member])
    /// A value that is JSON already.
    case json(String)

    struct Member: Equatable, Sendable {
        var name: String
        var value: OutputValue
    }

    static func int(_ number: Int) -> OutputValue { .number(String(number)) }

    static func texts(_ texts: [String]) -> OutputValue { .list(texts.map(OutputValue.text)) }
}

extension OutputValue: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self = .text(text) }
}

extension OutputValue: ExpressibleByDictionaryLiteral {
    /// An object without the members whose value is nil.
    init(dictionaryLiteral elements: (String, OutputValue?)...) {
        self = .object(elements.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }
}

extension OutputValue {
    /// The value in one line.
    var json: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let bool): text += bool ? "true" : "false"
        case .number(let number): text += number
        case .json(let json): text += json
        case .text(let string): Self.write(string, to: &text)
        case .list(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.name, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // The last two end a line in JavaScript.
            case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                text += scalar.asInJSON
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension OutputValue {
    /// The value of a field. A number keeps its digits.
    init(_ value: FieldValue) {
        switch value {
        case .text(let text): self = .text(text)
        case .number(let number):
            // A number that FileMaker spells in its own way, such as `.5`, is no JSON.
            self = number.literal.isJSONNumber ? .number(number.literal) : .text(number.literal)
        }
    }
}

extension String {
    /// Whether the text is a number in the spelling of JSON. A regular expression would take most of the time of an
    /// export.
    var isJSONNumber: Bool {
        var rest = utf8[...]
        func takeDigits() -> Int {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }.count
            rest = rest.dropFirst(digits)
            return digits
        }
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let whole = takeDigits()
        guard whole == 1 || whole > 1 && !startsWithZero else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard takeDigits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            guard takeDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    /// Whether the text is such a number without an exponent.
    var isPlainNumber: Bool { isJSONNumber && !utf8.contains { $0 | 0x20 == UInt8(ascii: "e") } }
}
