/// A text as a string literal of Swift, on one line and with its bytes.
struct Literal: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        // An editor may write a decomposed letter in its composed form, which is another name to the host.
        let isComposed = ExactName(SwiftIdentifier.composed(text)) == ExactName(text)
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": literal += "\\\\"
            case "\"": literal += "\\\""
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            default:
                if Self.isPlain(scalar), isComposed || scalar.isASCII {
                    literal.unicodeScalars.append(scalar)
                } else {
                    literal += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
                }
            }
        }
        description = literal + "\""
    }

    /// Whether a reader sees the character where it stands and nowhere else.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
