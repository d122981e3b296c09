/// The validation that the host has reported, as rules that check a write.
struct ValidationSource {
    private let rules: [String]

    init(properties: [Property]) {
        rules = properties.filter(\.isWritable).flatMap { property -> [String] in
            let facts = property.facts
            let key = ".\(property.name)"
            var rules: [String] = []
            // FileMaker may fill a field with auto-enter, a field of another table, and a repetition that is not
            // written.
            if facts.isNotEmpty, !facts.isAutoEntered, facts.table == nil, facts.repetitions == 1, !facts.isRepeated {
                rules.append("rules.require(\(key))")
            }
            if facts.isNumeric { rules.append("rules.requireNumber(\(key))") }
            if facts.needsFourDigitYear { rules.append("rules.requireFourDigitYear(\(key))") }
            if facts.isTimeOfDay { rules.append("rules.requireTimeOfDay(\(key))") }
            if let count = facts.maxCharacters { rules.append("rules.limit(\(key), toCharacters: \(count))") }
            return rules
        }
    }

    func write(to text: inout SourceText) {
        guard !rules.isEmpty else { return }
        text.line()
        text.comment(
            "FileMaker's rules for values when the layout was fetched; `validating(_:)` asks no layout then."
        )
        text.block("static func validate(_ rules: inout DataAPI.ValidationRules<CodingKeys>)") { text in
            text.line("rules.followsLayout = false")
            for rule in rules { text.line(rule) }
        }
    }
}
