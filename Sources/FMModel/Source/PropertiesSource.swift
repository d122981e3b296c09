/// The properties of a record or of a row for reading, with their keys.
struct PropertiesSource {
    let properties: [Property]
    /// Whether they are the properties of a row, which also has `recordId` and `modId`.
    var isRow = false

    func write(to text: inout SourceText) {
        if !properties.isEmpty { text.line() }
        for property in properties {
            text.comment(property.summary)
            text.declaration(
                "\(property.isWritable ? "var" : "let") \(property.name): \(property.type.property)"
            )
        }
        text.line()
        text.comment("A \(isRow ? "row" : "record") of your own making, for tests and doubles.")
        let ids = isRow ? [("recordId", "Int?", "nil"), ("modId", "Int?", "nil")] : []
        text.memberwise(ids + properties.map { ($0.name, $0.type.property, $0.type.emptyProperty) })
        if isRow || !properties.isEmpty { writeDecoding(to: &text) }
        if !properties.allSatisfy({ $0.isWritable && $0.isWrittenByName }) { writeEncoding(to: &text) }
        writeKeys(to: &text)
        if !isRow { writeReadOnlyFields(to: &text) }
    }

    private func writeReadOnlyFields(to text: inout SourceText) {
        text.line()
        text.comment("What is read, and never written with a whole record.")
        text.block("static var readOnlyFields: [CodingKeys]?") { text in
            text.list(properties.filter { !$0.isWritable }.map { ".\($0.name)" })
        }
    }

    private func writeKeys(to text: inout SourceText) {
        text.line()
        text.comment("The fields by their names on the layout.")
        // An enum without cases cannot have raw values.
        let raw = isRow || !properties.isEmpty ? "String, " : ""
        text.block("enum CodingKeys: \(raw)CodingKey, CaseIterable") { text in
            if isRow {
                text.line("case recordId")
                text.line("case modId")
            }
            for property in properties { text.line("case \(property.name) =", then: property.key.description) }
        }
    }

    /// Writes an initializer that reads the fields by index, in the order of their keys. It takes two thirds of the
    /// time of the compiler's synthesized one.
    private func writeDecoding(to text: inout SourceText) {
        text.line()
        text.line("private static let fieldNames = FieldRow.Names(CodingKeys.self)")
        text.line()
        text.comment("Reads the fields.")
        text.block("init(from decoder: any Decoder) throws") { text in
            text.line("let row = try FieldRow.of(decoder, Self.fieldNames)")
            let ids = isRow ? ["recordId", "modId"] : []
            for (place, name) in ids.enumerated() { text.line("self.\(name) = try row.integerIfAny(\(place))") }
            for (number, property) in properties.enumerated() {
                text.line("self.\(property.name) = try row.\(property.type.reader)(\(ids.count + number))")
            }
        }
    }

    private func writeEncoding(to text: inout SourceText) {
        text.line()
        text.comment("Writes the fields that the host takes values for.")
        text.block("func encode(to encoder: any Encoder) throws") { text in
            let named = properties.filter { $0.isWritable && $0.isWrittenByName }
            let numbered = properties.filter { $0.isWritable && !$0.isWrittenByName }
            let keys = "encoder.container(keyedBy: CodingKeys.self)"
            text.line(named.isEmpty && !isRow ? "_ = \(keys)" : "var container = \(keys)")
            if isRow {
                for id in ["recordId", "modId"] {
                    text.line("try container.encodeIfPresent(self.\(id), forKey: .\(id))")
                }
            }
            for property in named {
                let mayBeAbsent = property.type.isOptional && !property.type.isRepeated
                text.call(
                    "try container.encode\(mayBeAbsent ? "IfPresent" : "")",
                    ["self.\(property.name)", "forKey: .\(property.name)"]
                )
            }
            if !numbered.isEmpty {
                text.line("var repetitions = encoder.container(keyedBy: FieldData.CodingKeys.self)")
            }
            for property in numbered { writeRepetitions(of: property, to: &text) }
        }
    }

    private func writeRepetitions(of property: Property, to text: inout SourceText) {
        let (first, last) = (property.facts.shown.lowerBound, property.facts.shown.upperBound)
        guard property.type.isRepeated else {
            let verb = property.type.isOptional ? "encodeIfPresent" : "encode"
            return text.call(
                "try repetitions.\(verb)",
                ["self.\(property.name)", "forKey: \(property.key(ofRepetition: "\(first)"))"]
            )
        }
        text.statement("for number in \(first)...\(last) where number <= self.\(property.name).count") { text in
            text.call(
                "try repetitions.encodeIfPresent",
                ["self.\(property.name)[number - 1]", "forKey: \(property.key(ofRepetition: "\\(number)"))"]
            )
        }
    }
}

extension SourceText {
    /// An initializer with a parameter for each property.
    mutating func memberwise(_ properties: [(name: String, type: String, empty: String)]) {
        guard !properties.isEmpty else { return declaration("init() {}") }
        declaration("init(")
        lines(properties.map { "    \($0.name): \($0.type) = \($0.empty)" }, separator: ",")
        statement(")") { text in
            for property in properties { text.line("self.\(property.name) = \(property.name)") }
        }
    }

    private mutating func lines(_ lines: [String], separator: String) {
        for (position, line) in lines.enumerated() { self.line(line + (position == lines.count - 1 ? "" : separator)) }
    }
}
