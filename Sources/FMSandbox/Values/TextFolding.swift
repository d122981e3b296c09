import Foundation

/// Text as in FileMaker's index: without case and without accents.
enum TextFolding {
    /// The folded text as scalars, so that the patterns of a find can match one character at a time.
    static func fold(_ text: String) -> [UInt32] {
        var text = text
        let plain = text.withUTF8 { letters -> [UInt32]? in
            guard letters.allSatisfy({ $0 < 0x80 }) else { return nil }
            return letters.map { (0x41...0x5A).contains($0) ? UInt32($0) + 0x20 : UInt32($0) }
        }
        return plain ?? text.decomposedStringWithCompatibilityMapping.unicodeScalars.flatMap(fold)
    }

    private static func fold(_ scalar: Unicode.Scalar) -> [UInt32] {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: []
        default: scalar == "ß" ? [0x73, 0x73] : scalar.properties.lowercaseMapping.unicodeScalars.map(\.value)
        }
    }

    /// Returns -1 if `left` sorts before `right`, 0 if they are equal, 1 if it sorts after it.
    static func compare(_ left: [UInt32], _ right: [UInt32]) -> Int {
        for (one, other) in zip(left, right) where one != other { return one < other ? -1 : 1 }
        return left.count == right.count ? 0 : (left.count < right.count ? -1 : 1)
    }

    /// The words of a folded text, by the rule of FileMaker's word index. Letters and digits belong to words, and so do
    /// an apostrophe or a period between two letters and `. , : / -` between two digits. All else separates words.
    static func words(in text: [UInt32]) -> [ArraySlice<UInt32>] {
        var words: [ArraySlice<UInt32>] = []
        var start: Int?
        for position in text.indices {
            if isWordCharacter(at: position, in: text) {
                start = start ?? position
            } else if let first = start {
                words.append(text[first..<position])
                start = nil
            }
        }
        if let start { words.append(text[start...]) }
        return words
    }

    static func isWordCharacter(at position: Int, in text: [UInt32]) -> Bool {
        let scalar = text[position]
        if isLetter(scalar) || isDigit(scalar) { return true }
        guard position > text.startIndex, position + 1 < text.endIndex else { return false }
        let (before, after) = (text[position - 1], text[position + 1])
        switch scalar {
        case 0x27, 0x2019: return isLetter(before) && isLetter(after)
        case 0x2E: return (isLetter(before) && isLetter(after)) || (isDigit(before) && isDigit(after))
        case 0x2C, 0x3A, 0x2F, 0x2D: return isDigit(before) && isDigit(after)
        default: return false
        }
    }

    static func isDigit(_ scalar: UInt32) -> Bool { (0x30...0x39).contains(scalar) }

    static func isLetter(_ scalar: UInt32) -> Bool {
        if scalar < 0x80 { return (0x61...0x7A).contains(scalar) || (0x41...0x5A).contains(scalar) }
        guard let scalar = Unicode.Scalar(scalar) else { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber,
            .decimalNumber, .otherNumber, .spacingMark:
            return true
        default:
            return false
        }
    }
}
