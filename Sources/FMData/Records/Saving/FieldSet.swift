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
