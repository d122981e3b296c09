/// One version of a record, field by field in wire form, so that two versions can be compared whatever the types of the
/// program are.
struct RecordImage: Equatable, Sendable {
    var modId: Int
    var fields = FieldSet()
    /// The portals whose rows are known. A portal that is missing was not read, or stays as it is.
    var portals: [PortalImage] = []

    subscript(portal name: String) -> PortalImage? {
        portals.first { ExactName($0.name) == ExactName(name) }
    }
}

/// The rows of one portal.
struct PortalImage: Equatable, Sendable {
    let name: String
    var rows: [RowImage] = []
    /// Whether these are all of its rows, so that a row that is missing does not exist.
    var isWhole = true

    subscript(row recordId: Int) -> RowImage? { rows.first { $0.recordId == recordId } }
}

/// One row of a portal.
struct RowImage: Equatable, Sendable {
    /// `nil` for a row that does not exist yet, or whose type does not hold its id.
    var recordId: Int?
    /// `nil` where the server or the row's type leaves it out.
    var modId: Int?
    var fields = FieldSet()
}

extension RecordImage {
    /// The image of a record that was read.
    init<R: RecordFields>(of record: DataAPI.TypedLayout<R>.Record, _ encoder: FMEncoder) throws {
        try self.init(
            fields: record.fieldData,
            portals: record.portalData,
            modId: record.modId,
            info: record.portalDataInfo,
            encoder
        )
    }

    /// - Parameters:
    ///   - fields: the record's own fields, of any type that the encoder writes.
    ///   - portals: a value with one array of rows per portal.
    ///   - info: what the server returned about the rows; `nil` for nothing.
    init<R: Encodable, P: Encodable>(
        fields: R,
        portals: P?,
        modId: Int,
        info: [DataAPI.PortalDataInfo]?,
        _ encoder: FMEncoder
    ) throws {
        self.modId = modId
        self.fields = FieldSet(try encoder.wireValue(of: fields, .fields).members)
        if let instruction = self.fields.names.first(where: DataAPIName.isInstruction) {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "\"\(instruction)\" is an instruction to the server and no field: it cannot be saved.",
                hint: "A row that is removed from the portals of the draft is deleted."
            )
        }
        guard let portals else { return }
        let whole = Set((info ?? []).filter { !$0.isTruncated }.map { ExactName($0.name) })
        self.portals = try encoder.wireValue(of: portals, .portals).members
            .compactMap { member in
                guard case .array(let rows) = member.value else { return nil }
                return PortalImage(
                    name: member.name,
                    rows: rows.map(RowImage.init),
                    isWhole: whole.contains(ExactName(member.name))
                )
            }
            // The portals of a dictionary have no order.
            .sorted { $0.name < $1.name }
    }
}

extension RowImage {
    fileprivate init(_ row: WireValue) {
        recordId = row.identity("recordId")
        modId = row.identity("modId")
        fields = FieldSet(row.members.filter { !DataAPIName.isIdentity($0.name) })
    }
}

extension WireValue {
    fileprivate func identity(_ name: String) -> Int? {
        switch members.first(where: { $0.name == name })?.value {
        case .text(let text), .literal(let text): Int(text)
        case .array, .object, nil: nil
        }
    }
}
