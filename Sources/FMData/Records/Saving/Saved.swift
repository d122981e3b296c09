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
        /// What the save did.
        public var outcome: SaveOutcome
        /// The modification id after the save.
        public var modId: Int
        /// The fields that were sent, of the record and of rows: only those that differed.
        public var sentFields: [String] = []
        /// The portals of which rows were sent: changed, added or deleted.
        public var sentPortals: [String] = []
        /// The fields that both sides had changed and the ``ConflictPolicy`` decided.
        public var settledConflicts: [FieldConflict] = []
        /// The related records that new rows created; see ``EditRecordResponse/newPortalRecordInfo``.
        public var newPortalRecordInfo: [CreatedPortalRecordInfo] = []
        /// The results of the scripts that ran with the write; `nil` when none ran.
        public var scriptResponse: ScriptResponse?
        /// The messages of the host's answer to the write; see ``DataAPI/Message``. Empty when nothing was sent, or the
        /// answer was lost.
        public var messages: [Message] = []
        /// Why the record could not be read again. It is saved all the same.
        public var refreshFailure: FMRest.APIError?

        /// Makes a value for tests and doubles; see the properties for its parts.
        public init(record: TypedLayout<R>.Record, outcome: SaveOutcome = .written, modId: Int? = nil) {
            self.record = record
            self.outcome = outcome
            self.modId = modId ?? record.modId
        }

        /// The record's id.
        public var recordId: Int { record.recordId }

        /// The result in the form that batches, commits and upserts use, with the host's messages and the results of
        /// scripts.
        public var result: WriteResult {
            var result = WriteResult(outcome == .written ? .updated : .unchanged, recordId: recordId, modId: modId)
            result.messages = messages
            result.scriptResponse = scriptResponse
            result.newPortalRecordInfo = newPortalRecordInfo
            return result
        }
    }

    /// What a save did. More may be added: a `switch` over it needs a `default`.
    public struct SaveOutcome: Hashable, Sendable, CustomStringConvertible {
        /// The name of the outcome.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The differences were written.
        public static let written = SaveOutcome("written")
        /// The draft did not differ from its base: nothing was sent.
        public static let nothingDiffered = SaveOutcome("nothingDiffered")
        /// Another client had made the same change: nothing was written.
        public static let alreadyThere = SaveOutcome("alreadyThere")
        /// The conflicts were settled in favour of the current values: nothing was written.
        public static let gaveUp = SaveOutcome("gaveUp")
    }
}

extension DataAPI.Saved: DataAPI.ScriptCarrying {}

extension DataAPI.Saved: Equatable where R: Equatable, R.Portals: Equatable {
    /// Whether all parts are equal except ``messages``; of a ``refreshFailure`` only whether there is one.
    public static func == (left: Self, right: Self) -> Bool {
        left.record == right.record && left.outcome == right.outcome && left.modId == right.modId
            && left.sentFields == right.sentFields && left.sentPortals == right.sentPortals
            && left.settledConflicts == right.settledConflicts
            && left.newPortalRecordInfo == right.newPortalRecordInfo && left.scriptResponse == right.scriptResponse
            && (left.refreshFailure == nil) == (right.refreshFailure == nil)
    }
}
