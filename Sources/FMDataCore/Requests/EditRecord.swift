extension DataAPI {
    /// A write: the fields of a record to create or to edit, and rows of its portals.
    ///
    ///     EditRecord(createRecord: Person(name: "Ada"))
    ///     EditRecord(editRecord: changed, modId: record.modId)
    ///
    /// `R` is any `Encodable` type; its keys are field names. A property that is `nil` empties its field, or leaves it
    /// unchanged with ``EncodingOptions/nilValues`` = `.omit`. `P` has one array per portal, named like the portal; a
    /// row with a `recordId` is edited, one without is created.
    ///
    /// Source: Claris Data API guide, "Create a record" and "Edit a record".
    public struct EditRecord<R: Encodable, P: Encodable> {
        /// The fields to write, without the record's own id and modId: FileMaker would treat those as fields.
        public var record: R
        /// Portal rows to create or edit.
        public var portalData: P?
        /// The version that the edit is based on: if the record has changed since, the server refuses the edit with 306
        /// and changes nothing. `nil` overwrites.
        public var modId: Int? {
            get { givenModId.number }
            set { givenModId = LenientInt(newValue) }
        }
        /// Related records to delete with an edit.
        public var deleteRelated: [RelatedRecord] = []
        /// The scripts to run with the write.
        public var script: ScriptQuery?
        /// Whether the write ignores validation and "prohibit modification". FileMaker Server 2024 and later.
        public var options: WriteOptions?

        var givenModId = LenientInt.none

        /// Creates an edit of an existing record.
        public init(
            editRecord: R,
            portalData: P? = EmptyPortal?.none,
            modId: Int? = nil,
            script: ScriptQuery? = nil
        ) {
            self.record = editRecord
            self.portalData = portalData
            self.script = script
            givenModId = LenientInt(modId)
        }

        /// Creates a write of a new record.
        public init(createRecord: R, portalData: P? = EmptyPortal?.none, script: ScriptQuery? = nil) {
            self.record = createRecord
            self.portalData = portalData
            self.script = script
        }
    }

    /// A row of a portal, named by the portal and the related record's id.
    public struct RelatedRecord: Hashable, Sendable {
        /// The portal's object name, if it has one, else its table occurrence.
        public var portal: String
        /// The related record's id.
        public var recordId: Int

        /// Names a row by its portal and record id.
        public init(portal: String, recordId: Int) {
            self.portal = portal
            self.recordId = recordId
        }

        /// Names a row by the coding key of its portal, in the record's type of portals, and its record id in the
        /// declared type; `nil` when that is a text that is no number.
        public init?(portal: some CodingKey, recordId: some RecordIdentifier) {
            guard let recordId = LenientInt(id: recordId).number else { return nil }
            self.init(portal: portal.stringValue, recordId: recordId)
        }
    }

    /// Whether a write counts as a user's entry or as a script's. FileMaker Server 2024 and later.
    ///
    /// Source: Claris Data API guide, "Create a record", parameter `options`.
    public struct WriteOptions: Hashable, Sendable, Encodable {
        /// Whose entry a write counts as: a user's or a script's.
        public enum Mode: String, Hashable, Sendable, Encodable {
            case user, script
        }

        /// `.script` ignores the fields' validation requirements. The server's default is `.user`.
        public var entryMode: Mode?
        /// `.script` ignores "prohibit modification of value during data entry". The server's default is `.user`.
        public var prohibitMode: Mode?

        /// Creates options; `nil` leaves the choice to the server.
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

extension DataAPI.EditRecord where R == FieldData {
    /// Creates an edit of an existing record, with its fields given by name: `["Name": "Ada", "Age": 36]`.
    public init(
        editRecord: FieldData,
        portalData: P? = DataAPI.EmptyPortal?.none,
        modId: Int? = nil,
        script: DataAPI.ScriptQuery? = nil
    ) {
        self.record = editRecord
        self.portalData = portalData
        self.script = script
        givenModId = LenientInt(modId)
    }

    /// Creates a write of a new record, with its fields given by name: `["Name": "Ada", "Age": 36]`.
    public init(
        createRecord: FieldData,
        portalData: P? = DataAPI.EmptyPortal?.none,
        script: DataAPI.ScriptQuery? = nil
    ) {
        self.record = createRecord
        self.portalData = portalData
        self.script = script
    }
}

extension DataAPI.EditRecord: Sendable where R: Sendable, P: Sendable {}

extension DataAPI.EditRecord {
    /// The members of the request's body.
    ///
    /// - Parameters:
    ///   - encoder: encodes the fields and the portal rows.
    ///   - dateFormats: the parameter `dateformats` of the request; `nil` for the server's default.
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

/// The values of the caller's own types: `{"fieldData":{…},"portalData":{…}}`.
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

/// The caller's record, written by the rules for fields or by the configuration's own encoder. Beside its fields stand
/// the related records to delete, since the Data API takes them there.
private struct WrittenFields<R: Encodable>: Encodable {
    let record: R
    let deleteRelated: [DataAPI.RelatedRecord]

    func encode(to encoder: any Encoder) throws {
        // The keyed container is requested first, so that a record without fields is written as `{}` and not left out.
        var container = encoder.container(keyedBy: WireKey.self)
        try AsFields(value: record).encode(to: encoder)
        if !deleteRelated.isEmpty {
            try container.encode(deleteRelated.map { "\($0.portal).\($0.recordId)" }, forKey: "deleteRelated")
        }
    }
}
