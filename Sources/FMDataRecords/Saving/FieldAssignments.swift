public import FMDataCore
public import OpenCombine

extension DataAPI {
    /// Some fields of a record by their coding keys, with plain values: an edit without a type of its own.
    ///
    ///     people.edit(17, setting: [.city: "Oslo", .joined: FMDate(year: 2026, month: 11, day: 25), .balance: nil])
    ///
    /// A name that is not a field of the record's type does not compile. A value may be of any type that a property of
    /// a record can have, and is written in the same way: a date in the format that the host reads. `nil` empties the
    /// field. If a field is given twice, the last value is written.
    public struct FieldAssignments<R: RecordFields>: RecordChanges, ExpressibleByDictionaryLiteral {
        /// The record type of the fields.
        public typealias Record = R
        /// Portal rows to write with them.
        public typealias Portals = R.Portals
        /// A value that can be written; `nil` empties its field.
        public typealias Value = (any Encodable & Sendable)?

        /// Names of the keys instead of the keys, which need not be `Sendable`.
        private var values: [(name: String, value: Value)] = []

        /// Makes an empty value without fields.
        public init() {}

        /// Makes a value from a literal such as `[.city: "Oslo"]`.
        public init(dictionaryLiteral elements: (R.CodingKeys, Value)...) {
            for (key, value) in elements { self[key] = .some(value) }
        }

        /// The new value of a field; `nil` when the field stays as it is.
        public subscript(key: R.CodingKeys) -> Value? {
            get { values.first { $0.name == key.stringValue }?.value }
            set {
                let name = key.stringValue
                let place = values.firstIndex { $0.name == name }
                switch (place, newValue) {
                case (let place?, let value?): values[place].value = value
                case (let place?, nil): values.remove(at: place)
                case (nil, let value?): values.append((name, value))
                case (nil, nil): break
                }
            }
        }

        /// Writes the fields as the members of an object.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: FieldData.CodingKeys.self)
            for (name, value) in values {
                let key = FieldData.CodingKeys(stringValue: name)
                if let value { try container.encode(value, forKey: key) } else { try container.encode("", forKey: key) }
            }
        }
    }
}

// A literal needs a call that names its type. Each of these calls forwards to the one for any `RecordChanges`, which
// Swift prefers to a disfavored one.

extension DataAPI.TypedLayout {
    /// Changes these fields of a record, and no others.
    ///
    ///     people.edit(17, setting: [.city: "Oslo"])
    ///     people.edit(record.id, setting: [.city: "Oslo", .joined: today], modId: record.modId)
    ///
    /// The same as with fields by name.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - recordId: the id of the record.
    ///   - fields: the fields to change, with their new values.
    ///   - portals: portal rows to create or change with the record, in the same commit.
    ///   - deleteRelated: portal rows to delete with it, in the same commit.
    ///   - modId: the version that the edit is based on. Without it the edit overwrites.
    ///   - script: scripts to run with the request.
    ///   - isolation: the actor on which values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Edit a record".
    @_disfavoredOverload
    public func edit(
        _ recordId: some DataAPI.RecordIdentifier,
        setting fields: DataAPI.FieldAssignments<R>,
        portals: R.Portals? = nil,
        deleteRelated: [DataAPI.RelatedRecord] = [],
        modId: Int? = nil,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        edit(
            recordId,
            setting: fields,
            portals: portals,
            deleteRelated: deleteRelated,
            modId: modId,
            script: script,
            isolation: isolation
        )
    }

    /// Creates a record with these fields. FileMaker enters the others as for any new record.
    ///
    ///     people.create([.name: "Ada", .city: "London"])
    ///
    /// Publishes the new record's id and modId. Fails with FileMaker codes 500 to 513 when a field's validation refuses
    /// its value; then no record is created.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// Source: Claris Data API guide, "Create a record".
    @_disfavoredOverload
    public func create(
        _ fields: DataAPI.FieldAssignments<R>,
        portals: R.Portals? = nil,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.CreateResponse, FMRest.APIError> {
        create(fields, portals: portals, script: script, isolation: isolation)
    }

    /// Edits the record that has the same key with these fields, or creates one from them if there is none.
    ///
    ///     people.upsert([.email: "ada@example.com", .city: "London"], by: .email)
    ///
    /// The same as with ``RecordChanges``.
    ///
    /// - Note: One value. See <doc:Calls>.
    ///
    /// Source: Claris Data API guide, "Perform a find request", "Create a record" and "Edit a record".
    @_disfavoredOverload
    public func upsert(
        _ fields: DataAPI.FieldAssignments<R>,
        by key: R.CodingKeys,
        onConflict: DataAPI.ConflictPolicy = .fail,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Upserted<R>, FMRest.APIError> {
        upsert(fields, by: key, onConflict: onConflict, isolation: isolation)
    }
}

extension DataAPI.FoundSet {
    /// Changes the same fields of all the records.
    ///
    ///     people.find { $0(.city) == "Peking" }.editAll(setting: [.city: "Beijing"], .exactly(12))
    ///
    /// The same as with fields by name.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    @_disfavoredOverload
    public func editAll(
        setting fields: DataAPI.FieldAssignments<R>,
        _ expected: DataAPI.ExpectedCount,
        dryRun: Bool = false,
        journal: DataAPI.WriteJournal? = nil,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch {
        editAll(setting: fields, expected, dryRun: dryRun, journal: journal, options: options, isolation: isolation)
    }
}

extension DataAPI.RecordWrite {
    /// Creates a record with these fields. FileMaker enters the others as for any new record.
    @_disfavoredOverload
    public static func create(_ fields: DataAPI.FieldAssignments<R>) -> Self { create(fields) }

    /// Changes these fields; with a modId, only if the record still has it.
    @_disfavoredOverload
    public static func edit(
        _ recordId: some DataAPI.RecordIdentifier,
        setting fields: DataAPI.FieldAssignments<R>,
        modId: Int? = nil
    ) -> Self {
        edit(recordId, setting: fields, modId: modId)
    }

    /// Writes these fields to the record with the same key, or creates one if there is none. The key has to be one of
    /// the fields. A commit cannot do this.
    @_disfavoredOverload
    public static func upsert(_ fields: DataAPI.FieldAssignments<R>, by key: R.CodingKeys) -> Self {
        upsert(fields, by: key)
    }
}
