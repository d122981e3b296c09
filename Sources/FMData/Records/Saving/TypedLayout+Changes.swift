public import OpenCombine

/// Cancelling aborts the request: a write that was already sent may have been carried out.
extension DataAPI.TypedLayout {
    /// Creates a record with the fields that are set. FileMaker enters the others as for any new record.
    ///
    ///     people.create(Person.Changes(name: "Ada"))
    ///
    /// Publishes the new record's id and modId. Fails with FileMaker codes 500 to 513 when a field's validation refuses
    /// its value; then no record is created.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - changes: the fields that are set.
    ///   - portals: portal rows to create with the record, in the same commit.
    ///   - script: scripts to run with the request.
    ///   - isolation: the actor on which values arrive; leave it out.
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
    ///     people.edit(17, setting: Person.Changes(city: "London"))
    ///     people.edit(record.id, setting: Person.Changes(city: "London"), modId: record.modId)
    ///
    /// Publishes the record's id and new modId. Fails with FileMaker code 306 when a modId was given and the record has
    /// another one by now, with 301 when another user is editing it, with 101 when it does not exist.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - recordId: the id of the record.
    ///   - changes: the fields that are set.
    ///   - portals: portal rows to create or change with the record, in the same commit.
    ///   - deleteRelated: portal rows to delete with it, in the same commit.
    ///   - modId: the version that the edit is based on. Without it the edit overwrites.
    ///   - script: scripts to run with the request.
    ///   - isolation: the actor on which values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Edit a record".
    public func edit<Changes: RecordChanges>(
        _ recordId: some DataAPI.RecordIdentifier,
        setting changes: Changes,
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
