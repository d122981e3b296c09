extension DataAPI {
    /// What to write: the fields of a record to create or to edit, and rows of its portals.
    ///
    ///     EditRecord(createRecord: Person(name: "Ada"))
    ///     EditRecord(editRecord: changed, modId: record.modId)
    ///
    /// `R` is any `Encodable` type; its keys are field names. A property that is `nil` empties its field, or leaves it
    /// alone with ``EncodingOptions/nilValues`` = `.omit`. `P` has one array per portal, named like the portal; a row
    /// with a `recordId` is edited, one without is created.
    ///
    /// Source: Claris Data API guide, "Create a record" and "Edit a record".
    public struct EditRecord<R: Encodable, P: Encodable> {
        /// The fields to write. The record's own id and modId do not belong here: FileMaker would take them for fields.
        public var record: R
        /// Rows to create or edit.
        public var portalData: P?
        /// The version the edit is based on: if the record has changed since, the server refuses with 306 and changes
        /// nothing. `nil` overwrites.
        public var modId: Int? {
            get { givenModId.number }
            set { givenModId = GivenNumber(newValue) }
        }
        /// Related records to delete with an edit.
        public var deleteRelated: [RelatedRecord] = []
        /// The scripts to run with the write.
        public var script: ScriptQuery?
        /// How to treat validation and "prohibit modification". FileMaker Server 2024 and later.
        public var options: WriteOptions?

        var givenModId = GivenNumber.none

        /// An edit of an existing record.
        public init(editRecord: R, portalData: P?, modId: Int? = nil, script: ScriptQuery? = nil) {
            self.record = editRecord
            self.portalData = portalData
            self.script = script
            givenModId = GivenNumber(modId)
        }

        /// An edit of an existing record, with its modId as text. One that is no number makes the call fail with
        /// ``FMRest/APIError/Code/invalidRequest``.
        @_disfavoredOverload
        public init(editRecord: R, portalData: P?, modId: String?, script: ScriptQuery? = nil) {
            self.init(editRecord: editRecord, portalData: portalData, script: script)
            givenModId = GivenNumber(text: modId)
        }

        /// A new record.
        public init(createRecord: R, portalData: P?, script: ScriptQuery? = nil) {
            self.record = createRecord
            self.portalData = portalData
            self.script = script
        }

        /// `layoutResponse` is not sent: create and edit answer with ids, not with records.
        @available(*, deprecated, message: "Create and edit answer with ids only: leave layoutResponse out.")
        public init(
            editRecord: R,
            portalData: P? = nil,
            modId: Int? = nil,
            script: ScriptQuery? = nil,
            layoutResponse: String?
        ) {
            self.init(editRecord: editRecord, portalData: portalData, modId: modId, script: script)
        }

        /// `layoutResponse` is not sent: create and edit answer with ids, not with records.
        @available(*, deprecated, message: "Create and edit answer with ids only: leave layoutResponse out.")
        @_disfavoredOverload
        public init(
            editRecord: R,
            portalData: P? = nil,
            modId: String?,
            script: ScriptQuery? = nil,
            layoutResponse: String?
        ) {
            self.init(editRecord: editRecord, portalData: portalData, modId: modId, script: script)
        }

        /// `layoutResponse` is not sent: create and edit answer with ids, not with records.
        @available(*, deprecated, message: "Create and edit answer with ids only: leave layoutResponse out.")
        public init(createRecord: R, portalData: P? = nil, script: ScriptQuery? = nil, layoutResponse: String?) {
            self.init(createRecord: createRecord, portalData: portalData, script: script)
        }
    }

    /// A row of a portal, by the portal's name and the related record's id.
    public struct RelatedRecord: Hashable, Sendable {
        /// The portal's object name, if it has one, else its table occurrence.
        public var portal: String
        /// The related record's id.
        public var recordId: Int

        /// A row by its portal and record id.
        public init(portal: String, recordId: Int) {
            self.portal = portal
            self.recordId = recordId
        }

        /// A row by the coding key of its portal in the record's type of portals, and its record id as it was declared; `nil` when
        /// that is a text which is no number.
        public init?(portal: some CodingKey, recordId: some RecordIdentifier) {
            self.init(portal: portal.stringValue, recordId: recordId)
        }

        /// A row by its portal and its record id as it was declared, such as a text; `nil` when that is no number.
        @_disfavoredOverload
        public init?(portal: String, recordId: some RecordIdentifier) {
            guard let recordId = GivenNumber(id: recordId).number else { return nil }
            self.init(portal: portal, recordId: recordId)
        }
    }

    /// Whether a write counts as a user's entry or as a script's. FileMaker Server 2024 and later.
    ///
    /// Source: Claris Data API guide, "Create a record", parameter `options`.
    public struct WriteOptions: Hashable, Sendable, Encodable {
        /// Whose entry a write counts as.
        public enum Mode: String, Hashable, Sendable, Encodable {
            case user, script
        }

        /// `.script` ignores the fields' validation requirements. The server's default is `.user`.
        public var entryMode: Mode?
        /// `.script` ignores "prohibit modification of value during data entry". The server's default is `.user`.
        public var prohibitMode: Mode?

        /// Options; `nil` leaves the choice to the server.
        public init(entryMode: Mode? = nil, prohibitMode: Mode? = nil) {
            self.entryMode = entryMode
            self.prohibitMode = prohibitMode
        }

        enum CodingKeys: String, CodingKey {
            case entryMode = "entrymode"
            case prohibitMode = "prohibitmode"
        }
    }
}

