/// The fields that are sent of a record that is written as a whole.
///
/// A whole record has a value for each of its properties, intended or not. So the fields that a record's own write
/// cannot set are left out: fields of other tables, calculations, summaries, globals, containers. Fields that were
/// named one by one are sent as they are.
package struct WholeRecord: Sendable {
    /// Field names without repetition and related record id, in lower case.
    private let readOnly: Set<String>
    /// Whether all fields are sent, because they were named one by one.
    private let isGivenByField: Bool

    private init(readOnly: Set<String>, isGivenByField: Bool = false) {
        self.readOnly = readOnly
        self.isGivenByField = isGivenByField
    }

    /// For fields that were named one by one.
    package static let givenByField = WholeRecord(readOnly: [], isGivenByField: true)

    /// For a type that lists the fields it cannot write.
    package init(readOnly names: [String]) { self.init(readOnly: Set(names.map(Self.plain))) }

    /// - Parameter layout: the description of the layout; `nil` when the host does not return one, and then only the
    ///   names decide.
    package init(in layout: DataAPI.Layout.LayoutMetaData?) {
        self.init(readOnly: (layout?.fieldMetaData ?? []).filter { !$0.takesValues }.map(\.name))
    }

    private func carries(_ field: String) -> Bool {
        isGivenByField || !field.contains("::") && !readOnly.contains(Self.plain(field))
    }

    /// The names that the type lists as read-only.
    package func readOnlyFields(among names: [String]) -> [String] {
        names.filter { readOnly.contains(Self.plain($0)) }
    }

    /// The fields that are sent.
    package func carried(_ fields: [WireValue.Member]) -> [WireValue.Member] { fields.filter { carries($0.name) } }

    /// The fields that are sent.
    package func carried(_ fields: FieldData) -> FieldData {
        FieldData(fields.lazy.filter { carries($0.name) }.map { ($0.name, $0.value) })
    }

    /// The rows of a portal, each with the fields of the portal's own table. Where the names do not show which table
    /// that is, as in a portal with another name whose rows show several tables, all fields are sent.
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

    private static func plain(_ name: String) -> String { DataAPIName.plain(name).lowercased() }
}

extension WholeRecord {
    /// The same body with only the fields and rows that are sent.
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
