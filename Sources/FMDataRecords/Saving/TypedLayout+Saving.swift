public import FMDataCore
public import OpenCombine

/// Saves changes of records instead of whole records. Cancelling aborts the request: a write that was already sent may
/// have been carried out.
///
/// When an answer is lost, the record is read. The write is sent again only when it was certainly not carried out, and
/// when the server would refuse it if the first attempt still arrived. Otherwise the error stays, with
/// ``FMRest/APIError/outcomeIsUnknown``, even if the record holds what was to be written: another client may have
/// written the same, and of two that raise a counter, one would be lost.
extension DataAPI.TypedLayout {
    /// Writes what a draft changes, and nothing else.
    ///
    ///     var draft = record.draft()
    ///     draft.city = "London"
    ///     people.save(draft, onConflict: .merge)
    ///
    /// A field is sent when its value differs from that of the base in FileMaker's sense: numbers are compared as
    /// numbers, texts exactly except for their line ends, and empty is the same as `nil`. So fields that FileMaker
    /// enters or calculates by itself stay as they are, and so do containers. A property that became `nil` clears its
    /// field. Portal rows are compared one by one, by their recordId: changed rows are sent with their own modId, rows
    /// without a recordId are added, rows removed from the draft are deleted. Everything is one commit.
    ///
    /// The server refuses the write when the record, or a changed row, has another modId by now; `onConflict` says what
    /// follows. It merges three times at most. A deleted row is deleted whatever its version is, and the server does
    /// not compare fields of related records that the layout shows (`Table::Field`) either: FileMaker cannot guard
    /// them.
    ///
    /// Publishes one ``DataAPI/Saved``, without a request when nothing differs. While the record is locked (301), or in
    /// another temporary state, the write is repeated, for 30 seconds at most or as the layout's own policy says. The
    /// record is read again after a write with rows or scripts, or after a merge. Fails with
    /// ``FMRest/APIError/Code/conflict`` when the changes cannot be merged or the record was deleted
    /// (``FMRest/APIError/saveConflict``), with FileMaker codes 500 to 513 when a field's validation refuses its value,
    /// and with ``FMRest/APIError/Code/invalidRequest``, before anything is sent, when a field was changed that no
    /// write can change: one of ``RecordFields/readOnlyFields`` or, if the type does not list them, one that the
    /// layout's description shows as such. The description is requested once a minute at most.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - draft: the record as it was read, and as it is wanted.
    ///   - onConflict: what to do when another client has changed the record; the default is to fail.
    ///   - refreshing: whether the record is read again after every write, to get what FileMaker entered by itself.
    ///   - script: scripts to run with the write. When nothing differs, nothing is sent and they do not run.
    ///   - isolation: the actor on which values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Edit a record", `PATCH …/records/{id}`.
    public func save(
        _ draft: DataAPI.Draft<R>,
        onConflict: DataAPI.ConflictPolicy = .fail,
        refreshing: Bool = false,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Saved<R>, FMRest.APIError> {
        saving(.draft(draft)) { save in
            save.policy = onConflict
            save.refreshes = refreshing
            save.script = script
        }
        .delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    /// Reads a record, changes it and writes the differences.
    ///
    /// ```swift
    /// struct NotEnough: Error {}
    ///
    /// let paying = people.update(3) { person in
    ///     guard let balance = person.balance, balance >= 20 else { throw NotEnough() }
    ///     person.balance = 0
    /// }
    /// print(try await paying.firstValue().result.kind)            // updated
    /// ```
    ///
    /// When another client changes the record between the read and the write, it is read again and the closure is
    /// called again with the new values, three times at most: so its decision is always based on what it overwrites.
    /// There is no conflict to settle. The closure should only change its draft. It is called on any thread. An edit
    /// (`edit(_:setting:)`) does not read, and overwrites.
    ///
    /// Publishes one ``DataAPI/Saved``; when the closure changes nothing, nothing is written. Fails with FileMaker code
    /// 101 when there is no such record, with the error thrown by the closure as ``FMRest/APIError/underlying`` of an
    /// ``FMRest/APIError/Code/invalidRequest``, and like ``save(_:onConflict:refreshing:script:isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - recordId: the id of the record.
    ///   - refreshing: whether the record is read again after every write, to get what FileMaker entered by itself.
    ///   - script: scripts to run with the write.
    ///   - isolation: the actor on which values arrive; leave it out.
    ///   - change: changes the draft that it is given.
    ///
    /// Source: Claris Data API guide, "Get a single record" and "Edit a record".
    public func update(
        _ recordId: some DataAPI.RecordIdentifier,
        refreshing: Bool = false,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation,
        _ change: @escaping @Sendable (inout DataAPI.Draft<R>) throws -> Void
    ) -> AnyPublisher<DataAPI.Saved<R>, FMRest.APIError> {
        saving(.update(LenientInt(id: recordId), change)) { save in
            save.refreshes = refreshing
            save.script = script
        }
        .delivered(on: isolation, by: database, mayHaveWritten: true)
    }

    func saving(
        _ source: SavePublisher<R>.Source,
        _ change: (inout SavePublisher<R>) -> Void
    ) -> AnyPublisher<DataAPI.Saved<R>, FMRest.APIError> {
        var save = SavePublisher(layout: self, source: source)
        change(&save)
        // Values are compared in the format in which they are written.
        return server.knowingFormats(AnyPublisher(save), for: DataAPI.EditRecordResponse.self, layout.database.calls)
    }
}

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
