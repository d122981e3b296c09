/// A criterion on a number field.
enum NumberCriterion: Equatable, Sendable {
    case equal(FMNumber)
    case comparison(CriterionComparison, FMNumber)
    /// Both ends are included; nil is an open end.
    case range(FMNumber?, FMNumber?)
    /// Wildcards work on the decimal text of the whole value: `##` finds 30, not 3 or 300.
    case pattern(TextPattern)
    /// A criterion without a digit finds content without one: `A` finds `A`, not `1A`.
    case text(TextPattern)

    init(_ text: String) throws {
        if let (comparison, rest) = CriterionComparison.split(text) {
            self = .comparison(comparison, try Self.number(rest))
            return
        }
        var text = text
        while text.hasPrefix("=") { text = String(text.dropFirst()).trimmed }
        if let (from, to) = RangeSign.split(text), !(from.isEmpty && to.isEmpty) {
            self = .range(from.isEmpty ? nil : try Self.number(from), to.isEmpty ? nil : try Self.number(to))
            return
        }
        let pattern = CriterionReader.wholePattern(text)
        let hasWildcard = pattern.elements.contains { element in
            if case .literal = element { false } else { true }
        }
        let plain = CriterionReader.plain(text)
        if hasWildcard {
            self = .pattern(pattern)
        } else if let number = FMNumber(reading: plain), plain.contains(where: \.isNumber) {
            self = .equal(number)
        } else {
            self = .text(pattern)
        }
    }

    private static func number(_ text: String) throws -> FMNumber {
        let plain = CriterionReader.plain(text)
        guard plain.contains(where: \.isNumber), let number = FMNumber(reading: plain) else {
            throw FileMakerError(502)
        }
        return number
    }

    func matches(_ text: String) -> Bool {
        guard !text.isEmpty else { return false }
        let number = FMNumber(reading: text)
        switch self {
        case .equal(let wanted): return number == wanted
        case .comparison(let comparison, let bound):
            guard let number else { return false }
            switch comparison {
            case .less: return number < bound
            case .lessOrEqual: return number <= bound
            case .greater: return number > bound
            case .greaterOrEqual: return number >= bound
            }
        case .range(let from, let to):
            guard let number else { return false }
            return from.map { $0 <= number } ?? true && to.map { number <= $0 } ?? true
        case .pattern(let pattern):
            return pattern.matches(TextFolding.fold(number?.text ?? text)[...], whole: true)
        case .text(let pattern):
            return number == nil && pattern.matches(TextFolding.fold(text)[...], whole: false)
        }
    }
}
