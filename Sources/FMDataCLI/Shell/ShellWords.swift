/// The words of a line. Spaces separate them, and quotes and backslashes keep a space in a word, as in a POSIX shell.
/// No other character has a meaning, so `Total>=100` needs no quotes here.
struct ShellWords: Equatable {
    struct Word: Equatable {
        /// The word without its quotes.
        var text: String
        /// Where it begins in the line.
        var start: String.Index
    }

    private(set) var words: [Word] = []
    /// The quote that nothing has closed; nil for none. The next line belongs to the same word then.
    private(set) var openQuote: Unicode.Scalar?
    /// Whether the line ends in the middle of its last word, so that what is typed next belongs to it.
    private(set) var endsInWord = false

    init(_ line: String) {
        // A character would hide a quote that an accent follows.
        let scalars = line.unicodeScalars
        var index = scalars.startIndex
        func next() -> Unicode.Scalar? {
            guard index < scalars.endIndex else { return nil }
            defer { index = scalars.index(after: index) }
            return scalars[index]
        }
        func append(_ scalar: Unicode.Scalar?, from start: String.Index) {
            if !endsInWord { words.append(Word(text: "", start: start)) }
            endsInWord = true
            if let scalar { words[words.count - 1].text.unicodeScalars.append(scalar) }
        }
        while case let start = index, let scalar = next() {
            switch (openQuote, scalar) {
            case (nil, " "), (nil, "\t"), (nil, "\n"): endsInWord = false
            case (nil, "'"), (nil, "\""):
                openQuote = scalar
                append(nil, from: start)
            case (nil, "\\"): append(next() ?? "\\", from: start)
            case (let quote?, scalar) where quote == scalar: openQuote = nil
            case ("\""?, "\\"):
                let isEscape = index < scalars.endIndex && (scalars[index] == "\"" || scalars[index] == "\\")
                append(isEscape ? next() : "\\", from: start)
            default: append(scalar, from: start)
            }
        }
    }

    /// The words without their quotes.
    var texts: [String] { words.map(\.text) }

    /// A text as one word of a line, in quotes where it needs them.
    static func quoted(_ text: String) -> String {
        let needsQuotes = text.unicodeScalars.contains { " \t\n'\"\\".unicodeScalars.contains($0) }
        guard needsQuotes || text.isEmpty else { return text }
        return "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
