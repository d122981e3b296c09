/// A criterion on a text field.
enum TextCriterion: Equatable, Sendable {
    /// `==text`: the whole content.
    case whole(TextPattern)
    /// Words in any order, each of which must occur.
    case words([Token])
    /// `<word` and the like: at least one word of the field is below or above.
    case comparison(CriterionComparison, [UInt32])
    /// `a...b`: at least one word lies between, ends included; nil is an open end.
    case range([UInt32]?, [UInt32]?)

    struct Token: Equatable, Sendable {
        var pattern: TextPattern
        /// `=word`: the pattern must match to the end of the word.
        var isWholeWord = false
        /// Whether the pattern can span words: a phrase in quotes, or a word with escaped separators.
        var isPhrase = false
        /// Whether a phrase follows `*`: it may start anywhere, not only at the start of a word.
        var startsAnywhere = false

        /// Whether the pattern begins with a character that no word contains, such as an escaped quotation mark, so
        /// that it cannot start at a word.
        var startsOutsideWords: Bool {
            switch pattern.elements.first {
            case .literal(let scalar): !TextFolding.isLetter(scalar) && !TextFolding.isDigit(scalar)
            case .anyRun: true
            case .anyCharacter, .anyDigit, nil: false
            }
        }
    }

    init(_ text: String) {
        if text.hasPrefix("==") {
            self = .whole(CriterionReader.wholePattern(String(text.dropFirst(2))))
        } else if let (comparison, rest) = CriterionComparison.split(text) {
            self = .comparison(comparison, TextFolding.fold(CriterionReader.plain(rest)))
        } else if let (from, to) = RangeSign.split(text), !(from.isEmpty && to.isEmpty) {
            let ends = [from, to].map { $0.isEmpty ? nil : TextFolding.fold(CriterionReader.plain($0)) }
            self = .range(ends[0], ends[1])
        } else {
            self = .words(CriterionReader.tokens(text))
        }
    }

    /// Whether a folded text satisfies the criterion.
    func matches(_ folded: [UInt32]) -> Bool {
        switch self {
        case .whole(let pattern):
            return pattern.matches(folded[...], whole: true)
        case .words(let tokens):
            // A criterion of separators only has no word and so finds nothing.
            guard !tokens.isEmpty, !folded.isEmpty else { return false }
            let words = TextFolding.words(in: folded)
            return tokens.allSatisfy { Self.matches($0, folded, words) }
        case .comparison(let comparison, let bound):
            return TextFolding.words(in: folded).contains { word in
                let order = TextFolding.compare(Array(word), bound)
                switch comparison {
                case .less: return order < 0
                case .lessOrEqual: return order <= 0
                case .greater: return order > 0
                case .greaterOrEqual: return order >= 0
                }
            }
        case .range(let from, let to):
            return TextFolding.words(in: folded).contains { word in
                let word = Array(word)
                return from.map { TextFolding.compare(word, $0) >= 0 } ?? true
                    && to.map { TextFolding.compare(word, $0) <= 0 } ?? true
            }
        }
    }

    private static func matches(_ token: Token, _ text: [UInt32], _ words: [ArraySlice<UInt32>]) -> Bool {
        guard token.isPhrase else {
            return words.contains { token.pattern.matches($0, whole: token.isWholeWord) }
        }
        if token.startsAnywhere || token.startsOutsideWords {
            return text.indices.contains { token.pattern.matches(text[$0...], whole: false) }
        }
        return words.contains { token.pattern.matches(text[$0.startIndex...], whole: false) }
    }
}

/// Reads the operators inside a text criterion.
enum CriterionReader {
    /// The text without escapes and quotes.
    static func plain(_ text: String) -> String {
        var plain = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\" {
                if let next = rest.popFirst() { plain.append(next) }
            } else if character != "\"" {
                plain.append(character)
            }
        }
        return plain
    }

    /// The pattern of `==`: wildcards outside quotes count, everything else is literal.
    static func wholePattern(_ text: String) -> TextPattern {
        var pattern = TextPattern()
        var inQuotes = false
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "\\": if let next = rest.popFirst() { append(next, to: &pattern) }
            case "\"": inQuotes.toggle()
            default:
                if !inQuotes, let element = wildcard(character) {
                    pattern.elements.append(element)
                } else {
                    append(character, to: &pattern)
                }
            }
        }
        return pattern
    }

    static func wildcard(_ character: Character) -> TextPattern.Element? {
        switch character {
        case "*": .anyRun
        case "@": .anyCharacter
        case "#": .anyDigit
        default: nil
        }
    }

    private static func append(_ character: Character, to pattern: inout TextPattern) {
        pattern.elements += TextFolding.fold(String(character)).map(TextPattern.Element.literal)
    }

    /// The words and phrases of a criterion.
    static func tokens(_ text: String) -> [TextCriterion.Token] {
        var tokens: [TextCriterion.Token] = []
        var token: TextCriterion.Token?
        func finish() {
            // A token of `*` alone has no effect.
            if let token, token.pattern.elements.contains(where: { $0 != .anyRun }) { tokens.append(token) }
            token = nil
        }
        let characters = Array(text)
        let folded = characters.map { TextFolding.fold(String($0)) }
        var position = 0
        while position < characters.count {
            let character = characters[position]
            position += 1
            if character == "\\" {
                guard position < characters.count else { break }
                let literal = folded[position]
                position += 1
                token = token ?? TextCriterion.Token(pattern: TextPattern())
                token?.pattern.elements += literal.map(TextPattern.Element.literal)
                // The word index has no such word, so the text itself is searched.
                if !literal.allSatisfy({ TextFolding.isLetter($0) || TextFolding.isDigit($0) }) {
                    token?.isPhrase = true
                }
            } else if character == "\"" {
                let startsAnywhere = token?.pattern.elements == [.anyRun]
                if !startsAnywhere { finish() }
                token = TextCriterion.Token(pattern: TextPattern(), isPhrase: true, startsAnywhere: startsAnywhere)
                while position < characters.count, characters[position] != "\"" {
                    if characters[position] == "\\", position + 1 < characters.count { position += 1 }
                    token?.pattern.elements += folded[position].map(TextPattern.Element.literal)
                    position += 1
                }
                position += 1
                finish()
            } else if character == "=", token == nil {
                token = TextCriterion.Token(pattern: TextPattern(), isWholeWord: true)
            } else if let wildcard = wildcard(character) {
                token = token ?? TextCriterion.Token(pattern: TextPattern())
                token?.pattern.elements.append(wildcard)
            } else if isInWord(position - 1, folded) {
                token = token ?? TextCriterion.Token(pattern: TextPattern())
                token?.pattern.elements += folded[position - 1].map(TextPattern.Element.literal)
            } else {
                finish()
            }
        }
        finish()
        return tokens
    }

    /// The rule of the word index, applied to a criterion, so that `O'Hara` is one word here too.
    private static func isInWord(_ position: Int, _ folded: [[UInt32]]) -> Bool {
        let neighbourhood = folded[max(0, position - 1)..<min(folded.count, position + 2)].map { $0.first ?? 0x20 }
        let place = position == 0 ? 0 : 1
        return neighbourhood.indices.contains(place) && TextFolding.isWordCharacter(at: place, in: neighbourhood)
    }
}
