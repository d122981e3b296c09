/// The position of an operand in the order of its form, read from its text: of a number by its digits, in any number,
/// of a date or time by its parts.
///
/// Only operands of the same form have an order. A date stands for its whole day and a time without a fraction for its
/// whole second, so `12:00:00` is neither before nor after `12:00:00.5`, nor equal to it.
struct FindOrderKey: Hashable {
    private enum Form: Hashable {
        case number, date, time(hasFraction: Bool)
    }

    private var forms: [Form] = []
    private var isNegative: Bool
    /// Integers without leading zeros, the most significant first.
    private var integers: [String] = []
    /// The digits after the point, without trailing zeros.
    private var fraction = ""

    /// `nil` for a text of another form, whose order is unknown.
    init?(_ operand: FindOperand) {
        let text = FindText.unescaped(operand.text)
        isNegative = text.hasPrefix("-")
        for word in text.dropFirst(isNegative ? 1 : 0).split(separator: " ", omittingEmptySubsequences: false) {
            guard let form = read(word) else { return nil }
            forms.append(form)
        }
        switch (forms.first, forms.count) {
        case (.number, 1), (.time, 1): break
        case (.date, 1) where !isNegative, (.date, 2) where !isNegative && forms[1] != .date && forms[1] != .number:
            break
        default: return nil
        }
        // -0 is 0.
        if integers.allSatisfy(\.isEmpty), fraction.isEmpty { isNegative = false }
    }

    private mutating func read(_ word: Substring) -> Form? {
        let halves = word.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let (form, separator): (Form, Character) =
            if word.contains("/") {
                (.date, "/")
            } else if word.contains(":") {
                (.time(hasFraction: halves.count > 1), ":")
            } else {
                (.number, ",")
            }
        var numerals = halves[0].split(separator: separator, omittingEmptySubsequences: false)
        guard numerals.count == (form == .number ? 1 : 3), halves.count == 1 || form != .date else { return nil }
        guard
            (numerals + halves.dropFirst()).allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } })
        else {
            return nil
        }
        if form == .date { numerals = [numerals[2], numerals[0], numerals[1]] }
        integers += numerals.map { String($0.drop { $0 == "0" }) }
        if halves.count > 1 {
            let digits = halves[1]
            fraction = String(digits.prefix(digits.count - digits.reversed().prefix { $0 == "0" }.count))
        }
        return form
    }

    /// Less than 0, 0 or greater than 0; `nil` if the two have no order between them.
    static func compare(_ left: FindOperand, _ right: FindOperand) -> Int? {
        if left.text == right.text { return 0 }
        guard let left = FindOrderKey(left), let right = FindOrderKey(right) else { return nil }
        return left.compared(to: right)
    }

    /// Less than 0, 0 or greater than 0; `nil` if the two have no order between them.
    func compared(to other: FindOrderKey) -> Int? {
        guard forms == other.forms else { return nil }
        if isNegative != other.isNegative { return isNegative ? -1 : 1 }
        var result = 0
        for (one, another) in zip(integers, other.integers) where result == 0 {
            result = one.utf8.count - another.utf8.count
            if result == 0, one != another { result = one < another ? -1 : 1 }
        }
        if result == 0, fraction != other.fraction { result = fraction < other.fraction ? -1 : 1 }
        return isNegative ? -result : result
    }
}
