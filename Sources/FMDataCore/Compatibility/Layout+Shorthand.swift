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
}
