extension DataAPI {
    /// A version of a record.
    public struct RecordVersion: Hashable, Sendable {
        /// FileMaker's internal id of the record.
        public var recordId: Int
        /// The modification id, which rises with each commit of the record.
        public var modId: Int

        /// Creates a version of a record.
        public init(recordId: Int, modId: Int) {
            self.recordId = recordId
            self.modId = modId
        }
    }
}

extension DataAPI.Record {
    /// The record's id and modId.
    var version: DataAPI.RecordVersion { DataAPI.RecordVersion(recordId: recordId, modId: modId) }
}

extension DataAPI.UnreadableRecord {
    /// The record's id and modId.
    var version: DataAPI.RecordVersion { DataAPI.RecordVersion(recordId: recordId, modId: modId) }
}
