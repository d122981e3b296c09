/// A FileMaker name, split into the words of a Swift identifier.
struct NameWords: Equatable {
    /// The words as they were written.
    private(set) var words: [String] = []

    /// - Parameter name: The name in composed Unicode form. Every character that is neither letter nor digit separates
    ///   words, and so does each start of a word as in `customerID` and `HTMLText`.
    init(_ name: String) {
        let scalars = name[...].unicodeScalars
        var start = scalars.startIndex
        var index = scalars.startIndex
        var previous: Unicode.Scalar?
        while index < scalars.endIndex {
            let scalar = scalars[index]
            let next = scalars.index(after: index)
            guard Self.isPart(scalar, after: previous) else {
                if start < index { words.append(String(scalars[start..<index])) }
                start = next
                index = next
                previous = nil
                continue
            }
            if let previous, scalar.properties.isUppercase {
                let beginsWord = next < scalars.endIndex && scalars[next].properties.isLowercase
                if !previous.properties.isUppercase || beginsWord {
                    words.append(String(scalars[start..<index]))
                    start = index
                }
            }
            previous = scalar
            index = next
        }
        if start < index { words.append(String(scalars[start..<index])) }
    }

    private static func isPart(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> Bool {
        guard SwiftIdentifier.isPart(scalar), scalar != "_" else { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber:
            return true
        case .nonspacingMark, .spacingMark: return previous != nil
        default: return false
        }
    }

    /// The name with its last word in the singular; `nil` if that is not a plural.
    var singular: NameWords? {
        guard let last = words.last, let one = Singular.of(last) else { return nil }
        var words = self
        words.words[words.words.count - 1] = one
        return words
    }

    /// `customerId`; empty if there are no words.
    var lowerCamel: String { joined { $0.lowercased() } }

    /// `CustomerId`; empty if there are no words.
    var upperCamel: String { joined(Self.capitalized) }

    private func joined(_ first: (String) -> String) -> String {
        let text = words.prefix(1).map(first) + words.dropFirst().map(Self.capitalized)
        return SwiftIdentifier.composed(Self.short(text).joined())
    }

    private static func capitalized(_ word: String) -> String {
        word.prefix(1).uppercased() + word.dropFirst().lowercased()
    }

    /// The leading words, with at most 40 characters in total, so that the identifier fits into a line of code. The
    /// first word is truncated to that length.
    private static func short(_ words: [String]) -> [String] {
        let maximum = 40
        guard let first = words.first else { return [] }
        var result = [String(first.prefix(maximum))]
        var length = result[0].count
        for word in words.dropFirst() {
            length += word.count
            guard length <= maximum else { break }
            result.append(word)
        }
        return result
    }
}
