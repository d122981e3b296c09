public import OpenCombine

extension DataAPI {
    /// Some fields of a record by their coding keys, with plain values for them: what an edit writes without a type of its own.
    ///
    ///     people.edit(17, [.city: "Oslo", .joined: FMDate(year: 2026, month: 11, day: 25), .balance: nil])
    ///
    /// A name that is no field of the record's type does not compile. A value is anything that a property of a record can be, and is
    /// written as that is: a date in the form that the host reads. `nil` empties the field. Of a field that is given twice the last
    /// value is written.
    public struct FieldAssignments<R: RecordFields>: RecordChanges, ExpressibleByDictionaryLiteral {
        /// Whose fields these are.
        public typealias Record = R
        /// Rows to write with them.
        public typealias Portals = R.Portals
        /// A value that can be written; `nil` empties its field.
        public typealias Value = (any Encodable & Sendable)?

        /// With the names of their keys, which need not be `Sendable`.
        private var values: [(name: String, value: Value)] = []

        /// No fields.
        public init() {}

        /// `[.city: "Oslo"]`.
        public init(dictionaryLiteral elements: (R.CodingKeys, Value)...) {
            for (key, value) in elements { self[key] = .some(value) }
        }

        /// The value that a field is given; `nil` when it is given none, and is left as it is.
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

// Only a call that names the type can be given a literal. Each of these hands it to the call for any `RecordChanges`, which Swift
// prefers to one that is disfavored.

extension DataAPI.TypedLayout {
    /// Changes these fields of a record, and no others.
    ///
    ///     people.edit(17, [.city: "Oslo"])
    ///     people.edit(record.id, [.city: "Oslo", .joined: today], modId: record.modId)
    ///
    /// The same as with fields by name.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - recordId: the record.
    ///   - fields: the fields to change, with their new values.
    ///   - portals: rows of portals to make or change with it, in the same commit.
    ///   - deleteRelated: rows of portals to delete with it, in the same commit.
    ///   - modId: the version that the edit is based on. Without it the edit overwrites.
    ///   - script: scripts to run with the request.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Edit a record".
    @_disfavoredOverload
    public func edit(
        _ recordId: some DataAPI.RecordIdentifier,
        _ fields: DataAPI.FieldAssignments<R>,
        portals: R.Portals? = nil,
        deleteRelated: [DataAPI.RelatedRecord] = [],
        modId: Int? = nil,
        script: DataAPI.ScriptQuery? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        edit(
            recordId,
            fields,
            portals: portals,
            deleteRelated: deleteRelated,
            modId: modId,
            script: script,
            isolation: isolation
        )
    }

    /// Makes a record with these fields. FileMaker enters the others as it does for any new record.
    ///
    ///     people.create([.name: "Ada", .city: "London"])
    ///
    /// Publishes the new record's id and modId, then finishes. Fails with FileMaker codes 500 to 513 when a field's validation
    /// refuses its value; nothing is made then.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
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

    /// Makes sure that there is a record with these fields: the one with this key is changed, and if there is none it is made of them.
    ///
    ///     people.upsert([.email: "ada@example.com", .city: "London"], by: .email)
    ///
    /// The same as with ``RecordChanges``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
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

    /// Sets global fields of the layout's own table, or by a key with its table's name, for the work of one session; see
    /// ``DataAPI/Database/setGlobalFields(globalFields:isolation:)``.
    ///
    ///     invoices.globals([.year: "2026"], ofTable: "Invoices")
    ///
    /// Publishes one empty value, then finishes.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - globals: the fields, with their values.
    ///   - table: the table occurrence of the fields whose names have none. `nil`, the default, is that of the layout where the host
    ///     has told it (``Layout/table``); otherwise a name without its table fails with ``FMRest/APIError/Code/invalidRequest``.
    ///   - isolation: where the values arrive; leave it out.
    @_disfavoredOverload
    public func globals(
        _ globals: KeyValuePairs<R.CodingKeys, String>,
        ofTable table: String? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        var values: [String: String] = [:]
        for (key, value) in globals {
            let name = key.stringValue
            let owner = name.contains("::") ? nil : table ?? layout.table
            values[owner.map { "\($0)::\(name)" } ?? name] = value
        }
        return layout.database.setGlobalFields(globalFields: values, isolation: isolation)
    }
}

extension DataAPI.FoundSet {
    /// Changes the same fields of all the records.
    ///
    ///     people.find { $0(.city) == "Peking" }.editAll([.city: "Beijing"], .exactly(12))
    ///
    /// The same as with fields by name.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    @_disfavoredOverload
    public func editAll(
        _ fields: DataAPI.FieldAssignments<R>,
        _ expected: DataAPI.ExpectedCount,
        dryRun: Bool = false,
        options: DataAPI.BatchOptions = DataAPI.BatchOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.Batch {
        editAll(fields, expected, dryRun: dryRun, options: options, isolation: isolation)
    }
}

extension DataAPI.RecordWrite {
    /// Makes a record with these fields. FileMaker enters the others as it does for any new record.
    @_disfavoredOverload
    public static func create(_ fields: DataAPI.FieldAssignments<R>) -> Self { create(fields) }

    /// Changes these fields; with a modId only if the record still has that.
    @_disfavoredOverload
    public static func edit(_ recordId: Int, _ fields: DataAPI.FieldAssignments<R>, modId: Int? = nil) -> Self {
        edit(recordId, fields, modId: modId)
    }

    /// Writes these fields into the record with the same key, or makes one when there is none. The key is one of the fields. A commit
    /// cannot do it.
    @_disfavoredOverload
    public static func upsert(_ fields: DataAPI.FieldAssignments<R>, by key: R.CodingKeys) -> Self {
        upsert(fields, by: key)
    }
}
