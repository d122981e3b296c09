extension DataAPI {
    /// One write of many: see ``TypedLayout/writing(_:journal:options:isolation:)-(Rows,_,_,_)`` and
    /// ``OpenCombine/Publisher/commit(in:by:journal:options:isolation:)``.
    ///
    ///     [.create(Person(name: "Ada")), .edit(17, ["City": "London"]), .delete(18)] as [DataAPI.RecordWrite<Person>]
    public enum RecordWrite<R: RecordFields>: Sendable {
        /// Makes a record.
        case create(R)
        /// Changes fields of a record; one with a modId only if the record still has that.
        case edit(RecordEdit)
        /// Deletes a record.
        case delete(recordId: Int)
        /// Edits the record with the same value in this field, or makes one when there is none. A commit cannot do it.
        case upsert(R, byField: String)
    }
}

extension DataAPI.RecordWrite {
    /// Changes fields of a record, whatever version it has.
    public static func edit(_ recordId: Int, _ fields: FieldData) -> Self {
        .edit(DataAPI.RecordEdit(recordId, fields))
    }

    /// Deletes a record.
    public static func delete(_ recordId: Int) -> Self { .delete(recordId: recordId) }

    /// Edits the record with the same key, or makes one when there is none.
    public static func upsert(_ record: R, by key: R.CodingKeys) -> Self { .upsert(record, byField: key.stringValue) }
}

extension DataAPI.RecordWrite: Equatable where R: Equatable {}
extension DataAPI.RecordWrite: Hashable where R: Hashable {}
