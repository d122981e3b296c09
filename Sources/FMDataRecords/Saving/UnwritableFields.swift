import FMDataCore
import OpenCombine

extension DataAPI.Layout.LayoutMetaData {
    /// The fields of a change that no write can change: calculations, summaries, containers (which are uploaded or
    /// cleared), and globals, which belong to a session and not to a record.
    func unwritableFields(in change: RecordDiff) -> [String] {
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
        let name = DataAPIName.plain(member.name).lowercased()
        guard let field = shown.first(where: { $0.name.lowercased() == name }) else { return false }
        return field.type == .calculation || field.type == .summary || field.global
            || field.result == .container && !member.value.isEmptyField
    }
}

extension DataAPI.TypedLayout {
    /// Makes a call that writes a change, once the fields that no write can change are known: from the type, if it
    /// lists them, otherwise from the layout's description, which is requested as in ``knowingWholeRecord(_:)``. Fields
    /// that are named one by one are compared with a description only if there is one already.
    ///
    /// - Parameters:
    ///   - isGivenByField: whether the fields were named one by one, whatever the type is.
    ///   - call: receives the fields that cannot be written. It is called once for each subscription.
    func knowingUnwritableFields<Value>(
        in change: RecordDiff,
        isGivenByField: Bool,
        _ call: @escaping ([String]) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        if isGivenByField || R.self == FieldData.self {
            return call(
                layout.database.accountPeriod.layoutMemory.known(layout.name)?.unwritableFields(in: change) ?? []
            )
        }
        if let readOnly = R.readOnlyFields {
            return call(WholeRecord(readOnly: readOnly.map(\.stringValue)).readOnlyFields(among: change.fields.names))
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
                + "are set by setGlobals."
        )
        error.fields = fields
        return error
    }
}

extension DataAPI.TypedLayout {
    /// Makes a call that writes whole records, once the fields to send are known: at once when the type lists its
    /// read-only fields, when its fields are named one by one, or when the layout was described in the last minute;
    /// otherwise after a request for the layout's description.
    ///
    /// - Parameter call: receives the selection of fields. It is called once for each subscription.
    func knowingWholeRecord<Value>(
        _ call: @escaping (WholeRecord) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        if R.self == FieldData.self { return call(.givenByField) }
        if let readOnly = R.readOnlyFields { return call(WholeRecord(readOnly: readOnly.map(\.stringValue))) }
        return layout.described(call: { call(WholeRecord(in: $0)) })
    }
}
