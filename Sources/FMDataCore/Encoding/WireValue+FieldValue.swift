extension WireValue {
    /// The value that clears a field.
    package static let emptyField = WireValue.text("")

    package var isEmptyField: Bool { self == .emptyField || self == .literal("null") }

    /// Whether both values are the same to FileMaker: numbers are compared as numbers, texts byte for byte except for
    /// their line ends, and an empty field equals a missing one.
    package func isSame(as other: WireValue?) -> Bool {
        let other = other ?? .emptyField
        switch (self, other) {
        case (.text(let left), .text(let right)):
            return left.utf8.elementsEqual(right.utf8) || left.withReturns.utf8.elementsEqual(right.withReturns.utf8)
        case (.literal, _), (_, .literal):
            if isEmptyField || other.isEmptyField { return isEmptyField && other.isEmptyField }
            if let left = number, let right = other.number { return left == right }
            return self == other
        default:
            return self == other
        }
    }

    /// The number, if the whole value is one. Computed for a text only if the other value is a number.
    private var number: FMNumber? {
        switch self {
        case .literal(var text), .text(var text):
            text.withUTF8 { NumberText.literal(of: $0, separator: UInt8(ascii: ".")) }
                .map(FMNumber.init(validLiteral:))
        case .array, .object: nil
        }
    }

    /// The value as programs use it.
    package var fieldValue: FieldValue {
        switch self {
        case .text(let text): .text(text)
        case .literal("true"): FieldValue(true)
        case .literal: isEmptyField ? .empty : number.map(FieldValue.number) ?? FieldValue(false)
        case .array, .object: .empty
        }
    }

    package init(_ value: FieldValue) {
        self =
            switch value {
            case .text(let text): .text(text)
            // As the encoder writes it: a number of many digits is a text on the wire.
            case .number(let number):
                NumberText.isBinary(number.literal) ? .literal(number.literal) : .text(number.literal)
            }
    }
}
