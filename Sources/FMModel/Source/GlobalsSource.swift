/// The global fields of a layout, in the form of the call that sets them: texts by qualified name.
struct GlobalsSource {
    private let fields: [(property: Property, name: String)]

    /// - Parameter table: The layout's table occurrence. If the host does not report it, fields of the layout's own
    ///   table are left out, because they cannot be named.
    init(properties: [Property], table: String?) {
        fields = properties.compactMap { property in
            let name = property.facts.name
            guard property.facts.isGlobal, property.facts.kind == "normal", property.type.globalText(of: "") != nil
            else { return nil }
            if name.contains("::") { return (property, name) }
            return table.map { (property, "\($0)::\(name)") }
        }
    }

    func write(to text: inout SourceText) {
        guard !fields.isEmpty else { return }
        text.line()
        text.comment(
            "Global fields, which have one value for the work of a session: for `setGlobals(_:)`."
        )
        text.block("struct Globals: Hashable, Sendable") { text in
            for (property, name) in fields {
                text.comment("\(Literal(name)).")
                text.declaration("var \(property.name): \(property.type.change)")
            }
            text.line()
            text.comment("Values to set; `nil` leaves a field as it is, and `.some(nil)` empties it.")
            text.memberwise(fields.map { ($0.property.name, $0.property.type.change, $0.property.type.noChange) })
            text.line()
            text.comment("What is set, by the names that the call takes.")
            text.block("var globalFields: [String: String]") { text in
                text.line("var fields: [String: String] = [:]")
                for (property, name) in fields { write(property, name, to: &text) }
                text.line("return fields")
            }
        }
    }

    private func write(_ property: Property, _ name: String, to text: inout SourceText) {
        guard let value = property.type.globalText(of: "value") else { return }
        let key = Literal(name).description
        if property.type.isRepeated {
            text.statement("for (number, value) in self.\(property.name)") { text in
                text.line("fields[\(key.dropLast())(\\(number))\"] =", then: value)
            }
        } else {
            text.statement("if let value = self.\(property.name)") { text in
                text.line("fields[\(key)] =", then: value)
            }
        }
    }
}
