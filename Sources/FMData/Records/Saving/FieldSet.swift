/// Fields in their wire form, in the order in which they were encoded. Names are compared byte by byte.
struct FieldSet: Equatable, Sendable {
    private(set) var names: [String] = []
    private var values: [ExactName: WireValue] = [:]

    init() {}

    /// If a name comes twice, the last value counts.
    init(_ members: some Sequence<WireValue.Member>) {
        for member in members { self[member.name] = member.value }
    }

    /// The value of a field; `nil` when there is none. Setting `nil` has no effect.
    subscript(name: String) -> WireValue? {
        get { values[ExactName(name)] }
        set {
            guard let newValue else { return }
            if values.updateValue(newValue, forKey: ExactName(name)) == nil { names.append(name) }
        }
    }

    var isEmpty: Bool { names.isEmpty }

    var members: [WireValue.Member] {
        names.compactMap { name in self[name].map { WireValue.Member(name: name, value: $0) } }
    }
}

extension FieldSet {
    /// The fields to write so that a record with the fields of `base` has these: each field that differs in FileMaker's
    /// sense.
    ///
    /// - Parameter keepsAbsent: whether a field without a value here keeps its value. Otherwise it is cleared: an
    ///   encoder may leave out a property that is `nil`.
    func changes(from base: FieldSet, keepsAbsent: Bool) -> FieldSet {
        var changes = FieldSet()
        for member in members where !member.value.isSame(as: base[member.name]) {
            changes[member.name] = member.value.isEmptyField ? .emptyField : member.value
        }
        guard !keepsAbsent else { return changes }
        for member in base.members where self[member.name] == nil && !member.value.isEmptyField {
            changes[member.name] = .emptyField
        }
        return changes
    }

    /// Whether all of these fields have the same values in `other`.
    func isContained(in other: FieldSet) -> Bool {
        members.allSatisfy { $0.value.isSame(as: other[$0.name]) }
    }

    /// Only the fields that are not empty: in a new record a field is empty by itself, or FileMaker enters something.
    var filled: FieldSet { FieldSet(members.filter { !$0.value.isEmptyField }) }
}

// MARK: - Equality in FileMaker's sense

extension WireValue {
    /// The value that clears a field.
    static let emptyField = WireValue.text("")

    var isEmptyField: Bool { self == .emptyField || self == .literal("null") }

    /// Whether both values are the same to FileMaker: numbers are compared as numbers, texts byte for byte except for
    /// their line ends, and an empty field equals a missing one.
    func isSame(as other: WireValue?) -> Bool {
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
    var fieldValue: FieldValue {
        switch self {
        case .text(let text): .text(text)
        case .literal("true"): FieldValue(true)
        case .literal: isEmptyField ? .empty : number.map(FieldValue.number) ?? FieldValue(false)
        case .array, .object: .empty
        }
    }

    init(_ value: FieldValue) {
        self =
            switch value {
            case .text(let text): .text(text)
            // As the encoder writes it: a number of many digits is a text on the wire.
            case .number(let number):
                NumberText.isBinary(number.literal) ? .literal(number.literal) : .text(number.literal)
            }
    }
}
