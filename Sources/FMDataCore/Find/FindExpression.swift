/// A find as it was written: a tree of tests.
indirect enum FindExpression: Hashable, Sendable {
    case test(FindCriterion)
    case not(FindExpression)
    /// Holds if it is empty.
    case and([FindExpression])
    /// Does not hold if it is empty.
    case or([FindExpression])
    /// A test that cannot be made, because its value has no text form. The error is thrown when the find is compiled,
    /// since an operator in the middle of an expression should not throw.
    case unusable(DataAPI.FindError)

    /// The parts that all must hold. Keeps long chains of `&&` flat.
    var conjuncts: [FindExpression] {
        if case .and(let parts) = self { parts } else { [self] }
    }

    /// The parts one of which must hold. Keeps long chains of `||` flat.
    var disjuncts: [FindExpression] {
        if case .or(let parts) = self { parts } else { [self] }
    }
}

extension FindExpression {
    /// Whether a value in the find contains line feeds.
    var hasLineFeeds: Bool {
        switch self {
        case .test(let criterion): criterion.test.operands.contains(where: \.hasLineFeeds)
        case .not(let inner): inner.hasLineFeeds
        case .and(let parts), .or(let parts): parts.contains(where: \.hasLineFeeds)
        case .unusable: false
        }
    }

    /// The same find with FileMaker's line ends in its values.
    var withReturns: FindExpression {
        guard hasLineFeeds else { return self }
        switch self {
        case .test(var criterion):
            criterion.test = criterion.test.withReturns
            return .test(criterion)
        case .not(let inner): return .not(inner.withReturns)
        case .and(let parts): return .and(parts.map(\.withReturns))
        case .or(let parts): return .or(parts.map(\.withReturns))
        case .unusable: return self
        }
    }
}

/// One test of one field.
struct FindCriterion: Hashable, Sendable {
    var field: String
    var values: FindFieldValues
    var test: FindTest
}

/// The number of values that a record has for a field.
enum FindFieldValues: Hashable, Sendable {
    /// Exactly one, which may be empty: all tests apply to the same value, so they can be joined and complemented.
    case one
    /// None, one or several: a test holds if any value passes it, so `> 1` may hold for one value and `< 5` for
    /// another.
    case any
}

/// A condition on a field. The texts are already escaped.
enum FindTest: Hashable, Sendable {
    /// The whole value equals the text.
    case equals(FindOperand)
    /// A pattern for the whole value: `*` stands for any run of characters.
    case matches(FindPattern, String)
    /// Each word occurs in the value.
    case words([FindWord])
    case compares(FindComparison, FindOperand)
    /// Both ends are included.
    case range(FindOperand, FindOperand)
    case isEmpty
    case isNotEmpty
    case isDuplicated
    case isToday
    /// A criterion that FileMaker interprets.
    case raw(String)
}

enum FindPattern: Hashable, Sendable {
    case begins, contains, ends
}

enum FindComparison: Hashable, Sendable {
    case less, lessOrEqual, greater, greaterOrEqual

    /// The comparison that holds for exactly those comparable values for which this one does not hold.
    var complement: FindComparison {
        switch self {
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }
}

/// A word to search for.
struct FindWord: Hashable, Sendable {
    enum Extent: Hashable, Sendable {
        /// A whole word: `=word`.
        case whole
        /// The beginning of a word: `word`.
        case beginning
        /// Any part of the value, also of several words: `*"piece"`. Beside words it has the same meaning as
        /// `contains`.
        case piece
    }

    /// The escaped text. A piece has nothing to escape.
    var text: String
    var extent: Extent

    var criterion: String {
        switch extent {
        case .whole: "=" + text
        case .beginning: text
        case .piece: "*\"\(text)\""
        }
    }
}

/// A value to compare with.
struct FindOperand: Hashable, Sendable {
    /// The escaped text.
    var text: String
    /// Whether it is compared as one value (a number, a date), instead of word by word like text.
    var isOrdered: Bool

    fileprivate var withReturns: FindOperand { FindOperand(text: Self.withReturns(text), isOrdered: isOrdered) }

    /// - Parameter escaped: White space is escaped at the ends of a text, which may change, so the text is escaped
    ///   anew.
    fileprivate static func withReturns(_ escaped: String) -> String {
        guard escaped.hasLineFeeds else { return escaped }
        return FindText.escaped(FindText.unescaped(escaped).withReturns)
    }
}

extension FindTest {
    /// The criterion in FileMaker's syntax. Source: FileMaker Pro help, "Finding text", "Finding numbers, dates …".
    var text: String {
        switch self {
        case .equals(let operand): "==" + operand.text
        case .matches(.begins, let text): "==\(text)*"
        case .matches(.contains, let text): "==*\(text)*"
        case .matches(.ends, let text): "==*\(text)"
        case .words(let words): words.map(\.criterion).joined(separator: " ")
        case .compares(.less, let operand): "<" + operand.text
        case .compares(.lessOrEqual, let operand): "<=" + operand.text
        case .compares(.greater, let operand): ">" + operand.text
        case .compares(.greaterOrEqual, let operand): ">=" + operand.text
        case .range(let lower, let upper): "\(lower.text)...\(upper.text)"
        case .isEmpty: "="
        case .isNotEmpty: "*"
        case .isDuplicated: "!"
        case .isToday: "//"
        case .raw(let text): text
        }
    }

    /// The escaped texts of the values in the test. Words contain no line ends, and a raw criterion is not a value.
    fileprivate var operands: [String] {
        switch self {
        case .equals(let operand), .compares(_, let operand): [operand.text]
        case .range(let lower, let upper): [lower.text, upper.text]
        case .matches(_, let text): [text]
        case .words, .isEmpty, .isNotEmpty, .isDuplicated, .isToday, .raw: []
        }
    }

    fileprivate var withReturns: FindTest {
        switch self {
        case .equals(let operand): .equals(operand.withReturns)
        case .compares(let comparison, let operand): .compares(comparison, operand.withReturns)
        case .range(let lower, let upper): .range(lower.withReturns, upper.withReturns)
        case .matches(let pattern, let text): .matches(pattern, FindOperand.withReturns(text))
        case .words, .isEmpty, .isNotEmpty, .isDuplicated, .isToday, .raw: self
        }
    }

    /// Whether the test compares numbers, dates or times.
    var isOrdered: Bool { complements != nil }

    /// Whether every value that passes the test is not empty.
    var impliesNotEmpty: Bool {
        switch self {
        case .equals, .matches, .words, .compares, .range, .isNotEmpty, .isToday: true
        case .isEmpty, .isDuplicated, .raw: false
        }
    }

    /// The tests that hold for exactly those comparable values for which this one does not hold; `nil` if there are
    /// none.
    var complements: [FindTest]? {
        switch self {
        case .compares(let comparison, let operand) where operand.isOrdered:
            [.compares(comparison.complement, operand)]
        case .range(let lower, let upper) where lower.isOrdered && upper.isOrdered:
            [.compares(.less, lower), .compares(.greater, upper)]
        case .equals(let operand) where operand.isOrdered:
            [.compares(.less, operand), .compares(.greater, operand)]
        case .equals, .matches, .words, .compares, .range, .isEmpty, .isNotEmpty, .isDuplicated, .isToday, .raw:
            nil
        }
    }
}
