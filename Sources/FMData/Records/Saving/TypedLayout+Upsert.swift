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
    /// A property that is `nil` leaves its field alone, in a new record to FileMaker. Of a record that is there only what
    /// differs is written, as ``save(_:onConflict:refreshing:script:isolation:)`` does, and its portals stay.
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
        let upsert = OnDemandPublisher<DataAPI.Upserted<R>, FMRest.APIError> {
            let one = DataAPI.TypedLayout<R>(layout: layout.forOneCall)
            do {
                return try one.upsert(one.given(fields), of: fields, keyName: key.stringValue, onConflict)
            } catch {
                return Fail(error: FMRest.APIError(wrapping: error, otherwise: .encoding)).eraseToAnyPublisher()
            }
        }
        return server.knowingFormats(
            upsert.eraseToAnyPublisher(),
            for: DataAPI.CreateResponse.self,
            layout.database.calls
        )
        .handedOver(to: isolation, by: layout.database, mayHaveWritten: true)
    }

    /// The fields of which something is said.
    private func given(_ fields: R) throws -> FieldSet {
        var encoder = layout.encoder
        encoder.options.nilValues = .omit
        return FieldSet(try encoder.wireValue(of: fields, .fields).members)
    }

    private func upsert(
        _ given: FieldSet,
        of fields: R,
        keyName: String,
        _ policy: DataAPI.ConflictPolicy
    ) throws -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> {
        guard let key = given[keyName]?.fieldValue, !key.isEmpty else {
            throw FMRest.APIError.keyMissing(keyName)
        }
        let layout = layout
        let field = DataAPI.FindField(named: keyName)
        let hasKey =
            switch key {
            case .number(let number): field == number
            case .text(let text): field == text
            }
        return find(hasKey).page(limit: 2)
            .flatMap { response -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> in
                guard let record = response.data.first else {
                    return layout.database.perform { .create(given, in: layout) }
                        .map { .created($0) }
                        .eraseToAnyPublisher()
                }
                guard response.data.count == 1 else {
                    return Fail(error: FMRest.APIError(DataAPI.SaveConflict(.severalRecords, recordId: nil)))
                        .eraseToAnyPublisher()
                }
                var draft = record.draft()
                draft.fields = fields
                draft.portals = nil
                return saving(.draft(draft)) { save in
                    save.policy = policy
                    save.keepsNil = true
                }
                .map { .saved($0) }
                .eraseToAnyPublisher()
            }
            .eraseToAnyPublisher()
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
