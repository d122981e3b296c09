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

extension DataAPI.Record {
    /// Which version of which record it is.
    var version: DataAPI.RecordVersion { DataAPI.RecordVersion(recordId: recordId, modId: modId) }
}

extension DataAPI.UnreadableRecord {
    /// Which version of which record it is.
    var version: DataAPI.RecordVersion { DataAPI.RecordVersion(recordId: recordId, modId: modId) }
}
