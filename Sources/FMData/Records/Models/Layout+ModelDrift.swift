public import OpenCombine

/// Each of these publishes one value, then finishes. Nothing is sent before demand, each subscription is one request, and
/// cancelling ends the exchange on the wire.
extension DataAPI.Layout {
    /// In what the layout differs from a type of records: by the names of fields, not by their types, and without portals.
    ///
    ///     layout.drift(of: Person.self)               // missing: ["City"], added: ["Town"]
    ///
    /// Publishes one ``DataAPI/ModelDrift``, which may be empty, then finishes. It asks for the layout's metadata; fails with
    /// FileMaker code 105 when there is no such layout. The type lists its fields by coding keys that are `CaseIterable`, as
    /// those of generated types are (<doc:Models>).
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Get layout metadata", `GET …/layouts/{layout}`.
    public func drift<R: RecordFields>(
        of record: R.Type,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.ModelDrift, FMRest.APIError> where R.CodingKeys: CaseIterable {
        let keys = database.server.config.decoding.keys
        return getLayoutMetadata(isolation: nil)
            .map { metadata in
                ModelFields(record).drift(from: name, showing: metadata.fieldMetaData.map(\.name), keys: keys)
            }
            .handedOver(to: isolation, by: database)
    }

    /// Whether the layout has all fields of a type of records: what a program may ask when it starts.
    ///
    ///     layout.isCurrent(Person.self)
    ///
    /// Publishes `true` or `false`, then finishes. Fields that the layout has beyond those play no role;
    /// ``drift(of:isolation:)`` names them, and those that are missing. Fails as that does.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Get layout metadata", `GET …/layouts/{layout}`.
    public func isCurrent<R: RecordFields>(
        _ record: R.Type,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Bool, FMRest.APIError> where R.CodingKeys: CaseIterable {
        drift(of: record, isolation: nil).map(\.missing.isEmpty).handedOver(to: isolation, by: database)
    }
}
