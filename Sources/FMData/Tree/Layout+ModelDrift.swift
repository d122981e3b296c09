public import OpenCombine

extension DataAPI.Layout {
    /// How the layout differs from a record type: by the names of fields, not by their types, and without portals.
    ///
    ///     layout.drift(of: Person.self)               // missing: ["City"], added: ["Town"]
    ///
    /// The value may be empty. Reads the layout's metadata; fails with FileMaker code 105 when there is no such layout.
    /// The type must list its fields by coding keys that are `CaseIterable`, as generated types do (<doc:Models>).
    ///
    /// Source: Claris Data API guide, "Get layout metadata", `GET …/layouts/{layout}`.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - record: the record type.
    ///   - isolation: where the values arrive; leave it out.
    public func drift<R: RecordFields>(
        of record: R.Type,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.ModelDrift, FMRest.APIError> where R.CodingKeys: CaseIterable {
        let keys = database.server.config.decoding.keys
        return getLayoutMetadata(isolation: nil)
            .map { metadata in
                ModelFields(record).drift(from: name, showing: metadata.fieldMetaData.map(\.name), keys: keys)
            }
            .delivered(on: isolation, by: database)
    }

    /// Whether the layout has all fields of a record type: a check that a program may make when it starts.
    ///
    ///     layout.isCurrent(Person.self)
    ///
    /// Other fields of the layout are ignored; ``drift(of:isolation:)`` names them, and the missing ones, and fails in
    /// the same way.
    ///
    /// Source: Claris Data API guide, "Get layout metadata", `GET …/layouts/{layout}`.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - record: the record type.
    ///   - isolation: where the values arrive; leave it out.
    public func isCurrent<R: RecordFields>(
        _ record: R.Type,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Bool, FMRest.APIError> where R.CodingKeys: CaseIterable {
        drift(of: record, isolation: nil).map(\.missing.isEmpty).delivered(on: isolation, by: database)
    }
}
