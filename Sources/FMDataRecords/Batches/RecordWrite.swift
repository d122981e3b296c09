public import FMDataCore

extension DataAPI {
    /// One write of many: a row of ``TypedLayout/writing(_:journal:options:isolation:)-(Rows,_,_,_)``.
    ///
    ///     people.writing([.create(Person(name: "Ada")), .edit(17, setting: ["City": "London"]), .delete(18)])
    ///     people.writing(newcomers.map { .create($0) })
    ///
    /// A whole record writes each of its properties; ``RecordChanges`` and fields by name write only what is set. A row
    /// with a record id that is no number fails alone.
    public struct RecordWrite<R: RecordFields>: Sendable {
        /// The kind of write.
        enum Kind: Sendable {
            case create(GivenFields)
            case edit(LenientInt, any Encodable & Sendable, modId: Int?)
            case save(Draft<R>)
            case delete(LenientInt)
            case upsert(GivenFields, byField: String)
        }

        /// The fields of a record that may not exist yet.
        struct GivenFields: Sendable {
            let fields: any Encodable & Sendable
            /// Whether they are a whole record.
            var isWhole = false
        }

        let kind: Kind
    }
}

extension DataAPI.RecordWrite.Kind {
    /// The fields that a draft changes.
    static func changes(of draft: DataAPI.Draft<R>, _ encoder: FMEncoder) throws -> FieldData {
        let change = try draft.change(encoder).change
        guard change.rows.isEmpty else {
            var error = FMRest.APIError(
                .invalidRequest,
                reason:
                    "The draft changes rows of portals, which are not written together with other records. Nothing was sent.",
                hint: "save(_:) of the layout writes a record with its rows."
            )
            error.portals = change.portalNames
            throw error
        }
        guard let fields = FieldData(wire: .object(change.fields.members)) else {
            throw FMRest.APIError(.encoding, reason: "A field of the draft has a value that is no text and no number.")
        }
        return fields
    }
}

extension DataAPI.RecordWrite {
    /// Creates a record.
    public static func create(_ record: R) -> Self { Self(kind: .create(GivenFields(fields: record, isWhole: true))) }

    /// Creates a record with the fields that are set. FileMaker enters the others as for any new record.
    public static func create<Changes: RecordChanges>(_ changes: Changes) -> Self where Changes.Record == R {
        Self(kind: .create(GivenFields(fields: changes)))
    }

    /// Changes fields of a record.
    ///
    /// - Parameters:
    ///   - recordId: the id of the record.
    ///   - fields: the fields to change, with their new values. Other fields stay as they are.
    ///   - modId: the version that the edit is based on: the server refuses the edit with 306 when the record has
    ///     another one by now. It also prevents an edit from being carried out twice. `nil` overwrites.
    public static func edit(
        _ recordId: some DataAPI.RecordIdentifier,
        setting fields: FieldData,
        modId: Int? = nil
    ) -> Self {
        Self(kind: .edit(LenientInt(id: recordId), fields, modId: modId))
    }

    /// Changes the fields that are set; with a modId, only if the record still has it.
    public static func edit<Changes: RecordChanges>(
        _ recordId: some DataAPI.RecordIdentifier,
        setting changes: Changes,
        modId: Int? = nil
    ) -> Self where Changes.Record == R {
        Self(kind: .edit(LenientInt(id: recordId), changes, modId: modId))
    }

    /// Writes the changes of a draft to its record's fields, if the record still has the version that was read. Portal
    /// rows are not written this way: a draft that changes some fails before anything is sent.
    public static func save(_ draft: DataAPI.Draft<R>) -> Self { Self(kind: .save(draft)) }

    /// Deletes a record.
    public static func delete(_ recordId: some DataAPI.RecordIdentifier) -> Self {
        Self(kind: .delete(LenientInt(id: recordId)))
    }

    /// Edits the record with the same key, or creates one if there is none. A commit cannot do this.
    ///
    /// The row fails if its key is empty, or if several records have it. It is a find and a write, **not one step**:
    /// another client may create a record with the same key in between. With a unique field the server refuses the
    /// second record (504), and the row then edits the first; without one there are two records. A record that changes
    /// between the find and the edit is looked up again.
    public static func upsert(_ record: R, by key: R.CodingKeys) -> Self {
        Self(kind: .upsert(GivenFields(fields: record, isWhole: true), byField: key.stringValue))
    }

    /// Writes the fields that are set to the record with the same key, or creates one if there is none. The key has to
    /// be one of the fields. A commit cannot do this.
    public static func upsert<Changes: RecordChanges>(_ changes: Changes, by key: R.CodingKeys) -> Self
    where Changes.Record == R {
        Self(kind: .upsert(GivenFields(fields: changes), byField: key.stringValue))
    }
}
