public import OpenCombine

/// Writes without an `EditRecord` around the fields: for those that have neither portal rows nor options. See
/// ``DataAPI/Layout/createRecord(record:isolation:)`` and ``DataAPI/Layout/editRecord(record:recordId:isolation:)`` for
/// what they publish and how they fail.
extension DataAPI.Layout {
    /// Makes a record with these fields.
    ///
    ///     people.createRecord(Person(name: "Ada"))
    ///
    /// Publishes the new record's id and modId, then finishes. Each subscription makes a record.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Create a record", `POST …/records`.
    public func createRecord<R: Encodable>(
        _ fields: R,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        createRecord(record: DataAPI.EditRecord(createRecord: fields, script: script), isolation: isolation)
    }

    /// Makes a record with fields that are written out.
    ///
    ///     people.createRecord(["Name": "Ada", "Age": 36])
    ///
    /// Publishes the new record's id and modId, then finishes. Each subscription makes a record.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// Source: Claris Data API guide, "Create a record", `POST …/records`.
    public func createRecord(
        _ fields: FieldData,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        createRecord(record: DataAPI.EditRecord(createRecord: fields, script: script), isolation: isolation)
    }

    /// ``createRecord(record:isolation:)``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func createRecord<R: Encodable, P: Encodable>(
        _ record: DataAPI.EditRecord<R, P>,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        createRecord(record: record, isolation: isolation)
    }

    /// Changes these fields of a record.
    ///
    ///     people.editRecord(changed, recordId: record.recordId, modId: record.modId)
    ///
    /// Publishes the new modId, then finishes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - fields: the fields to change, with their new values.
    ///   - recordId: the record.
    ///   - modId: the version the edit is based on; see ``DataAPI/EditRecord/modId``. Without it the edit overwrites.
    ///   - script: scripts to run with the request.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Edit a record", `PATCH …/records/{id}`.
    public func editRecord<R: Encodable>(
        _ fields: R,
        recordId: some DataAPI.RecordIdentifier,
        modId: Int? = nil,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        editRecord(
            record: DataAPI.EditRecord(editRecord: fields, modId: modId, script: script),
            recordId: recordId,
            isolation: isolation
        )
    }

    /// Changes fields of a record that are written out.
    ///
    ///     people.editRecord(["City": "London", "Age": 37], recordId: 17)
    ///
    /// Publishes the new modId, then finishes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - fields: the fields to change, with their new values.
    ///   - recordId: the record.
    ///   - modId: the version the edit is based on; see ``DataAPI/EditRecord/modId``. Without it the edit overwrites.
    ///   - script: scripts to run with the request.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Edit a record", `PATCH …/records/{id}`.
    public func editRecord(
        _ fields: FieldData,
        recordId: some DataAPI.RecordIdentifier,
        modId: Int? = nil,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        editRecord(
            record: DataAPI.EditRecord(editRecord: fields, modId: modId, script: script),
            recordId: recordId,
            isolation: isolation
        )
    }

    /// Changes these fields of a record whose modId is a text. One that is no number fails with
    /// ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    @_disfavoredOverload
    public func editRecord<R: Encodable>(
        _ fields: R,
        recordId: some DataAPI.RecordIdentifier,
        modId: String?,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        editRecord(
            record: DataAPI.EditRecord(editRecord: fields, modId: modId, script: script),
            recordId: recordId,
            isolation: isolation
        )
    }

    /// ``editRecord(record:recordId:isolation:)``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func editRecord<R: Encodable, P: Encodable>(
        _ record: DataAPI.EditRecord<R, P>,
        recordId: some DataAPI.RecordIdentifier,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        editRecord(record: record, recordId: recordId, isolation: isolation)
    }
}

// What a reader may try first, with a word about what to write.

extension DataAPI.Layout {
    /// Fields go without a label or in an `EditRecord`.
    @available(*, unavailable, message: "Leave the label out, or write EditRecord(createRecord: fields).")
    public func createRecord<R: Encodable>(record: R) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        createRecord(record)
    }

    /// Fields go without a label or in an `EditRecord`.
    @available(*, unavailable, message: "Leave the label out, or write EditRecord(editRecord: fields).")
    public func editRecord<R: Encodable>(
        record: R,
        recordId: some DataAPI.RecordIdentifier
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        editRecord(record, recordId: recordId)
    }
}
