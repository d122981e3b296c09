extension DataAPI {
    /// One write of many: see ``TypedLayout/writing(_:journal:options:isolation:)-(Rows,_,_,_)`` and
    /// ``OpenCombine/Publisher/commit(in:by:journal:options:isolation:)``.
    ///
    ///     [.create(Person(name: "Ada")), .edit(17, ["City": "London"]), .delete(18)] as [DataAPI.RecordWrite<Person>]
    ///
    /// A whole record writes each of its properties; ``RecordChanges`` and fields by name write only what is set.
    public struct RecordWrite<R: RecordFields>: Sendable {
        /// The kind of write.
        enum Kind: Sendable {
            case create(GivenFields)
            case edit(Int, any Encodable & Sendable, modId: Int?)
            case save(Draft<R>)
            case delete(Int)
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

    /// Changes fields of a record; with a modId, only if the record still has it.
    public static func edit(_ edit: DataAPI.RecordEdit) -> Self {
        Self(kind: .edit(edit.recordId, edit.fields, modId: edit.modId))
    }

    /// Changes fields of a record, whatever version it has.
    public static func edit(_ recordId: Int, _ fields: FieldData) -> Self {
        Self(kind: .edit(recordId, fields, modId: nil))
    }

    /// Changes the fields that are set; with a modId, only if the record still has it.
    public static func edit<Changes: RecordChanges>(
        _ recordId: Int,
        _ changes: Changes,
        modId: Int? = nil
    ) -> Self where Changes.Record == R {
        Self(kind: .edit(recordId, changes, modId: modId))
    }

    /// Writes the changes of a draft to its record's fields, if the record still has the version that was read. Portal
    /// rows are not written this way: a draft that changes some fails before anything is sent.
    public static func save(_ draft: DataAPI.Draft<R>) -> Self { Self(kind: .save(draft)) }

    /// Deletes a record.
    public static func delete(_ recordId: Int) -> Self { Self(kind: .delete(recordId)) }

    /// Edits the record with the same key, or creates one if there is none. A commit cannot do this.
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
