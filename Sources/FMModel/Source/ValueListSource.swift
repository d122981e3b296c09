/// A value list as an extensible type: its values have names, and any other text is allowed too.
struct ValueListSource {
    let list: LayoutSnapshot.ValueList

    func write(to text: inout SourceText) {
        text.line()
        text.comment("The value list \(Literal(list.name)). A field may hold any other text as well.")
        let type = SwiftIdentifier.source(list.swift)
        text.block("struct \(type): FMListedValue") { text in
            text.comment("What is in the field.")
            text.declaration("let rawValue: String")
            text.line()
            text.comment("By what is in the field, also when it is no value of the list.")
            text.declaration("init(rawValue: String) { self.rawValue = rawValue }")
            if !list.values.isEmpty { text.line() }
            for value in list.values {
                text.comment("\(Literal(value.value)).")
                text.declaration(
                    "static let \(SwiftIdentifier.source(value.swift)) = Self",
                    ["rawValue: \(Literal(value.value))"]
                )
            }
            text.line()
            text.comment("The values of the list, in its order.")
            writeListed(to: &text)
        }
    }

    private func writeListed(to text: inout SourceText) {
        let constants = list.values.map { ".\(SwiftIdentifier.source($0.swift))" }
        guard constants.count > 1 else {
            return text.declaration("static let listed: [Self] = [\(constants.joined())]")
        }
        text.declaration("static let listed: [Self] = [")
        for constant in constants { text.line("    \(constant),") }
        text.line("]")
    }
}
