extension DataAPI {
    /// The result of a save.
    public struct Saved<R: RecordFields>: Sendable {
        /// The current record. The next draft is `saved.record.draft()`.
        ///
        /// It was read again if portal rows were written, a script ran, or a change of another client was merged.
        /// Otherwise it is the draft with its new modId, and values that FileMaker enters by itself, such as time
        /// stamps, are the old ones. If the record could not be read again (``refreshFailure``), it has its old modId,
        /// so that the next save reads the current one.
        public var record: TypedLayout<R>.Record
        /// What the save did, in the form that batches, commits and upserts use.
        ///
        /// Its kind is ``WriteResult/Kind/updated`` when the differences were written, and
        /// ``WriteResult/Kind/unchanged`` when nothing was: the draft did not differ from its base, another client had
        /// made the same change, or all conflicts were settled in favour of the current values
        /// (``settledConflicts``).
        public var result: WriteResult
        /// The fields that were sent, of the record and of rows: only those that differed.
        public var sentFields: [String] = []
        /// The portals of which rows were sent: changed, added or deleted.
        public var sentPortals: [String] = []
        /// The fields that both sides had changed and the ``ConflictPolicy`` decided.
        public var settledConflicts: [FieldConflict] = []
        /// Why the record could not be read again. It is saved all the same.
        public var refreshFailure: FMRest.APIError?

        /// Makes a value for tests and doubles; see the properties for its parts. Without a result, the record was
        /// written in the version that it has.
        public init(record: TypedLayout<R>.Record, result: WriteResult? = nil) {
            self.record = record
            self.result = result ?? .updated(recordId: record.recordId, modId: record.modId)
        }

        /// The record's id.
        public var recordId: Int { record.recordId }

        /// The modification id after the save.
        public var modId: Int { result.modId ?? record.modId }
    }
}

extension DataAPI.Saved: DataAPI.ScriptCarrying {
    /// The results of the scripts that ran with the write; `nil` when none ran.
    public var scriptResponse: DataAPI.ScriptResponse? { result.scriptResponse }
}

extension DataAPI.Saved: Equatable where R: Equatable, R.Portals: Equatable {
    /// Whether all parts are equal except the messages of the ``result``; of a ``refreshFailure`` only whether there is
    /// one.
    public static func == (left: Self, right: Self) -> Bool {
        left.record == right.record && left.result.kind == right.result.kind && left.modId == right.modId
            && left.sentFields == right.sentFields && left.sentPortals == right.sentPortals
            && left.settledConflicts == right.settledConflicts
            && left.result.newPortalRecordInfo == right.result.newPortalRecordInfo
            && left.scriptResponse == right.scriptResponse
            && (left.refreshFailure == nil) == (right.refreshFailure == nil)
    }
}
