public import OpenCombine

/// Writes that take the fields without an `EditRecord` around them, when there are neither portal rows nor options. See
/// ``DataAPI/Layout/createRecord(record:isolation:)`` and ``DataAPI/Layout/editRecord(record:recordId:isolation:)`` for
/// what they publish and how they fail.
extension DataAPI.Layout {
    /// Creates a record with these fields.
    ///
    ///     people.createRecord(Person(name: "Ada"))
    ///
    /// Publishes the new record's id and modId. Each subscription creates a record.
    ///
    /// Source: Claris Data API guide, "Create a record", `POST …/records`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func createRecord<R: Encodable>(
        _ fields: R,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        createRecord(record: DataAPI.EditRecord(createRecord: fields, script: script), isolation: isolation)
    }

    /// Creates a record with fields that are given by name.
    ///
    ///     people.createRecord(["Name": "Ada", "Age": 36])
    ///
    /// Publishes the new record's id and modId. Each subscription creates a record.
    ///
    /// Source: Claris Data API guide, "Create a record", `POST …/records`.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func createRecord(
        _ fields: FieldData,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        createRecord(record: DataAPI.EditRecord(createRecord: fields, script: script), isolation: isolation)
    }

    /// Creates a record: ``createRecord(record:isolation:)`` without the label.
    ///
    /// - Note: One value. See <doc:Calls>.
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
    /// Publishes the record's id and new modId.
    ///
    /// - Note: One value. See <doc:Calls>.
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

    /// Changes fields of a record that are given by name.
    ///
    ///     people.editRecord(["City": "London", "Age": 37], recordId: 17)
    ///
    /// Publishes the record's id and new modId.
    ///
    /// - Note: One value. See <doc:Calls>.
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

    /// Changes these fields of a record whose modId is a text. A text that is no number fails with
    /// ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// - Note: One value. See <doc:Calls>.
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

    /// Changes a record: ``editRecord(record:recordId:isolation:)`` without the label.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func editRecord<R: Encodable, P: Encodable>(
        _ record: DataAPI.EditRecord<R, P>,
        recordId: some DataAPI.RecordIdentifier,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        editRecord(record: record, recordId: recordId, isolation: isolation)
    }
}

// Unavailable forms that may be tried first; their messages name what to write.

extension DataAPI.Layout {
    /// Unavailable: pass the fields without a label or in an `EditRecord`.
    @available(*, unavailable, message: "Leave the label out, or write EditRecord(createRecord: fields).")
    public func createRecord<R: Encodable>(record: R) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        createRecord(record)
    }

    /// Unavailable: pass the fields without a label or in an `EditRecord`.
    @available(*, unavailable, message: "Leave the label out, or write EditRecord(editRecord: fields).")
    public func editRecord<R: Encodable>(
        record: R,
        recordId: some DataAPI.RecordIdentifier
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        editRecord(record, recordId: recordId)
    }
}
