extension DataAPI {
    /// Fields of one record to change: an element of a batch of edits.
    ///
    ///     DataAPI.RecordEdit(17, ["City": "London"])
    ///     DataAPI.RecordEdit(record, ["City": "London"])   // refused when the record has changed since it was read
    public struct RecordEdit: Hashable, Sendable {
        /// The id of the record.
        public var recordId: Int
        /// The fields to write. Other fields stay as they are.
        public var fields: FieldData
        /// The version that the edit is based on: the server refuses the edit with 306 when the record has another one
        /// by now. It also prevents an edit from being carried out twice. `nil` overwrites.
        public var modId: Int?

        /// Makes an edit of a record.
        public init(_ recordId: Int, _ fields: FieldData, modId: Int? = nil) {
            self.recordId = recordId
            self.fields = fields
            self.modId = modId
        }

        /// Makes an edit of a record that was read: with its id, and guarded by its modId.
        public init<R, P>(_ record: Record<R, P>, _ fields: FieldData) {
            self.init(record.recordId, fields, modId: record.modId)
        }
    }
}
