/// The properties of the changes that are written to a record or a row: those that are writable.
struct ChangesSource {
    let properties: [Property]
    var isRow = false

    init(properties: [Property], isRow: Bool = false) {
        self.properties = properties.filter(\.isWritable)
        self.isRow = isRow
    }

    func write(to text: inout SourceText) {
        if isRow {
            text.comment("The row to edit; `nil` makes a new one.")
            text.declaration("var recordId: Int?")
            text.comment("The version that the edit is based on; `nil` overwrites.")
            text.declaration("var modId: Int?")
        } else if !properties.isEmpty {
            text.line()
        }
        for property in properties {
            text.comment(property.changeSummary)
            text.declaration("var \(property.name): \(property.type.change)")
        }
        text.line()
        text.comment("What to write.")
        let ids = isRow ? [("recordId", "Int?", "nil"), ("modId", "Int?", "nil")] : []
        text.memberwise(ids + properties.map { ($0.name, $0.type.change, $0.type.noChange) })
        writeEncoding(to: &text)
    }

    private func writeEncoding(to text: inout SourceText) {
        text.line()
        text.comment("Writes what is set.")
        text.block("func encode(to encoder: any Encoder) throws") { text in
            let named = properties.filter { $0.isWrittenByName && !$0.type.isRepeated }
            let numbered = properties.filter { !$0.isWrittenByName || $0.type.isRepeated }
            let keys = "encoder.container(keyedBy: CodingKeys.self)"
            text.line(named.isEmpty && !isRow ? "_ = \(keys)" : "var container = \(keys)")
            if isRow {
                for id in ["recordId", "modId"] {
                    text.line("try container.encodeIfPresent(self.\(id), forKey: .\(id))")
                }
            }
            for property in named {
                text.statement("if let value = self.\(property.name)") { text in
                    text.call("try container.encode", ["value", "forKey: .\(property.name)"])
                }
            }
            if !numbered.isEmpty {
                text.line("var repetitions = encoder.container(keyedBy: FieldData.CodingKeys.self)")
            }
            for property in numbered { writeRepetitions(of: property, to: &text) }
        }
    }

    private func writeRepetitions(of property: Property, to text: inout SourceText) {
        guard property.type.isRepeated else {
            let key = property.key(ofRepetition: "\(property.facts.shown.lowerBound)")
            return text.statement("if let value = self.\(property.name)") { text in
                text.call("try repetitions.encode", ["value", "forKey: \(key)"])
            }
        }
        text.statement("for (number, value) in self.\(property.name).sorted(by: { $0.key < $1.key })") { text in
            text.call(
                "try repetitions.encode",
                ["value", "forKey: \(property.key(ofRepetition: "\\(number)"))"]
            )
        }
    }
}
