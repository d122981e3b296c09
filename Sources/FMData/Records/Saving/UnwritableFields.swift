import OpenCombine

extension DataAPI.Layout.LayoutMetaData {
    /// The fields of a change that no write can change: calculations, summaries, containers, which are uploaded or cleared, and
    /// globals, which belong to a session and not to a record.
    func unwritableFields(in change: RecordChange) -> [String] {
        var names = change.fields.members.filter { Self.isUnwritable($0, among: fieldMetaData) }.map(\.name)
        for row in change.rows {
            let fields: FieldSet
            switch row {
            case .edit(_, let row): fields = row.fields
            case .add(_, let added): fields = added
            case .delete: continue
            }
            let shown = portalMetaData[row.portal] ?? []
            names += fields.members.filter { Self.isUnwritable($0, among: shown) }.map(\.name)
                .filter { !names.contains($0) }
        }
        return names
    }

    private static func isUnwritable(_ member: WireValue.Member, among shown: [FieldMetaData]) -> Bool {
        let name = FieldSuspicion.plainName(member.name).lowercased()
        guard let field = shown.first(where: { $0.name.lowercased() == name }) else { return false }
        return field.type == .calculation || field.type == .summary || field.global
            || field.result == .container && !member.value.isEmptyField
    }
}

extension DataAPI.TypedLayout {
    /// Makes a call that writes what somebody has changed, once it is known what of that no write can change: by the type,
    /// when it says so, else by what the layout shows, which is asked as ``knowingWholeRecord(_:)`` does it. Fields that are
    /// named one by one are held against a description that is there already.
    ///
    /// - Parameters:
    ///   - isGivenByField: whether they were named one by one, whatever the type.
    ///   - call: gets the fields that cannot be written. It is called once for each subscription.
    func knowingUnwritableFields<Value>(
        in change: RecordChange,
        isGivenByField: Bool,
        _ call: @escaping ([String]) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        if isGivenByField || R.self == FieldData.self {
            return call(layout.database.tenure.layouts.known(layout.name)?.unwritableFields(in: change) ?? [])
        }
        if let readOnly = R.readOnlyFields {
            return call(WholeRecord(readOnly: readOnly.map(\.stringValue)).readOnlyFields(in: change))
        }
        return layout.described { call($0?.unwritableFields(in: change) ?? []) }
    }
}

extension FMRest.APIError {
    static func unwritable(_ fields: [String]) -> FMRest.APIError {
        let names = fields.map { "\"\($0)\"" }.joined(separator: ", ")
        var error = FMRest.APIError(
            .invalidRequest,
            reason: "\(names) \(fields.count == 1 ? "was" : "were") changed and cannot be written. Nothing was sent.",
            hint:
                "Calculations and summaries follow from other fields; containers are filled by uploadContainer; globals "
                + "are set by setGlobalFields."
        )
        error.fields = fields
        return error
    }
}
