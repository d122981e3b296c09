extension DataAPI {
    /// Fields of one record to change: what a batch of edits is made of.
    ///
    ///     DataAPI.RecordEdit(17, ["City": "London"])
    ///     DataAPI.RecordEdit(record, ["City": "London"])       // refused when the record has changed since it was read
    public struct RecordEdit: Hashable, Sendable {
        /// The record.
        public var recordId: Int
        /// The fields to write. Others stay as they are.
        public var fields: FieldData
        /// The version that the edit is based on: the server refuses with 306 when the record has another one by now. It is
        /// also what makes sure that an edit is never done twice. `nil` overwrites.
        public var modId: Int?

        /// An edit of a record.
        public init(_ recordId: Int, _ fields: FieldData, modId: Int? = nil) {
            self.recordId = recordId
            self.fields = fields
            self.modId = modId
        }

        /// An edit of a record as it was read: with its id, and guarded by its modId.
        public init<R, P>(_ record: Record<R, P>, _ fields: FieldData) {
            self.init(record.recordId, fields, modId: record.modId)
        }
    }
}
