/// JSON in the format of the snapshot: sorted keys, and a separate line for each item whose changes a reader wants to
/// see.
indirect enum SnapshotJSON {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([SnapshotJSON])
    case object([String: SnapshotJSON])

    /// The text of a file.
    var fileText: String { text(indentation: "") + "\n" }

    private func text(indentation: String) -> String {
        let inner = indentation + "  "
        switch self {
        case .list(let elements):
            guard !elements.isEmpty else { return "[]" }
            if isFlat { return inline }
            let lines = elements.map { inner + ($0.isFlat ? $0.inline : $0.text(indentation: inner)) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(indentation)]"
        case .object(let members):
            guard !members.isEmpty else { return "{}" }
            let lines = Self.sorted(members).map { key, value in
                "\(inner)\(Self.quoted(key)): \(value.text(indentation: inner))"
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(indentation)}"
        case .text, .number, .flag: return inline
        }
    }

    private var inline: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .number(let number): String(number)
        case .flag(let flag): String(flag)
        case .list(let elements): "[\(elements.map(\.inline).joined(separator: ", "))]"
        case .object(let members):
            "{\(Self.sorted(members).map { "\(Self.quoted($0)): \($1.inline)" }.joined(separator: ", "))}"
        }
    }

    /// Whether it has no nested values, except for the short lists of ranges.
    private var isFlat: Bool {
        switch self {
        case .text, .number, .flag: true
        case .list(let elements): elements.allSatisfy(\.isScalar)
        case .object(let members): members.values.allSatisfy { $0.isScalar || $0.isShortList }
        }
    }

    private var isScalar: Bool {
        switch self {
        case .text, .number, .flag: true
        case .list, .object: false
        }
    }

    /// Whether it is a list of two values, such as the ends of a range.
    private var isShortList: Bool {
        if case .list(let elements) = self { elements.count == 2 && elements.allSatisfy(\.isScalar) } else { false }
    }

    private static func sorted(_ members: [String: SnapshotJSON]) -> [(key: String, value: SnapshotJSON)] {
        members.sorted { $0.key < $1.key }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{2028}", "\u{2029}", "\u{7F}", "\0"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
