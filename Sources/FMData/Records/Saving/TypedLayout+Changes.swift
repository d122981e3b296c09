public import OpenCombine

/// Each of these publishes one value, then finishes. Nothing is sent before demand, each subscription is one request, and
/// cancelling ends the exchange on the wire: a write that was already sent may have been carried out.
extension DataAPI.TypedLayout {
    /// Makes a record with the fields that are set. FileMaker enters the others as it does for any new record.
    ///
    ///     people.create(Person.Changes(name: "Ada"))
    ///
    /// Publishes the new record's id and modId, then finishes. Fails with FileMaker codes 500 to 513 when a field's validation
    /// refuses its value; nothing is made then.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - changes: the fields that are set.
    ///   - portals: rows of portals to make with it, in the same commit.
    ///   - script: scripts to run with the request.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Create a record".
    public func create<Changes: RecordChanges>(
        _ changes: Changes,
        portals: Changes.Portals? = nil,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> where Changes.Record == R {
        layout.createRecord(
            record: DataAPI.EditRecord(createRecord: changes, portalData: portals, script: script),
            isolation: isolation
        )
    }

    /// Changes the fields of a record that are set, and no others.
    ///
    ///     people.edit(17, Person.Changes(city: "London"))
    ///     people.edit(record.id, Person.Changes(city: "London"), modId: record.modId)
    ///
    /// Publishes the record's id and new modId, then finishes. Fails with FileMaker code 306 when a modId was given and the
    /// record has another one by now, with 301 when somebody is editing it, with 101 when there is none.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - recordId: the record.
    ///   - changes: the fields that are set.
    ///   - portals: rows of portals to make or change with it, in the same commit.
    ///   - deleteRelated: rows of portals to delete with it, in the same commit.
    ///   - modId: the version that the edit is based on. Without it the edit overwrites.
    ///   - script: scripts to run with the request.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Edit a record".
    public func edit<Changes: RecordChanges>(
        _ recordId: some DataAPI.RecordIdentifier,
        _ changes: Changes,
        portals: Changes.Portals? = nil,
        deleteRelated: [DataAPI.RelatedRecord] = [],
        modId: Int? = nil,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> where Changes.Record == R {
        var record = DataAPI.EditRecord(editRecord: changes, portalData: portals, modId: modId, script: script)
        record.deleteRelated = deleteRelated
        return layout.editRecord(record: record, recordId: recordId, isolation: isolation)
    }
}
