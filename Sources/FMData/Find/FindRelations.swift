/// The logical relations between two tests of the same value.
///
/// Everything that depends on how the host folds letters, splits words or reads numbers from text counts as unknown. A
/// result of `true` holds for every index language, and for text, number and date fields alike.
enum FindRelations {
    /// Whether a value that passes the first test surely passes the other.
    static func implies(_ test: FindTest, _ other: FindTest) -> Bool {
        if test == other { return true }
        if other == .isNotEmpty { return test.impliesNotEmpty }
        if let interval = FindInterval(test), let wider = FindInterval(other) { return interval.isInside(wider) }
        switch (test, other) {
        case (.matches(let known, let content), .matches(let pattern, let text)):
            return (pattern == known || pattern == .contains)
                && pattern.holds(for: FindText.unescaped(content), FindText.unescaped(text))
        case (.equals(let operand), .matches(let pattern, let text)):
            return isPlain(operand.text) && pattern.holds(for: operand.text, text)
        case (.equals(let operand), .words(let words)):
            let content = FindText.words(of: operand.text).map { FindWord(text: $0, extent: .whole) }
            return isPlain(operand.text) && words.allSatisfy { word in content.contains { $0.implies(word) } }
        case (.matches(let pattern, let text), .words(let words)):
            let content = pattern.words(text)
            return isPlain(text) && words.allSatisfy { word in content.contains { $0.implies(word) } }
        case (.words(let words), .words(let others)):
            return others.allSatisfy { other in words.contains { $0.implies(other) } }
        default: return false
        }
    }

    /// Whether surely no value passes both tests.
    static func excludes(_ test: FindTest, _ other: FindTest) -> Bool {
        if let interval = FindInterval(test), let another = FindInterval(other) {
            return interval.isApart(from: another)
        }
        switch (test, other) {
        case (.isEmpty, _): return other.impliesNotEmpty
        case (_, .isEmpty): return test.impliesNotEmpty
        case (.equals(let operand), .equals(let another)):
            return !operand.isOrdered && !another.isOrdered && areApart(operand.text, another.text)
        case (.equals(let operand), .matches(let pattern, let text)),
            (.matches(let pattern, let text), .equals(let operand)):
            return isPlain(operand.text) && isPlain(text) && !pattern.holds(for: folded(operand.text), folded(text))
        case (.equals(let operand), .words(let words)), (.words(let words), .equals(let operand)):
            let content = FindText.words(of: folded(operand.text)).map { FindWord(text: $0, extent: .whole) }
            let sought = words.map { FindWord(text: folded($0.text), extent: $0.extent) }
            return isPlain(operand.text) && words.allSatisfy { isPlain($0.text) }
                && !sought.allSatisfy { word in content.contains { $0.implies(word) } }
        case (.matches(.begins, let text), .matches(.begins, let another)):
            return isPlain(text) && isPlain(another) && !haveCommonStart(folded(text), folded(another))
        case (.matches(.ends, let text), .matches(.ends, let another)):
            return isPlain(text) && isPlain(another)
                && !haveCommonStart(String(folded(text).reversed()), String(folded(another).reversed()))
        default: return false
        }
    }

    /// Whether a text has only ASCII letters and spaces. A number field reads no number from such a text, and there is
    /// only one way to split it into words.
    static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 | 0x20 >= 97 && $0 | 0x20 <= 122 || $0 == 32 }
    }

    private static func folded(_ text: String) -> String { text.lowercased() }

    /// Whether two whole values surely differ. A number field reads `5`, `5.0` and `A5` alike, so digits must differ in
    /// more than zeros; a date field reads `2024` as the whole year.
    private static func areApart(_ one: String, _ other: String) -> Bool {
        let bytes = Array((one + other).utf8)
        guard bytes.allSatisfy({ $0 >= 32 && $0 < 127 && $0 != 47 && $0 != 58 }) else { return false }
        func digits(_ text: String) -> [UInt8] { text.utf8.filter { $0 > 48 && $0 <= 57 } }
        let hasDigits = bytes.contains { $0 >= 48 && $0 <= 57 }
        return hasDigits ? digits(one) != digits(other) : isPlain(one) && isPlain(other) && folded(one) != folded(other)
    }

    private static func haveCommonStart(_ one: String, _ other: String) -> Bool {
        one.hasPrefix(other) || other.hasPrefix(one)
    }
}

extension FindWord {
    /// Whether a value that contains this word also contains the other one.
    func implies(_ other: FindWord) -> Bool {
        switch (extent, other.extent) {
        case (_, .piece): text.contains(other.text)
        case (.whole, .whole): text == other.text
        case (.whole, .beginning), (.beginning, .beginning): text.hasPrefix(other.text)
        case (.beginning, .whole), (.piece, _): false
        }
    }
}

extension FindTest {
    /// The words and pieces that a test searches for, which can be joined in one criterion; `nil` for other tests. A
    /// number field reads digits in them as numbers, so `contains` with digits has none.
    var pieces: [FindWord]? {
        switch self {
        case .words(let words): words
        case .matches(.contains, let text) where FindRelations.isPlain(text): [FindWord(text: text, extent: .piece)]
        default: nil
        }
    }

    /// The words and pieces of several tests, each once; `nil` if a test has none, or if none of them is a word.
    static func words(uniting tests: [FindTest]) -> FindTest? {
        var united: [FindWord] = []
        for test in tests {
            guard let pieces = test.pieces else { return nil }
            for piece in pieces where !united.contains(where: { $0.implies(piece) }) {
                united.removeAll { piece.implies($0) }
                united.append(piece)
            }
        }
        return united.contains { $0.extent != .piece } ? .words(united) : nil
    }
}

extension FindPattern {
    /// Whether the pattern with this text matches the value.
    fileprivate func holds(for value: String, _ text: String) -> Bool {
        switch self {
        case .begins: value.hasPrefix(text)
        case .ends: value.hasSuffix(text)
        case .contains: value.contains(text)
        }
    }

    /// The words that every value has that matches the pattern with this text. If the text may continue, its last word
    /// may be incomplete; if it may start earlier, its first word is not counted.
    fileprivate func words(_ text: String) -> [FindWord] {
        var words = FindText.words(of: text).map { FindWord(text: $0, extent: .whole) }
        if self != .ends, let last = words.indices.last { words[last].extent = .beginning }
        if self != .begins, !words.isEmpty { words.removeFirst() }
        return words
    }
}
