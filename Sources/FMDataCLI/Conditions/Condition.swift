import FMData
import FMSandbox

/// A condition as the user types it: `City=Calgary`, `Total>=100`, `Date=2026-11-01...2026-11-30`.
struct Condition: Equatable {
    /// What stands between field and value.
    enum Sign: String, CaseIterable {
        case notEqual = "!="
        case lessOrEqual = "<="
        case greaterOrEqual = ">="
        case contains = "*="
        case begins = "^="
        case ends = "$="
        case words = "~="
        case equal = "="
        case less = "<"
        case greater = ">"
    }

    let field: String
    let sign: Sign
    let value: String

    /// - Parameter fields: what the layout shows, since the name of a field may contain a sign.
    init(_ word: String, _ fields: LayoutFields) throws(CommandError) {
        let known = fields.namesByLength.lazy.compactMap { name in
            word.hasPrefix(name) ? Self.parts(of: word, named: name) : nil
        }
        guard let parts = known.first ?? Self.parts(of: word) else {
            throw CommandError(
                "Expected a condition such as City=Calgary or 'Total>=100', found \"\(word)\". "
                    + "The signs are \(Sign.allCases.map(\.rawValue).joined(separator: " ")).",
                .usage
            )
        }
        (field, sign, value) = parts
        _ = try fields.known(field)
    }

    private typealias Parts = (field: String, sign: Sign, value: String)

    /// The parts of a condition on this field, or on one of its repetitions.
    private static func parts(of word: String, named name: String) -> Parts? {
        let rest = word.dropFirst(name.count)
        let repetition = rest.prefixMatch(of: #/\([0-9]+\)/#)?.output ?? ""
        return parts(field: name + repetition, rest.dropFirst(repetition.count))
    }

    /// The parts around the first sign.
    private static func parts(of word: String) -> Parts? {
        word.indices.lazy.compactMap { index in parts(field: String(word[..<index]), word[index...]) }.first
    }

    /// - Parameter rest: the sign and the value. Spaces around the sign do not count.
    private static func parts(field: String, _ rest: Substring) -> Parts? {
        let trimmed = rest.drop { $0 == " " }
        guard !field.isEmpty, let sign = Sign.allCases.first(where: { trimmed.hasPrefix($0.rawValue) }) else {
            return nil
        }
        let value = trimmed.dropFirst(sign.rawValue.count)
        let isSpaced = trimmed.startIndex != rest.startIndex || field.last == " "
        return (
            field.withoutSpacesAtEnd, sign,
            isSpaced ? String(value.drop { $0 == " " }) : String(value)
        )
    }
}

extension Condition {
    /// The find of the records that fulfil the condition. Characters in the value stand for themselves.
    func find(_ fields: LayoutFields) throws(CommandError) -> DataAPI.Find {
        let known = try fields.known(field)
        let target = self.target(known)
        let value = value.withLineBreaks("\r")
        switch sign {
        case .equal where value.isEmpty: return target.isEmpty
        case .notEqual where value.isEmpty: return target.isNotEmpty
        case _ where value.isEmpty:
            throw CommandError("\(field)\(sign.rawValue): a value is missing. \(field)= finds empty fields.", .usage)
        case .contains: return target.contains(value)
        case .begins: return target.begins(with: value)
        case .ends: return target.ends(with: value)
        case .words: return target.hasWords(beginningWith: value)
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: break
        }
        switch known.result {
        case .number: return try find(target) { text throws(CommandError) in try Self.number(text, known) }
        case .date: return try find(target) { text throws(CommandError) in try Self.dates(text, known) }
        case .time:
            return try find(target) { text throws(CommandError) in
                let time = try CivilText.time(text, known)
                return time...time
            }
        case .timeStamp: return try find(target) { text throws(CommandError) in try Self.timestamps(text, known) }
        default: return Self.find(target, sign, value)
        }
    }

    /// The find of a criterion in FileMaker's own syntax: `City=Cal*`, `Total=>100`.
    func rawFind(_ fields: LayoutFields) throws(CommandError) -> DataAPI.Find {
        let target = target(try fields.known(field))
        switch sign {
        case .equal: return target.raw(value)
        case .notEqual: return !target.raw(value)
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return target.raw(sign.rawValue + value)
        case .contains, .begins, .ends, .words:
            throw CommandError("With --raw, write the criterion behind =: \(field)=…", .usage)
        }
    }

