import FMData

extension WireValue {
    /// The value of a member; `nil` if there is none, and for other values.
    subscript(name: String) -> WireValue? { members.first { $0.name == name }?.value }

    /// An object with these members, without those that are `nil`.
    static func object(_ members: KeyValuePairs<String, WireValue?>) -> WireValue {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }

    /// A whole number.
    static func number(_ number: Int) -> WireValue { .literal(String(number)) }

    /// The whole number that a host sends as a number or as a text; `nil` for other values.
    var int: Int? {
        switch self {
        case .literal(let text), .text(let text): Int(text)
        case .array, .object: nil
        }
    }

    /// The value as JSON without white space.
    var compactJSON: String { String(decoding: json, as: UTF8.self) }
}

// MARK: - Other values in the same places

extension WireValue {
    /// The same with other texts. Names of members stay.
    func mappingTexts(_ change: (String) -> String) -> WireValue {
        switch self {
        case .literal: self
        case .text(let text): .text(change(text))
        case .array(let elements): .array(elements.map { $0.mappingTexts(change) })
        case .object(let members):
            .object(members.map { Member(name: $0.name, value: $0.value.mappingTexts(change)) })
        }
    }

    /// The same with other values of members; other values as they are.
    func mappingMembers(_ change: (String, WireValue) -> WireValue) -> WireValue {
        guard case .object(let members) = self else { return self }
        return .object(members.map { Member(name: $0.name, value: change($0.name, $0.value)) })
    }

    /// The same with other elements; other values as they are.
    func mappingElements(_ change: (WireValue) -> WireValue) -> WireValue {
        guard case .array(let elements) = self else { return self }
        return .array(elements.map(change))
    }

    /// The same with the members of all objects sorted by name.
    var sorted: WireValue {
        switch self {
        case .literal, .text: self
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(members.map { Member(name: $0.name, value: $0.value.sorted) }.sorted { $0.name < $1.name })
        }
    }
}

// MARK: - JSON that people read

extension WireValue {
    /// The value as JSON with one member or element a line, two spaces a level.
    var readableJSON: String {
        var text = ""
        write(indent: "", into: &text)
        return text + "\n"
    }

    private func write(indent: String, into text: inout String) {
        let inner = indent + "  "
        switch self {
        case .array(let elements) where !elements.isEmpty:
            text += "["
            for (position, element) in elements.enumerated() {
                text += position == 0 ? "\n" + inner : ",\n" + inner
                element.write(indent: inner, into: &text)
            }
            text += "\n\(indent)]"
        case .object(let members) where !members.isEmpty:
            text += "{"
            for (position, member) in members.enumerated() {
                text += position == 0 ? "\n" + inner : ",\n" + inner
                text += WireValue.text(member.name).compactJSON + ": "
                member.value.write(indent: inner, into: &text)
            }
            text += "\n\(indent)}"
        default:
            text += compactJSON
        }
    }
}
