public import FMDataCore
public import OpenCombine

/// Each of these publishers sends one request per subscription: a second subscriber to a create makes a second record.
/// Cancelling closes the exchange, but a write that was already sent may have been carried out.
extension DataAPI.TypedLayout {
    /// Creates a record.
    ///
    ///     people.create(Person(name: "Ada"))
    ///
    /// Publishes the new record's id and modId. A property that is `nil` makes its field empty, or is not sent if
    /// ``EncodingOptions/nilValues`` is `.omit`, so that FileMaker fills the field; ``RecordChanges`` do not send
    /// fields that are not set. Fields of other tables, calculations, summaries, globals and containers are not sent
    /// with a whole record: ``RecordFields/readOnlyFields``. Fails with FileMaker codes 500 to 513 if a field's
    /// validation refuses its value; no record is created then.
    ///
    /// Each subscription creates a record. Cancelling does not undo a create that was sent.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - fields: the new record.
    ///   - portals: portal rows to create with it, in the same commit.
    ///   - script: scripts to run with the request.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Create a record".
    public func create(
        _ fields: R,
        portals: R.Portals? = nil,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        let record = DataAPI.EditRecord(createRecord: fields, portalData: portals, script: script)
        let create = OnDemandPublisher<DataAPI.CreateResponse, FMRest.APIError> {
            let one = DataAPI.TypedLayout<R>(layout: layout.forOneCall)
            return one.knowingWholeRecord { whole in
                one.layout.database.perform { try .create(in: one.layout, record: record, carrying: whole) }
                    .eraseToAnyPublisher()
            }
        }
        return create.delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    /// Changes the given fields of a record, and no others.
    ///
    ///     people.edit(17, setting: ["City": "London"])
    ///     people.edit(record.id, setting: ["City": "London"], modId: record.modId)
    ///
    /// Publishes the record's id and new modId. Fails with FileMaker code 306 if a modId was given and the record's
    /// modId is a different one by now, with 301 while another user is editing the record, and with 101 if there is no
    /// such record. Cancelling does not undo an edit that was sent.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - recordId: the id of the record.
    ///   - fields: the fields to change, with their new values.
    ///   - modId: the version that the edit is based on. Without it the edit overwrites any version; `update(_:_:)`
    ///     reads the record first, and decides again when another client was faster.
    ///   - script: scripts to run with the request.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Edit a record".
    public func edit(
        _ recordId: some DataAPI.RecordIdentifier,
        setting fields: FieldData,
        modId: Int? = nil,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        layout.editRecord(fields, recordId: recordId, modId: modId, script: script, isolation: isolation)
    }

    /// Duplicates a record.
    ///
    /// Publishes the id and modId of the new record. Fails with FileMaker code 101 if there is no such record. Each
    /// subscription creates a record; cancelling does not undo a duplicate that was sent.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// Source: Claris Data API guide, "Duplicate a record". FileMaker Server 18 and later.
    public func duplicate(
        _ recordId: some DataAPI.RecordIdentifier,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        layout.duplicateRecord(recordId: recordId, scriptQuery: script, isolation: isolation)
    }

    /// Deletes a record.
    ///
    /// Publishes the script results. Fails with FileMaker code 101 if there is no such record. Cancelling does not undo
    /// a delete that was sent.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// Source: Claris Data API guide, "Delete a record".
    public func delete(
        _ recordId: some DataAPI.RecordIdentifier,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.ScriptResponse, FMRest.APIError> {
        layout.deleteRecord(recordId: recordId, scriptQuery: script, isolation: isolation)
    }
}

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
