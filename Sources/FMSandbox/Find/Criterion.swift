/// One criterion of a find request, parsed for the type of its field, so that each record needs only one comparison.
///
/// Source: Claris FileMaker Pro Help, "Finding text", "Finding numbers", "Finding dates and times", "Finding ranges".
enum Criterion: Equatable, Sendable {
    /// `=` alone.
    case empty
    /// `*` alone.
    case notEmpty
    /// `!`: the whole content occurs in more than one record of the table.
    case duplicated(Solution.FieldType)
    /// `?`: the content is not of the field's type.
    case unreadable(Solution.FieldType)
    case text(TextCriterion)
    case number(NumberCriterion)
    case moment(MomentCriterion)

    /// Parses a criterion. Throws the errors that a host answers: 500, 501 and 502 if it is not a date, time or number,
    /// 508 for any other criterion on a container.
    init(_ text: String, type: Solution.FieldType, today: CivilDate, dates: Sandbox.CriterionDates = .us) throws {
        var text = text.trimmed
        // `~` requests a relaxed search in Japanese text; folding is already as relaxed as possible.
        if text.hasPrefix("~") { text = String(text.dropFirst()).trimmed }
        switch text {
        case "=", "==": self = .empty
        case "*": self = .notEmpty
        case "!": self = .duplicated(type)
        case "?" where type != .text && type != .container: self = .unreadable(type)
        default:
            switch type {
            case .text: self = .text(TextCriterion(text))
            case .number: self = .number(try NumberCriterion(text))
            case .date, .time, .timestamp:
                self = .moment(try MomentCriterion(text, type: type, today: today, dates: dates))
            case .container: throw FileMakerError(508)
            }
        }
    }

    /// Whether a content satisfies the criterion. `duplicates` contains the contents that occur more than once.
    func matches(_ content: FindContent, duplicates: Set<MatchKey>) -> Bool {
        let value = content.value
        switch self {
        case .empty: return value.isEmpty
        case .notEmpty: return !value.isEmpty
        case .duplicated(let type): return !value.isEmpty && duplicates.contains(Self.content(value.text, type))
        case .unreadable(let type): return !value.isEmpty && !Self.isReadable(value.text, as: type)
        case .text(let criterion): return criterion.matches(content.folded)
        case .number(let criterion): return criterion.matches(value.text)
        case .moment(let criterion): return criterion.matches(value.text)
        }
    }

    /// A content in the form in which `!` compares it: numbers by value (`$20.00` and `20.0`), all else without case
    /// and accents.
    static func content(_ text: String, _ type: Solution.FieldType) -> MatchKey {
        MatchKey(text, type: type) ?? .text(TextFolding.fold(text))
    }

    private static func isReadable(_ text: String, as type: Solution.FieldType) -> Bool {
        switch type {
        case .number: FMNumber(reading: text) != nil
        case .date: DateNotation.us.date(from: text) != nil
        case .time: CivilTime(text: text) != nil
        case .timestamp: DateNotation.us.timestamp(from: text) != nil
        case .text, .container: true
        }
    }
}

/// A value that criteria are compared with, with its text as criteria on text see it.
struct FindContent {
    let value: FieldValue
    /// Empty for a field of another type, which no criterion on text is compared with.
    let folded: [UInt32]

    init(_ value: FieldValue, of type: Solution.FieldType) {
        self.value = value
        folded = type == .text ? TextFolding.fold(value.text) : []
    }
}

/// The comparison at the start of a criterion.
enum CriterionComparison: Equatable, Sendable {
    case less, lessOrEqual, greater, greaterOrEqual

    private static let signs: [(String, CriterionComparison)] = [
        ("<=", .lessOrEqual), ("≤", .lessOrEqual), (">=", .greaterOrEqual), ("≥", .greaterOrEqual), ("<", .less),
        (">", .greater),
    ]

    /// The comparison and the text after it.
    static func split(_ text: String) -> (comparison: CriterionComparison, rest: String)? {
        guard let (sign, comparison) = signs.first(where: { text.hasPrefix($0.0) }) else { return nil }
        return (comparison, String(text.dropFirst(sign.count)).trimmed)
    }
}

/// Finds the range sign of a criterion: `..`, `...` or `…` outside quotes and braces and not escaped.
enum RangeSign {
    /// Longest first, so that `...` is not read as `..`.
    private static let signs = ["...", "..", "…"]

    static func split(_ text: String) -> (from: String, to: String)? {
        var inQuotes = false
        var braces = 0
        var position = text.startIndex
        while position < text.endIndex {
            let character = text[position]
            switch character {
            case "\\":
                position = text.index(after: position)
                guard position < text.endIndex else { return nil }
                // An escaped range sign is literal as a whole.
                if let sign = signs.first(where: text[position...].hasPrefix) {
                    position = text.index(position, offsetBy: sign.count)
                    continue
                }
            case "\"": inQuotes.toggle()
            case "{": braces += 1
            case "}": braces -= 1
            default:
                if !inQuotes, braces <= 0, let sign = signs.first(where: text[position...].hasPrefix) {
                    let end = text.index(position, offsetBy: sign.count)
                    return (String(text[..<position]).trimmed, String(text[end...]).trimmed)
                }
            }
            position = text.index(after: position)
        }
        return nil
    }
}