    private func target(_ known: LayoutFields.Field) -> DataAPI.FindField {
        let target = DataAPI.FindField(named: field)
        // A condition on a repeating field holds if one of its repetitions fulfils it.
        return field == known.name && known.shownRepetitions.count > 1 ? target.anyRepetition : target
    }

    // MARK: Values

    private static func number(
        _ text: String,
        _ field: LayoutFields.Field
    ) throws(CommandError) -> ClosedRange<FMNumber> {
        let isNumber = text.wholeMatch(of: #/[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?/#) != nil
        guard isNumber, let number = FMNumber(text) else { throw CivilText.unreadable(text, field, "a number") }
        return number...number
    }

    /// A day, all days of a month, `2026-11`, or of a year, `2026`.
    private static func dates(_ text: String, _ field: LayoutFields.Field) throws(CommandError) -> ClosedRange<FMDate> {
        if let date = FMDate(text) { return date...date }
        if let match = text.wholeMatch(of: #/([0-9]{4})(?:-([0-9]{2}))?/#), let year = Int(match.1) {
            let month = match.2.flatMap { Int($0) }
            let first = FMDate(year: year, month: month ?? 1, day: 1)
            let next = month.map { $0 < 12 ? FMDate(year: year, month: $0 + 1, day: 1) : nil } ?? nil
            let last = next?.adding(days: -1) ?? FMDate(year: year, month: 12, day: 31)
            if let first, let last, first <= last { return first...last }
        }
        throw CivilText.unreadable(text, field, "a date such as 2026-11-01, 2026-11 or 2026")
    }

    /// A point in time, or all of a day, a month or a year.
    private static func timestamps(
        _ text: String,
        _ field: LayoutFields.Field
    ) throws(CommandError) -> ClosedRange<FMTimestamp> {
        if let timestamp = FMTimestamp(text) ?? FMTimestamp(text + ":00") { return timestamp...timestamp }
        if let days = try? dates(text, field),
            let first = FMTimestamp(date: days.lowerBound, time: FMTime()),
            let last = FMTimestamp(date: days.upperBound, time: FMTime(hours: 23, minutes: 59, seconds: 59))
        {
            return first...last
        }
        throw CivilText.unreadable(text, field, "a timestamp such as 2026-11-01T09:30:00, or a date")
    }

    /// A condition on values that have an order. A value is all values of a day, for example; `a...b` is a range.
    private func find<Value: DataAPI.FindValue & Comparable>(
        _ target: DataAPI.FindField,
        _ span: (String) throws(CommandError) -> ClosedRange<Value>
    ) throws(CommandError) -> DataAPI.Find {
        guard sign == .equal || sign == .notEqual, let dots = value.firstRange(of: "...") ?? value.firstRange(of: "…")
        else { return Self.find(target, sign, try span(value)) }
        let (from, to) = (String(value[..<dots.lowerBound]), String(value[dots.upperBound...]))
        let range: DataAPI.Find
        switch (from.isEmpty, to.isEmpty) {
        case (true, true): throw CommandError("\(field): a range needs a value on one side of the dots.", .usage)
        case (true, false): range = target <= (try span(to)).upperBound
        case (false, true): range = target >= (try span(from)).lowerBound
        case (false, false):
            let (first, last) = (try span(from).lowerBound, try span(to).upperBound)
            guard first <= last else { throw CommandError("\(field): the range ends before it begins.", .usage) }
            range = target.isIn(first...last)
        }
        return sign == .equal ? range : !range
    }

    private static func find<Value: DataAPI.FindValue & Comparable>(
        _ target: DataAPI.FindField,
        _ sign: Sign,
        _ span: ClosedRange<Value>
    ) -> DataAPI.Find {
        let equal = span.lowerBound == span.upperBound ? target == span.lowerBound : target.isIn(span)
        return switch sign {
        case .notEqual: !equal
        case .less: target < span.lowerBound
        case .lessOrEqual: target <= span.upperBound
        case .greater: target > span.upperBound
        case .greaterOrEqual: target >= span.lowerBound
        default: equal
        }
    }

    private static func find(_ target: DataAPI.FindField, _ sign: Sign, _ text: String) -> DataAPI.Find {
        switch sign {
        case .notEqual: target != text
        case .less: target < text
        case .lessOrEqual: target <= text
        case .greater: target > text
        case .greaterOrEqual: target >= text
        default: target == text
        }
    }
}
