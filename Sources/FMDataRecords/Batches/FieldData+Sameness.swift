import FMDataCore

// Whether a record holds what was to be written to it. FileMaker may spell a value in its own way.

extension FieldData {
    /// Whether each of these fields has the same value in `record`. A field that was not read counts as different.
    ///
    /// - Parameter inAnySpelling: whether case, accents and white space at the ends count for nothing: a file may
    ///   change them in what is entered.
    func isHeld(by record: FieldData, inAnySpelling: Bool = false) -> Bool {
        allSatisfy { name, value in
            guard let other = record[name].map({ WireValue($0) }) else { return false }
            let value = WireValue(value)
            return value.isSame(as: other) || inAnySpelling && value.isAnotherSpelling(of: other)
        }
    }

    /// Makes fields from their wire form; `nil` when a value is neither text nor number.
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
    /// Makes a value from its wire form; `nil` when it is neither text nor number.
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
