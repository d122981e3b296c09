extension FindTest {
    /// Whether a value that passes this test surely passes the other.
    func implies(_ other: FindTest) -> Bool { self == other || other == .isNotEmpty && impliesNotEmpty }

    /// Whether surely no value passes both tests. How the host folds letters or reads numbers from text is unknown, so
    /// the answer holds for every index language, and for text, number and date fields alike.
    func excludes(_ other: FindTest) -> Bool {
        switch (self, other) {
        case (.isEmpty, _): other.impliesNotEmpty
        case (_, .isEmpty): impliesNotEmpty
        case (.equals(let one), .equals(let other)):
            one.isOrdered && other.isOrdered
                ? FindOrderKey.compare(one, other).map { $0 != 0 } ?? false
                : !one.isOrdered && !other.isOrdered && Self.areApart(one.text, other.text)
        default: false
        }
    }

    /// Whether two whole values surely differ. A number field reads `5`, `5.0` and `A5` alike, so digits must differ in
    /// more than zeros; a date field reads `2024` as the whole year.
    private static func areApart(_ one: String, _ other: String) -> Bool {
        let bytes = Array((one + other).utf8)
        guard bytes.allSatisfy({ $0 >= 32 && $0 < 127 && $0 != 47 && $0 != 58 }) else { return false }
        func digits(_ text: String) -> [UInt8] { text.utf8.filter { $0 > 48 && $0 <= 57 } }
        let hasDigits = bytes.contains { $0 >= 48 && $0 <= 57 }
        return hasDigits
            ? digits(one) != digits(other) : one.isPlain && other.isPlain && one.lowercased() != other.lowercased()
    }
}

extension String {
    /// Whether a text has only ASCII letters and spaces. A number field reads no number from such a text, and there is
    /// only one way to split it into words.
    fileprivate var isPlain: Bool {
        utf8.allSatisfy { $0 | 0x20 >= 97 && $0 | 0x20 <= 122 || $0 == 32 }
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
        case .matches(.contains, let text) where text.isPlain: [FindWord(text: text, extent: .piece)]
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

extension FindCriterion {
    /// The condition in words, without its value.
    var words: String { "\(field) \(verb)" }

    private var verb: String {
        switch test {
        case .equals: "is …"
        case .matches(.begins, _): "begins with …"
        case .matches(.contains, _): "contains …"
        case .matches(.ends, _): "ends with …"
        case .words: "has the words …"
        case .compares(.less, _): "is less than …"
        case .compares(.lessOrEqual, _): "is at most …"
        case .compares(.greater, _): "is greater than …"
        case .compares(.greaterOrEqual, _): "is at least …"
        case .range: "is from … to …"
        case .isEmpty: "is empty"
        case .isNotEmpty: "is not empty"
        case .isDuplicated: "has the value of another record"
        case .isToday: "is today"
        case .raw: "matches a criterion"
        }
    }
}
