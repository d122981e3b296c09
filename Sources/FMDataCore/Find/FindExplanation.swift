import Foundation

/// The text of ``DataAPI/Find/explain(limit:)``.
struct FindExplanation {
    let text: String

    init(_ steps: [FindStep]) {
        let sentences = steps.enumerated().map { index, step in
            "\(index + 1). \(Self.sentence(step, isFirst: index == 0))"
        }
        text = Self.json(steps.map(\.request)) + "\n\n" + sentences.joined(separator: "\n")
    }

    private static func json(_ requests: [FindRequest]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = requests.map { request in
            // Encoding a dictionary of texts cannot fail.
            (try? encoder.encode(request.dictionary)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        }
        return "[\n    " + lines.joined(separator: ",\n    ") + "\n]"
    }

    private static func sentence(_ request: FindStep, isFirst: Bool) -> String {
        let start =
            switch (request.isOmit, isFirst) {
            case (false, true): "Find the records"
            case (false, false): "Add the records"
            case (true, true): "Find all records but those"
            case (true, false): "Leave out those"
            }
        return "\(start) where \(request.criteria.map(words).joined(separator: " and "))."
    }

    private static func words(_ criterion: FindCriterion) -> String {
        "\(criterion.field) \(words(criterion.test))"
    }

    private static func words(_ test: FindTest) -> String {
        switch test {
        case .equals(let operand): "is \(quoted(operand.text))"
        case .matches(.begins, let text): "begins with \(quoted(text))"
        case .matches(.contains, let text): "contains \(quoted(text))"
        case .matches(.ends, let text): "ends with \(quoted(text))"
        case .words(let words):
            [(FindWord.Extent.whole, "has the words"), (.beginning, "has words beginning with"), (.piece, "contains")]
                .compactMap { extent, verb in
                    let quoted = words.filter { $0.extent == extent }.map { Self.quoted($0.text) }
                    return quoted.isEmpty ? nil : "\(verb) \(quoted.joined(separator: ", "))"
                }
                .joined(separator: " and ")
        case .compares(.less, let operand): "is less than \(quoted(operand.text))"
        case .compares(.lessOrEqual, let operand): "is at most \(quoted(operand.text))"
        case .compares(.greater, let operand): "is greater than \(quoted(operand.text))"
        case .compares(.greaterOrEqual, let operand): "is at least \(quoted(operand.text))"
        case .range(let lower, let upper): "is from \(quoted(lower.text)) to \(quoted(upper.text))"
        case .isEmpty: "is empty"
        case .isNotEmpty: "is not empty"
        case .isDuplicated: "has the value of another record"
        case .isToday: "is today"
        case .raw(let text): "matches the criterion \(text)"
        }
    }

    private static func quoted(_ escaped: String) -> String {
        "\"\(FindText.unescaped(escaped))\""
    }
}
