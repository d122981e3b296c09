import Foundation

/// The rules for Swift identifiers.
enum SwiftIdentifier {
    /// Words that need backticks as identifiers. Most contextual keywords do not need them in these places.
    private static let keywords: Set<String> = [
        "Any", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer",
        "deinit",
        "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
        "import", "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
        "public", "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw",
        "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// The identifier as source text, with backticks if needed.
    static func source(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Whether the text is a valid identifier, with or without backticks around it in source text.
    static func isValid(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, isHead(first) else { return false }
        // Two Unicode forms of one text are different identifiers to the compiler, but look the same to readers.
        return name.unicodeScalars.allSatisfy(isPart) && name != "_" && SchemaName(composed(name)) == SchemaName(name)
    }

    /// The text in composed form, in which each text has only one spelling.
    static func composed(_ text: String) -> String { text.precomposedStringWithCanonicalMapping }

    static func isHead(_ scalar: Unicode.Scalar) -> Bool {
        isPart(scalar) && !("0"..."9").contains(scalar) && !continuing.contains { $0.contains(scalar.value) }
    }

    static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: letters.contains { $0.contains(scalar.value) }
        }
    }

    /// Combining marks, which are allowed anywhere but at the start.
    private static let continuing: [ClosedRange<UInt32>] = [
        0x0300...0x036F, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F,
    ]

    /// The characters of identifiers. Source: The Swift Programming Language, "Grammar of an identifier".
    private static let letters: [ClosedRange<UInt32>] =
        [
            0x00A8...0x00A8, 0x00AA...0x00AA, 0x00AD...0x00AD, 0x00AF...0x00AF, 0x00B2...0x00B5, 0x00B7...0x00BA,
            0x00BC...0x00BE, 0x00C0...0x00D6, 0x00D8...0x00F6, 0x00F8...0x02FF, 0x0300...0x167F, 0x1681...0x180D,
            0x180F...0x1FFF, 0x200B...0x200D, 0x202A...0x202E, 0x203F...0x2040, 0x2054...0x2054, 0x2060...0x218F,
            0x2460...0x24FF, 0x2776...0x2793, 0x2C00...0x2DFF, 0x2E80...0x2FFF, 0x3004...0x3007, 0x3021...0x302F,
            0x3031...0xD7FF, 0xF900...0xFD3D, 0xFD40...0xFDCF, 0xFDF0...0xFE44, 0xFE47...0xFFFD,
        ] + (1...14).map { UInt32($0) << 16...UInt32($0) << 16 + 0xFFFD }
}
