extension DataAPI {
    /// What became of a save.
    public struct Saved<R: RecordFields>: Sendable {
        /// The record as it is now: the base of the next draft.
        ///
        /// It was read again where rows of portals were written, a script ran, or the change of somebody else was merged; else it
        /// is the draft with its new modId, and values that FileMaker entered by itself, as stamps, are those of before. Where
        /// the record was to be read again and could not be (``refreshFailure``), it has its old modId, so that the next save
        /// finds out what is there.
        public var record: TypedLayout<R>.Record
        /// What happened.
        public var outcome: SaveOutcome
        /// The modification id after the save.
        public var modId: Int
        /// The fields that were sent, the record's own and those of rows: those that differed, and no others.
        public var sentFields: [String] = []
        /// The portals of which rows were sent: changed, added or deleted.
        public var sentPortals: [String] = []
        /// The fields that both had changed, and about which the ``ConflictPolicy`` decided.
        public var settledConflicts: [FieldConflict] = []
        /// The related records that new rows made; see ``EditRecordResponse/newPortalRecordInfo``.
        public var newPortalRecordInfo: [CreatedPortalRecordInfo] = []
        /// The results of the scripts that ran with the write; `nil` when none ran.
        public var scriptResponse: ScriptResponse?
        /// What the host said beside the write; see ``MessageCarrying``. None when nothing was sent, or the answer was
        /// lost.
        public var messages: [Message] = []
        /// Why the record could not be read again. It is saved all the same.
        public var refreshFailure: FMRest.APIError?

        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init(record: TypedLayout<R>.Record, outcome: SaveOutcome = .written, modId: Int? = nil) {
            self.record = record
            self.outcome = outcome
            self.modId = modId ?? record.modId
        }

        /// The record's id.
        public var recordId: Int { record.recordId }

        /// The same in the words that batches, commits and upserts have for it, with the host's messages and the
        /// results of scripts.
        public var result: WriteResult {
            var result = WriteResult(outcome == .written ? .updated : .unchanged, recordId: recordId, modId: modId)
            result.messages = messages
            result.scriptResponse = scriptResponse
            result.newPortalRecordInfo = newPortalRecordInfo
            return result
        }

        /// A draft of the record as it is now.
        public func draft() -> Draft<R> { record.draft() }
    }

    /// What happened in a save. More may come: a `switch` over it needs a `default`.
    public struct SaveOutcome: Hashable, Sendable, CustomStringConvertible {
        /// The name of what happened.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// What differed was written.
        public static let written = SaveOutcome("written")
        /// The draft did not differ from its base: nothing was sent.
        public static let nothingDiffered = SaveOutcome("nothingDiffered")
        /// Somebody else had made the same change: nothing was written.
        public static let alreadyThere = SaveOutcome("alreadyThere")
        /// The conflicts were settled in favour of what is there: nothing was written.
        public static let gaveUp = SaveOutcome("gaveUp")
    }
}

extension DataAPI.Saved: DataAPI.ScriptCarrying {}

extension DataAPI.Saved: Equatable where R: Equatable, R.Portals: Equatable {
    /// The same record, the same way; of a ``refreshFailure`` only whether there is one.
    public static func == (left: Self, right: Self) -> Bool {
        left.record == right.record && left.outcome == right.outcome && left.modId == right.modId
            && left.sentFields == right.sentFields && left.sentPortals == right.sentPortals
            && left.settledConflicts == right.settledConflicts
            && left.newPortalRecordInfo == right.newPortalRecordInfo && left.scriptResponse == right.scriptResponse
            && (left.refreshFailure == nil) == (right.refreshFailure == nil)
    }
}
