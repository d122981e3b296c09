extension DataAPI {
    /// Which version of which record.
    public struct RecordVersion: Hashable, Sendable {
        /// FileMaker's internal id of the record.
        public var recordId: Int
        /// The modification id, which rises with each commit of the record.
        public var modId: Int

        /// A version of a record.
        public init(recordId: Int, modId: Int) {
            self.recordId = recordId
            self.modId = modId
        }
    }
}