extension DataAPI.EditRecord where P == DataAPI.EmptyPortal {
    /// An edit of an existing record without portal rows.
    public init(editRecord: R, modId: Int? = nil, script: DataAPI.ScriptQuery? = nil) {
        self.init(editRecord: editRecord, portalData: nil, modId: modId, script: script)
    }

    /// An edit of an existing record without portal rows, with its modId as text. One that is no number makes the call fail
    /// with ``FMRest/APIError/Code/invalidRequest``.
    @_disfavoredOverload
    public init(editRecord: R, modId: String?, script: DataAPI.ScriptQuery? = nil) {
        self.init(editRecord: editRecord, portalData: nil, modId: modId, script: script)
    }

    /// A new record without portal rows.
    public init(createRecord: R, script: DataAPI.ScriptQuery? = nil) {
        self.init(createRecord: createRecord, portalData: nil, script: script)
    }
}

extension DataAPI.EditRecord where R == FieldData {
    /// An edit of an existing record, its fields written out: `["Name": "Ada", "Age": 36]`.
    public init(editRecord: FieldData, portalData: P, modId: Int? = nil, script: DataAPI.ScriptQuery? = nil) {
        self.init(editRecord: editRecord, portalData: .some(portalData), modId: modId, script: script)
    }

    /// A new record, its fields written out: `["Name": "Ada", "Age": 36]`.
    public init(createRecord: FieldData, portalData: P, script: DataAPI.ScriptQuery? = nil) {
        self.init(createRecord: createRecord, portalData: .some(portalData), script: script)
    }
}

extension DataAPI.EditRecord where R == FieldData, P == DataAPI.EmptyPortal {
    /// An edit of an existing record, its fields written out: `["Name": "Ada", "Age": 36]`.
    public init(editRecord: FieldData, modId: Int? = nil, script: DataAPI.ScriptQuery? = nil) {
        self.init(editRecord: editRecord, portalData: nil, modId: modId, script: script)
    }

    /// A new record, its fields written out: `["Name": "Ada", "Age": 36]`.
    public init(createRecord: FieldData, script: DataAPI.ScriptQuery? = nil) {
        self.init(createRecord: createRecord, portalData: nil, script: script)
    }
}

extension DataAPI.EditRecord: Sendable where R: Sendable, P: Sendable {}

extension DataAPI.EditRecord {
    /// What is sent of it, as members of a body.
    ///
    /// - Parameters:
    ///   - encoder: writes the fields and the rows of portals.
    ///   - dateFormats: how dates are written; `nil` for the server's default.
    func wireOptions(_ encoder: FMEncoder, dateFormats: String?) throws -> [WireOption] {
        let values = WrittenValues(record: record, deleteRelated: deleteRelated, portalData: portalData)
        return [WireOption](joining: [
            try encoder.wireValue(of: values).members.map { part in
                WireOption(
                    name: part.name,
                    value: part.value,
                    disclosure: .hidden,
                    names: part.name == "portalData" ? .portalRows : .fields
                )
            },
            .shown("modId", try givenModId.checked("A modId").map(String.init)),
            try options.map { options in
                [WireOption(name: "options", value: try encoder.wireValue(of: options), disclosure: .shown)]
            } ?? [],
            .shown("dateformats", dateFormats),
            .scripts(script),
        ])
    }
}

/// What the caller's own types hold: `{"fieldData":{…},"portalData":{…}}`.
private struct WrittenValues<R: Encodable, P: Encodable>: Encodable {
    let record: R
    let deleteRelated: [DataAPI.RelatedRecord]
    let portalData: P?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(WrittenFields(record: record, deleteRelated: deleteRelated), forKey: "fieldData")
        try container.encodeIfPresent(portalData.map { AsPortals(value: $0) }, forKey: "portalData")
    }
}

/// The user's own type, written by the rules for fields or by the user's own encoder, and beside its fields the related records to
/// delete, which the Data API wants inside.
private struct WrittenFields<R: Encodable>: Encodable {
    let record: R
    let deleteRelated: [DataAPI.RelatedRecord]

    func encode(to encoder: any Encoder) throws {
        // The keyed container comes first, so that a record without fields is `{}` and not nothing.
        var container = encoder.container(keyedBy: WireKey.self)
        try AsFields(value: record).encode(to: encoder)
        if !deleteRelated.isEmpty {
            try container.encode(deleteRelated.map { "\($0.portal).\($0.recordId)" }, forKey: "deleteRelated")
        }
    }
}
