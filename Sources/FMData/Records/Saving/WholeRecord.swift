import OpenCombine

/// What a record that is written as a whole carries of its fields.
///
/// A whole record says something of each of its properties, meant or not. So it never carries what is not the record's
/// own to set: fields of other tables, calculations, summaries, globals, containers. What is said field by field is
/// carried as it stands.
struct WholeRecord: Sendable {
    /// Plain names, in lower case.
    private let readOnly: Set<String>
    /// Whether everything is carried, as it was said field by field.
    private let isGivenByField: Bool

    private init(readOnly: Set<String>, isGivenByField: Bool = false) {
        self.readOnly = readOnly
        self.isGivenByField = isGivenByField
    }

    /// For fields that were named one by one.
    static let givenByField = WholeRecord(readOnly: [], isGivenByField: true)

    /// For a type that lists what it cannot write.
    init(readOnly names: [String]) { self.init(readOnly: Set(names.map(Self.plain))) }

    /// - Parameter layout: what the layout shows; `nil` when the host does not say, and then names alone decide.
    init(in layout: DataAPI.Layout.LayoutMetaData?) {
        self.init(readOnly: (layout?.fieldMetaData ?? []).filter { !$0.takesValues }.map(\.name))
    }

    private func carries(_ field: String) -> Bool {
        isGivenByField || !field.contains("::") && !readOnly.contains(Self.plain(field))
    }

    /// The fields of a change that the type lists as such that it cannot write.
    func readOnlyFields(in change: RecordChange) -> [String] {
        change.fields.names.filter { readOnly.contains(Self.plain($0)) }
    }

    /// The fields that are carried.
    func carried(_ fields: [WireValue.Member]) -> [WireValue.Member] { fields.filter { carries($0.name) } }

    /// The fields that are carried.
    func carried(_ fields: FieldData) -> FieldData {
        FieldData(fields.lazy.filter { carries($0.name) }.map { ($0.name, $0.value) })
    }

    /// The rows of a portal, each with the fields of the portal's own table. Where the names do not tell which table
    /// that is, as with a portal of another name whose rows show several tables, all fields are carried.
    private func carried(_ rows: [WireValue], of portal: String) -> [WireValue] {
        guard !isGivenByField else { return rows }
        let tables = Set(rows.flatMap(\.members).compactMap { Self.table(of: $0.name) })
        guard tables.count > 1, tables.contains(portal) else { return rows }
        return rows.map { row in
            .object(row.members.filter { Self.table(of: $0.name).map { $0 == portal } ?? true })
        }
    }

    /// `Lines` of `Lines::Price`.
    private static func table(of name: String) -> String? {
        name.firstRange(of: "::").map { String(name[..<$0.lowerBound]) }
    }

    private static func plain(_ name: String) -> String { FieldSuspicion.plainName(name).lowercased() }
}

extension WholeRecord {
    /// The same body with the fields and rows that are carried.
    func carried(_ options: [WireOption]) -> [WireOption] {
        options.map { option in
            let value: WireValue
            switch option.names {
            case .fields: value = .object(carried(option.value.members))
            case .portalRows:
                value = .object(
                    option.value.members.map { portal in
                        WireValue.Member(
                            name: portal.name,
                            value: .array(carried(portal.value.elements, of: portal.name))
                        )
                    }
                )
            default: return option
            }
            return WireOption(name: option.name, value: value, disclosure: option.disclosure, names: option.names)
        }
    }
}

extension DataAPI.Layout.LayoutMetaData.FieldMetaData {
    /// Whether a record's own write can set the field.
    fileprivate var takesValues: Bool {
        type != .calculation && type != .summary && !global && result != .container
    }
}

extension DataAPI.TypedLayout {
    /// Makes a call that writes whole records, once it is known what these carry: at once when the type says it, when
    /// its fields are named one by one, or when the layout was described in the last minute, else after the layout has
    /// been asked.
    ///
    /// - Parameter call: gets what is carried. It is called once for each subscription.
    func knowingWholeRecord<Value>(
        _ call: @escaping (WholeRecord) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        if R.self == FieldData.self { return call(.givenByField) }
        if let readOnly = R.readOnlyFields { return call(WholeRecord(readOnly: readOnly.map(\.stringValue))) }
        return layout.described(call: { call(WholeRecord(in: $0)) })
    }
}

extension DataAPI.Layout {
    /// Makes a call with what the layout shows, which is asked when it is not known: `nil` when the host does not say.
    func described<Value>(
        call: @escaping (LayoutMetaData?) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        OnDemandPublisher {
            let database = self.database.forOneCall
            if let known = database.tenure.layouts.known(self.name) { return call(known) }
            return database.answer(to: .layout(self.name), database.calls)
                .map { answer in if case .layout(let metadata) = answer { metadata } else { nil } }
                .setFailureType(to: FMRest.APIError.self)
                .flatMap(call)
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
}
