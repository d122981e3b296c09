// Whether a record holds what was to be written into it, in FileMaker's sense: it may spell a value in its own way.

extension FieldData {
    /// Whether each of these fields has the same value in what was read. A field that was not read proves nothing.
    func isHeld(by record: FieldData) -> Bool {
        allSatisfy { name, value in record[name].map { WireValue(value).isSame(as: WireValue($0)) } ?? false }
    }

    /// Fields as they go over the wire; `nil` when one of them has a value that is no text and no number.
    init?(wire fields: WireValue) {
        self.init()
        reserveCapacity(fields.members.count)
        for member in fields.members {
            guard let value = FieldValue(wire: member.value) else { return nil }
            self[member.name] = value
        }
    }
}

extension FieldValue {
    /// As it goes over the wire; `nil` for what is no text and no number.
    init?(wire: WireValue) {
        switch wire {
        case .text(let text): self.init(text)
        case .literal(let literal):
            guard let number = FMNumber(literal) else { return nil }
            self = .number(number)
        case .array, .object: return nil
        }
    }
}
