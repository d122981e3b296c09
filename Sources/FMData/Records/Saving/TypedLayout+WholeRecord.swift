import OpenCombine

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
