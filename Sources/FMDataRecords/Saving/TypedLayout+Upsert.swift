public import FMDataCore
import NIOCore
public import OpenCombine

extension DataAPI {
    /// The result of an upsert.
    public struct Upserted<R: RecordFields>: Sendable {
        /// The record's id.
        public var recordId: Int
        /// What the upsert did, in the form that batches, commits and saves use: ``WriteResult/Kind/created`` when no
        /// record had the key, otherwise what saving the differences did.
        public var result: WriteResult
        /// How the record that had the key was saved; `nil` when one was created.
        public var saved: Saved<R>?

        /// Makes a value for tests and doubles: of an upsert that created a record.
        public init(created recordId: Int, modId: Int? = nil) {
            self.init(created: recordId, .created(recordId: recordId, modId: modId))
        }

        /// Makes a value for tests and doubles: of an upsert that saved a record.
        public init(_ saved: Saved<R>) {
            recordId = saved.recordId
            result = saved.result
            self.saved = saved
        }

        init(created recordId: Int, _ result: WriteResult) {
            self.recordId = recordId
            self.result = result
        }
    }
}

extension DataAPI.TypedLayout {
    /// Changes the record that has the same key to have these fields, or creates one if there is none.
    ///
    ///     people.upsert(Person(email: "ada@example.com", name: "Ada"), by: .email)
    ///
    /// A property that is `nil` leaves its field as it is, or to FileMaker in a new record; fields that a whole record
    /// leaves out (``RecordFields/readOnlyFields``) stay as they are. Of an existing record only the differences are
    /// written, as with ``save(_:onConflict:refreshing:script:isolation:)``, and its portals stay as they are.
    ///
    /// An upsert is a find and then a write, and FileMaker cannot combine the two: if two programs upsert the same key
    /// at the same time, both may create a record. If the field is validated as unique, one of them fails with 504
    /// instead. The key is a text or a number. Only a record that has exactly this key is changed. FileMaker's finds
    /// ignore case and accents, and a file can change a key as it is entered; so where a record has the key in another
    /// spelling only, or in another form, such as a date written in another way, nothing is written, and the upsert
    /// fails with ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// Publishes one ``DataAPI/Upserted``. Fails with ``FMRest/APIError/Code/conflict`` when several records have the
    /// key (``DataAPI/SaveConflict/Kind/severalRecords``), and with ``FMRest/APIError/Code/invalidRequest`` when the
    /// key is empty. The find is repeated when its answer cannot be read. While the file is closed, or in another
    /// temporary state, everything is retried for 30 seconds at most, or as the layout's own policy says.
    ///
    /// A create whose answer is lost is looked up by its key, as in a ``DataAPI/Batch``: it is done when a record has
    /// the key and the fields, and it is sent again when there is none 30 seconds later, when the host can no longer be
    /// working on it. Where that cannot be determined, or the call may not take so long (``DataAPI/Config/timeouts``),
    /// the call fails with the error and ``FMRest/APIError/outcomeIsUnknown``: a second upsert finds the record if it
    /// was created.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - fields: the record as it is wanted.
    ///   - key: the field that identifies the record.
    ///   - onConflict: what to do when another client changes the record between the find and the write.
    ///   - isolation: the actor on which values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Perform a find request", "Create a record" and "Edit a record".
    public func upsert(
        _ fields: R,
        by key: R.CodingKeys,
        onConflict: DataAPI.ConflictPolicy = .fail,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> {
        upserting(isolation) { one in
            one.upsert(by: key, onConflict, becoming: fields) {
                var encoder = one.layout.encoder
                // Omitted, so that a field whose property is `nil` keeps its value.
                encoder.options.nilValues = .omit
                return try encoder.wireValue(of: fields, .fields).members
            }
        }
    }

    /// Writes the fields that are set to the record that has the same key, or creates a record from them if there is
    /// none.
    ///
    ///     people.upsert(Person.Changes(email: "ada@example.com", city: "London"), by: .email)
    ///
    /// The key has to be one of the fields that are set. The other fields stay as they are; in a new record FileMaker
    /// enters them. An existing record that was written to is read again. Everything else is as with a whole record.
    ///
    /// Publishes one ``DataAPI/Upserted``.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// Source: Claris Data API guide, "Perform a find request", "Create a record" and "Edit a record".
    public func upsert<Changes: RecordChanges>(
        _ changes: Changes,
        by key: R.CodingKeys,
        onConflict: DataAPI.ConflictPolicy = .fail,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> where Changes.Record == R {
        upserting(isolation) { one in
            one.upsert(by: key, onConflict, becoming: nil) {
                try one.layout.encoder.wireValue(of: changes, .fields).members
            }
        }
    }

    private func upserting(
        _ isolation: (any Actor)?,
        _ upsert: @escaping (DataAPI.TypedLayout<R>) -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError>
    ) -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> {
        server.knowingFormats(
            OnDemandPublisher { upsert(DataAPI.TypedLayout<R>(layout: layout.forOneCall)) }.eraseToAnyPublisher(),
            for: DataAPI.CreateResponse.self,
            layout.database.calls
        )
        .delivered(on: isolation, by: layout.database, mayHaveWritten: true)
    }

    /// - Parameters:
    ///   - wanted: the whole record as it is wanted; `nil` when only some fields are given.
    ///   - given: the fields that have a value, the key among them.
    private func upsert(
        by key: R.CodingKeys,
        _ policy: DataAPI.ConflictPolicy,
        becoming wanted: R?,
        _ given: () throws -> [WireValue.Member]
    ) -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> {
        do {
            let given = try given()
            guard let value = FieldSet(given)[key.stringValue]?.fieldValue, !value.isEmpty else {
                throw FMRest.APIError.keyMissing(key.stringValue)
            }
            let key = UpsertKey(field: key.stringValue, value: value)
            guard let wanted else { return upsert(FieldSet(given), by: key, policy, becoming: nil) }
            return knowingWholeRecord { whole in
                let fields = FieldSet(whole.carried(given))
                // Only the host knows the values of fields that are not written.
                let isWhole = fields.names.count == given.count && R.readOnlyFields?.isEmpty != false
                return upsert(fields, by: key, policy, becoming: isWhole ? wanted : nil)
            }
        } catch {
            return .failing(FMRest.APIError(wrapping: error, otherwise: .encoding))
        }
    }

    /// - Parameter wanted: the record after the write; `nil` if it has to be read again.
    private func upsert(
        _ fields: FieldSet,
        by key: UpsertKey,
        _ policy: DataAPI.ConflictPolicy,
        becoming wanted: R?
    ) -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> {
        let time = UpsertTime(of: layout)
        let found = find(DataAPI.FindField(named: key.field) == key.value).part(limit: OtherMatches.mostLookedAt)
            .map { $0?.data ?? [] }
            .eraseToAnyPublisher()
        return layout.repeating(found, until: time.retryEnd)
            .tryMap { records in
                try KeyMatches(
                    records.map {
                        ($0, FieldSet(try layout.encoder.wireValue(of: $0.fieldData, .fields).members))
                    },
                    of: key.value,
                    hasMore: records.count >= OtherMatches.mostLookedAt
                ) { _, fields in fields[key.field] }
            }
            .mapError { FMRest.APIError(wrapping: $0, otherwise: .encoding) }
            .orderedMap(concurrency: 1) { matches -> AnyPublisher<[DataAPI.Upserted<R>], FMRest.APIError> in
                guard let (record, _) = matches.exact.first else {
                    return creating(fields, by: key, beside: matches.others, time).map { [$0] }
                        .eraseToAnyPublisher()
                }
                guard matches.exact.count == 1 else { return .failing(.severalHaveTheKey) }
                var draft = record.draft()
                draft.fields = wanted ?? draft.fields
                draft.portals = nil
                return saving(.draft(draft)) { save in
                    save.policy = policy
                    save.given = fields
                    save.refreshes = wanted == nil
                }
                .map { [DataAPI.Upserted($0)] }
                .eraseToAnyPublisher()
            }
            .eraseToAnyPublisher()
    }

    /// Creates the record with a batch of one row, which settles a lost answer by the key.
    ///
    /// - Parameter others: the records that were found and do not have exactly the key.
    private func creating(
        _ fields: FieldSet,
        by key: UpsertKey,
        beside others: OtherMatches,
        _ time: UpsertTime
    ) -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> {
        switch others {
        case .tooMany: return .failing(.severalHaveTheKey)
        case .inOtherForm: return .failing(.keyInOtherForm)
        case .spelledOtherwise: return .failing(.keySpelledOtherwise)
        case .none: break
        }
        let making = BatchPublisher(
            upstream: { _ in Just(fields) },
            settings: time.settings(at: server.time.now()),
            time: server.time,
            random: server.random,
            makeOperation: { fields, _ in .making(fields, by: key.value, in: key.field, of: self) }
        )
        return making.tryMap { row in
            let result = row.result
            if result.kind == .created, let recordId = result.recordId {
                return DataAPI.Upserted(created: recordId, result)
            }
            throw result.error ?? .noAnswer
        }
        .mapError(FMRest.APIError.init(wrapping:))
        .eraseToAnyPublisher()
    }
}

/// The key of an upsert.
private struct UpsertKey {
    let field: String
    let value: FieldValue
}

/// How long an upsert may wait.
private struct UpsertTime {
    let retryEnd: NIODeadline
    let deadline: NIODeadline?

    init(of layout: DataAPI.Layout) {
        let calls = layout.database.calls
        let now = layout.database.server.time.now()
        deadline = calls.clock?.deadline(from: now)
        // Do not wait a second time for what the layout's own policy has given up.
        let end = calls.options.retryPolicy == nil ? now + BatchStateMachine.Settings().retryTimeout : now
        retryEnd = min(end, deadline ?? end)
    }

    func settings(at now: NIODeadline) -> BatchStateMachine.Settings {
        var settings = BatchStateMachine.Settings()
        settings.retryTimeout = max(.zero, retryEnd - now)
        settings.deadline = deadline
        return settings
    }
}

extension DataAPI.Layout {
    /// Repeats a read while it fails because of a temporary state, or its answer cannot be read.
    fileprivate func repeating<Value>(
        _ reading: AnyPublisher<Value, FMRest.APIError>,
        until end: NIODeadline,
        _ pauses: BackOff = BackOff(minimum: .milliseconds(200), maximum: .seconds(5))
    ) -> AnyPublisher<Value, FMRest.APIError> {
        let server = database.server
        return reading.afterFailure { error, _ -> AnyPublisher<Value, FMRest.APIError> in
            var pauses = pauses
            let pause = pauses.next(jitter: server.random())
            guard error.passing != nil || error.isUnreadable, server.time.now() + pause <= end else {
                return .failing(error)
            }
            let next = pauses
            return PausePublisher(pause: pause, time: server.time)
                .orderedMap(concurrency: 1) { _ in
                    repeating(reading, until: end, next).map { [$0] }.eraseToAnyPublisher()
                }
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
}

extension FMRest.APIError {
    fileprivate static var severalHaveTheKey: FMRest.APIError {
        FMRest.APIError(DataAPI.SaveConflict(.severalRecords, recordId: nil))
    }

    fileprivate static func keyMissing(_ name: String) -> FMRest.APIError {
        var error = FMRest.APIError(
            .invalidRequest,
            reason: "The key \"\(name)\" has no value, so that its record cannot be found. Nothing was sent."
        )
        error.fields = [name]
        return error
    }
}
