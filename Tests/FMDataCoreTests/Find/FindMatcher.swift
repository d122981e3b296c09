import FMData
import Foundation

@testable import FMDataCore

/// A reader of find criteria that was written from the description of FileMaker's Find mode, step by step, and shares
/// no code with the client. It checks the criteria that ``DataAPI/Find`` creates.
///
/// It supports text fields, number fields and the operators that the client uses outside of dates. The only folding is
/// lower case, so that a literal match compares exact characters.
struct FindMatcher {
    typealias Record = [String: Value]

    enum Value: Hashable {
        case text(String)
        case number(Double?)
        /// The values of a repeating field or of related records.
        case several([Value])

        func anySatisfies(_ condition: (Value) -> Bool) -> Bool {
            if case .several(let values) = self { values.contains { condition($0) } } else { condition(self) }
        }

        var isEmpty: Bool {
            switch self {
            case .text(let text): text.isEmpty
            case .number(let number): number == nil
            case .several: false
            }
        }
    }

    let table: [Record]

    /// Applies the requests in order, as FileMaker does.
    func find(_ requests: [FindRequest]) -> Set<Int> {
        var found: Set<Int> = requests.first?.isOmit == true ? Set(table.indices) : []
        for request in requests {
            let matches = Set(
                table.indices.filter { index in
                    request.criteria.allSatisfy { field, criterion in
                        table[index][field]?.anySatisfies { self.matches($0, criterion, field: field) } ?? false
                    }
                }
            )
            if request.isOmit { found.subtract(matches) } else { found.formUnion(matches) }
        }
        return found
    }

    private func matches(_ value: Value, _ criterion: String, field: String) -> Bool {
        switch criterion {
        case "=", "==": return value.isEmpty
        case "*": return !value.isEmpty
        case "!": return !value.isEmpty && table.count { $0[field] == value } > 1
        default: break
        }
        switch value {
        case .text(let text): return Self.matches(text: text, criterion)
        case .number(let number): return number.map { Self.matches(number: $0, criterion) } ?? false
        case .several: return false
        }
    }

    // MARK: Numbers

    private static func matches(number: Double, _ criterion: String) -> Bool {
        let scalars = tokens(criterion)
        if let split = rangeSign(in: scalars) {
            let (lower, upper) = (
                Double(literal(scalars[..<split.lowerBound])), Double(literal(scalars[split.upperBound...]))
            )
            return (lower ?? -.infinity) <= number && number <= (upper ?? .infinity)
        }
        let (sign, rest) = operatorPrefix(scalars)
        guard let operand = Double(literal(rest)) else { return false }
        switch sign {
        case "<": return number < operand
        case "<=": return number <= operand
        case ">": return number > operand
        case ">=": return number >= operand
        default: return number == operand
        }
    }

    // MARK: Text

    static func matches(text: String, _ criterion: String) -> Bool {
        let scalars = tokens(criterion)
        let (sign, rest) = operatorPrefix(scalars)
        if sign == "==" { return whole(Array(text.lowercased().unicodeScalars)[...], matches: rest) }
        if let split = rangeSign(in: scalars) {
            let (lower, upper) = (literal(scalars[..<split.lowerBound]), literal(scalars[split.upperBound...]))
            return words(text).contains { lower <= $0 && $0 <= upper }
        }
        switch sign {
        case "<": return words(text).contains { $0 < literal(rest) }
        case "<=": return words(text).contains { $0 <= literal(rest) }
        case ">": return words(text).contains { $0 > literal(rest) }
        case ">=": return words(text).contains { $0 >= literal(rest) }
        default:
            // Words, each with or without its own equals sign, and quoted pieces.
            return scalars.split(separator: .plain("*")).enumerated().allSatisfy { index, part in
                if part.first == .plain("\"") {
                    let inside = part.dropFirst().prefix { $0 != .plain("\"") }
                    let rest = part.dropFirst(inside.count + 2)
                    return text.lowercased().contains(literal(inside)) && hasWords(text, rest)
                }
                return index == 0 && scalars.first != .plain("*") && hasWords(text, part)
            }
        }
    }

