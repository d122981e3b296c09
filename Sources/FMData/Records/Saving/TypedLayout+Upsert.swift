public import OpenCombine

extension DataAPI {
    /// What became of a record that was to be there.
    public enum Upserted<R: RecordFields>: Sendable {
        /// There was none with that key, and now there is.
        case created(CreateResponse)
        /// There was one, and what differed was written.
        case saved(Saved<R>)

        /// The record's id.
        public var recordId: Int {
            switch self {
            case .created(let response): response.recordId
            case .saved(let saved): saved.recordId
            }
        }

        /// The same in the words that batches, commits and saves have for it.
        public var result: WriteResult {
            switch self {
            case .created(let response): WriteResult(response)
            case .saved(let saved): saved.result
            }
        }
    }
}

extension DataAPI.TypedLayout {
    /// Makes sure that there is a record with these fields: the one with this key is changed, and if there is none it is made.
    ///
    ///     people.upsert(Person(email: "ada@example.com", name: "Ada"), by: .email)
    ///
    /// A property that is `nil` leaves its field alone, in a new record to FileMaker; what a whole record does not
    /// carry (``RecordFields/readOnlyFields``) stays as it is. Of a record that is there only what differs is written,
    /// as ``save(_:onConflict:refreshing:script:isolation:)`` does, and its portals stay.
    ///
    /// It is a find and then a write, and FileMaker has nothing that makes the two one: of two programs that look for the same
    /// key at the same time both may make a record, unless the field is validated as unique, and then one of them fails
    /// with 504. The key is a text or a number; texts are compared as finds compare them, without regard to case and accents.
    ///
    /// Publishes one ``DataAPI/Upserted``, then finishes. Nothing is sent before demand; cancelling ends what is on the wire. Fails
    /// with ``FMRest/APIError/Code/conflict`` when several records have the key
    /// (``DataAPI/SaveConflict/Kind/severalRecords``), and with ``FMRest/APIError/Code/invalidRequest`` when it is empty. A
    /// create whose answer does not come stays one whose outcome is unknown: a second upsert finds what it made.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - fields: the record as it shall be.
    ///   - key: the field that tells the records apart.
    ///   - onConflict: what to do when somebody else changes the record between the find and the write.
    ///   - isolation: where the values arrive; leave it out.
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
                // What is nil keeps its value.
                encoder.options.nilValues = .omit
                return try encoder.wireValue(of: fields, .fields).members
            }
        }
    }

    /// Makes sure that there is a record with the fields that are set: the one with this key is changed, and if there
    /// is none it is made of them.
    ///
    ///     people.upsert(Person.Changes(email: "ada@example.com", city: "London"), by: .email)
    ///
    /// The key is one of the fields that are set. The others stay as they are, in a new record FileMaker enters them;
    /// where something was written to a record that was there it is read again. All else is as with a whole record.
    ///
    /// Publishes one ``DataAPI/Upserted``, then finishes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
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
        .handedOver(to: isolation, by: layout.database, mayHaveWritten: true)
    }

    /// - Parameters:
    ///   - wanted: the whole record that it is to become; `nil` when some fields are given.
    ///   - given: the fields of which something is said, the key among them.
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
            let found = find(DataAPI.FindField(named: key.stringValue) == value)
            guard let wanted else { return upsert(FieldSet(given), into: found, policy, becoming: nil) }
            return knowingWholeRecord { whole in
                let fields = FieldSet(whole.carried(given))
                // Of what is not written only the host knows the value.
                let isWhole = fields.names.count == given.count && R.readOnlyFields?.isEmpty != false
                return upsert(fields, into: found, policy, becoming: isWhole ? wanted : nil)
            }
        } catch {
            return .failing(FMRest.APIError(wrapping: error, otherwise: .encoding))
        }
    }

    /// - Parameter wanted: what the record is then; `nil` has it read again.
    private func upsert(
        _ fields: FieldSet,
        into found: DataAPI.FoundSet<R>,
        _ policy: DataAPI.ConflictPolicy,
        becoming wanted: R?
    ) -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> {
        let layout = layout
        return found.page(limit: 2)
            .flatMap { response -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> in
                guard let record = response.data.first else {
                    return layout.database.perform { .create(fields, in: layout) }
                        .map { .created($0) }
                        .eraseToAnyPublisher()
                }
                guard response.data.count == 1 else {
                    return Fail(error: FMRest.APIError(DataAPI.SaveConflict(.severalRecords, recordId: nil)))
                        .eraseToAnyPublisher()
                }
                var draft = record.draft()
                draft.fields = wanted ?? draft.fields
                draft.portals = nil
                return saving(.draft(draft)) { save in
                    save.policy = policy
                    save.given = fields
                    save.refreshes = wanted == nil
                }
                .map { .saved($0) }
                .eraseToAnyPublisher()
            }
            .eraseToAnyPublisher()
    }
}

extension DataAPI.FindField {
    fileprivate static func == (field: DataAPI.FindField, value: FieldValue) -> DataAPI.Find {
        switch value {
        case .number(let number): field == number
        case .text(let text): field == text
        }
    }
}

extension FMRest.APIError {
    fileprivate static func keyMissing(_ name: String) -> FMRest.APIError {
        var error = FMRest.APIError(
            .invalidRequest,
            reason: "The key \"\(name)\" has no value, so that its record cannot be found. Nothing was sent."
        )
        error.fields = [name]
        return error
    }
}
