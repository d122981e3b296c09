public import OpenCombine

/// Each of these publishes one value, then finishes. Nothing is sent before demand, each subscription is one request (a
/// second subscriber to a create makes a second record), and cancelling ends the exchange on the wire: a write that was
/// already sent may have been carried out.
extension DataAPI.TypedLayout {
    /// Makes a record.
    ///
    ///     people.create(Person(name: "Ada"))
    ///
    /// Publishes the new record's id and modId, then finishes. A property that is `nil` makes its field empty, or
    /// leaves it to FileMaker with ``EncodingOptions/nilValues`` = `.omit`; ``RecordChanges`` leave to FileMaker what
    /// is not set. Fields of other tables, calculations, summaries, globals and containers are not sent with a whole
    /// record: ``RecordFields/readOnlyFields``. Fails with FileMaker codes 500 to 513 when a field's validation refuses
    /// its value; nothing is made then.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - fields: the new record.
    ///   - portals: rows of portals to make with it, in the same commit.
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
            }
        }
        return create.handedOver(to: isolation, by: layout.database, mayHaveWritten: true)
    }

    /// Changes these fields of a record, and no others.
    ///
    ///     people.edit(17, ["City": "London"])
    ///     people.edit(record.id, ["City": "London"], modId: record.modId)
    ///
    /// Publishes the record's id and new modId, then finishes. Fails with FileMaker code 306 when a modId was given and the
    /// record has another one by now, with 301 when somebody is editing it, with 101 when there is none.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - recordId: the record.
    ///   - fields: the fields to change, with their new values.
    ///   - modId: the version that the edit is based on. Without it the edit overwrites.
    ///   - script: scripts to run with the request.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Edit a record".
    public func edit(
        _ recordId: some DataAPI.RecordIdentifier,
        _ fields: FieldData,
        modId: Int? = nil,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        layout.editRecord(fields, recordId: recordId, modId: modId, script: script, isolation: isolation)
    }

    /// Duplicates a record.
    ///
    /// Publishes the id and modId of the new record, then finishes. Fails with FileMaker code 101 when there is no such record.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
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
    /// Publishes the script results, then finishes. Fails with FileMaker code 101 when there is no such record.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Delete a record".
    public func delete(
        _ recordId: some DataAPI.RecordIdentifier,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.ScriptResponse, FMRest.APIError> {
        layout.deleteRecord(recordId: recordId, scriptQuery: script, isolation: isolation)
    }

    /// Sets global fields for the work of one session; see ``DataAPI/Database/setGlobalFields(globalFields:isolation:)``.
    ///
    /// Publishes one empty value, then finishes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func globals(
        _ globals: [String: String],
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        layout.database.setGlobalFields(globalFields: globals, isolation: isolation)
    }

    /// Runs a script with this layout as its context; see ``DataAPI/Layout/executeScript(script:parameter:isolation:)`` for
    /// parameters that are values or secrets.
    ///
    ///     people.script("Count visits", "2026")
    ///
    /// Publishes the script's result and error, then finishes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func script(
        _ name: String,
        _ parameter: String? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.ScriptResponse, FMRest.APIError> {
        layout.executeScript(script: name, scriptParam: parameter, isolation: isolation)
    }
}
