extension DataAPI {
    /// How a layout differs from the type that its records are decoded into.
    ///
    ///     database.$modelDrifts.sink { drifts in … }              // as answers show it: Config.reportsModelDrift
    ///     people.layout.drift(of: Person.self)                    // when you ask
    public struct ModelDrift: Hashable, Sendable {
        /// The layout's name, as the database spells it.
        public var layout: String
        /// The name of the type.
        public var record: String
        /// Fields that the type has and the layout does not, in the order of the type's keys. If the property of such a
        /// field is optional, it is `nil`; if not, no record can be decoded.
        public var missing: [String]
        /// Fields that the layout has and the type does not, in the order of the layout. They make nothing fail.
        public var added: [String]

        /// Whether there is no difference.
        public var isEmpty: Bool { missing.isEmpty && added.isEmpty }

        /// Creates a value, for tests and doubles; see the properties for its parts.
        public init(layout: String, record: String, missing: [String] = [], added: [String] = []) {
            self.layout = layout
            self.record = record
            self.missing = missing
            self.added = added
        }
    }
}

/// The names of a record type's fields, if the type lists them: its coding keys are `CaseIterable`.
struct ModelFields: Sendable {
    private let record: String
    private let names: [String]

    /// Returns `nil` for a type that does not list its fields, such as `FieldData`.
    init?(_ type: Any.Type) {
        guard let record = type as? any RecordFields.Type, let names = record.listedNames else { return nil }
        self.record = "\(type)"
        self.names = names
    }

    /// The fields of a type that lists them.
    init<R: RecordFields>(_ type: R.Type) where R.CodingKeys: CaseIterable {
        record = "\(type)"
        names = R.CodingKeys.allCases.map(\.stringValue)
    }

    /// Compares the fields with those of a layout.
    ///
    /// - Parameters:
    ///   - shown: the names on the layout, or those in an answer, where repetitions are separate fields.
    ///   - keys: how the host's names are mapped to coding keys.
    func drift(
        from layout: String,
        showing shown: [String],
        keys: DecodingOptions.KeyStrategy
    ) -> DataAPI.ModelDrift {
        let shown = Self.unique(shown.map { FieldName(host: $0, keys) })
        let wanted = Self.unique(names.map { FieldName(key: $0) })
        return DataAPI.ModelDrift(
            layout: layout,
            record: record,
            missing: wanted.filter { key in !shown.contains { $0.isMeant(by: key, keys) } }.map(\.name),
            added: shown.filter { field in !wanted.contains { field.isMeant(by: $0, keys) } }.map(\.hostName)
        )
    }

    private static func unique(_ names: [FieldName]) -> [FieldName] {
        var seen: Set<ExactName> = []
        return names.filter { seen.insert(ExactName($0.name)).inserted }
    }
}

extension RecordFields {
    fileprivate static var listedNames: [String]? {
        (CodingKeys.self as? any CaseIterable.Type).map { names(of: $0) }
    }

    private static func names<Keys: CaseIterable>(of keys: Keys.Type) -> [String] {
        keys.allCases.compactMap { ($0 as? any CodingKey)?.stringValue }
    }
}

/// The name of a field without a repetition number.
private struct FieldName {
    /// The name as a coding key.
    let name: String
    /// The name as the host spells it.
    let hostName: String

    init(key: String) {
        hostName = Self.withoutRepetition(key)
        name = hostName
    }

    init(host: String, _ keys: DecodingOptions.KeyStrategy) {
        hostName = Self.withoutRepetition(host)
        name = if case .custom(let convert) = keys { convert(hostName) } else { hostName }
    }

    /// Whether the decoder would find this field by the key.
    func isMeant(by key: FieldName, _ keys: DecodingOptions.KeyStrategy) -> Bool {
        if name == key.name { return true }
        guard case .withoutTable = keys, !key.name.contains("::") else { return false }
        return name.hasSuffix("::" + key.name)
    }

    /// Returns `Price` for `Price(2)`.
    private static func withoutRepetition(_ name: String) -> String {
        guard name.hasSuffix(")"), let open = name.lastIndex(of: "(") else { return name }
        let number = name[name.index(after: open)...].dropLast()
        guard !number.isEmpty, number.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            return name
        }
        return String(name[..<open])
    }
}