    private static func hasWords(_ text: String, _ tokens: ArraySlice<Token>) -> Bool {
        tokens.split(separator: .plain(" ")).allSatisfy { token in
            let isWhole = token.first == .plain("=")
            let word = literal(isWhole ? token.dropFirst() : token)
            return words(text).contains { isWhole ? $0 == word : $0.hasPrefix(word) }
        }
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split(separator: " ").map(String.init)
    }

    // MARK: Reading a criterion

    /// A character of a criterion: one that stands for itself, or one that may be an operator.
    enum Token: Hashable {
        case literal(Unicode.Scalar), plain(Unicode.Scalar)

        var scalar: Unicode.Scalar {
            switch self {
            case .literal(let scalar), .plain(let scalar): scalar
            }
        }
    }

    /// The characters, with escapes resolved and unescaped white space at both ends removed.
    static func tokens(_ criterion: String) -> [Token] {
        var tokens: [Token] = []
        var isEscaped = false
        for scalar in criterion.unicodeScalars {
            if scalar == "\\", !isEscaped {
                isEscaped = true
            } else {
                tokens.append(isEscaped ? .literal(scalar) : .plain(scalar))
                isEscaped = false
            }
        }
        let isBlank: (Token) -> Bool = {
            if case .plain(let scalar) = $0 { scalar.properties.isWhitespace } else { false }
        }
        while tokens.last.map(isBlank) == true { tokens.removeLast() }
        return Array(tokens.drop(while: isBlank))
    }

    private static func operatorPrefix(_ tokens: [Token]) -> (String, ArraySlice<Token>) {
        for sign in ["==", "<=", ">=", "≤", "≥", "<", ">", "=", "!", "?", "//"] {
            if tokens.starts(with: sign.unicodeScalars.map(Token.plain)) {
                return (sign, tokens.dropFirst(sign.unicodeScalars.count))
            }
        }
        return ("", tokens[...])
    }

    private static func rangeSign(in tokens: [Token]) -> Range<Int>? {
        for start in tokens.indices {
            if tokens[start] == .plain("…") { return start..<start + 1 }
            let periods = tokens[start...].prefix { $0 == .plain(".") }.count
            if periods >= 2 { return start..<start + min(periods, 3) }
        }
        return nil
    }

    /// The text of the tokens in lower case. If it contains an operator, it becomes a text that no record has.
    private static func literal(_ tokens: some Sequence<Token>) -> String {
        var text = String.UnicodeScalarView()
        for token in tokens {
            if case .plain(let scalar) = token, "@*#?!=<>\"~≤≥…{}".unicodeScalars.contains(scalar) {
                return "\u{0}operator"
            }
            text.append(token.scalar)
        }
        return String(text).lowercased()
    }

    /// An anchored pattern: `*` matches any run, `@` one character and `#` one digit; `//` (today) and range signs are
    /// not literals.
    private static func whole(_ text: ArraySlice<Unicode.Scalar>, matches pattern: ArraySlice<Token>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        switch first {
        case .plain("*"):
            return (text.startIndex...text.endIndex).contains { whole(text[$0...], matches: rest) }
        case .plain("@"):
            return !text.isEmpty && whole(text.dropFirst(), matches: rest)
        case .plain("#"):
            return text.first?.properties.numericType == .decimal && whole(text.dropFirst(), matches: rest)
        case .plain("?"), .plain("!"), .plain("="), .plain("<"), .plain(">"), .plain("\""), .plain("~"), .plain("≤"),
            .plain("≥"), .plain("…"), .plain("{"), .plain("}"):
            return false
        case .plain("/") where rest.first == .plain("/"), .plain(".") where rest.first == .plain("."):
            return false
        case .plain(let scalar), .literal(let scalar):
            let folded = Array(String(scalar).lowercased().unicodeScalars)
            return text.starts(with: folded) && whole(text.dropFirst(folded.count), matches: rest)
        }
    }
}
