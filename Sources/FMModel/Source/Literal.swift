/// A text as a Swift string literal on one line, with exactly the same bytes.
struct Literal: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        // An editor may change a decomposed letter to its composed form, which is another name to the host.
        let isComposed = SchemaName(SwiftIdentifier.composed(text)) == SchemaName(text)
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

    /// Whether the character is visible and unambiguous in source text.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
