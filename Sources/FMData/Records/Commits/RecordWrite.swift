extension DataAPI {
    /// One write of several that are committed together: see ``OpenCombine/Publisher/commit(in:by:options:isolation:)``.
    ///
    ///     [.create(Person(name: "Ada")), .edit(17, ["City": "London"]), .delete(18)] as [DataAPI.RecordWrite<Person>]
    public enum RecordWrite<R: RecordFields>: Sendable {
        /// Makes a record.
        case create(R)
        /// Changes fields of a record; one with a modId only if the record still has that.
        case edit(RecordEdit)
        /// Deletes a record.
        case delete(recordId: Int)
    }
}

extension DataAPI.RecordWrite {
    /// Changes fields of a record, whatever version it has.
    public static func edit(_ recordId: Int, _ fields: FieldData) -> Self {
        .edit(DataAPI.RecordEdit(recordId, fields))
    }

    /// Deletes a record.
    public static func delete(_ recordId: Int) -> Self { .delete(recordId: recordId) }
}

extension DataAPI.RecordWrite: Equatable where R: Equatable {}
extension DataAPI.RecordWrite: Hashable where R: Hashable {}
