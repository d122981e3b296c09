import FMDataCore

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

/// Fields in their wire form, in the order in which they were encoded. Names are compared byte by byte.
struct FieldSet: Equatable, Sendable {
    private(set) var names: [String] = []
    private var values: [ExactName: WireValue] = [:]

    init() {}

    /// If a name comes twice, the last value counts.
    init(_ members: some Sequence<WireValue.Member>) {
        for member in members { self[member.name] = member.value }
    }

    /// The value of a field; `nil` when there is none. Setting `nil` has no effect.
    subscript(name: String) -> WireValue? {
        get { values[ExactName(name)] }
        set {
            guard let newValue else { return }
            if values.updateValue(newValue, forKey: ExactName(name)) == nil { names.append(name) }
        }
    }

    var isEmpty: Bool { names.isEmpty }

    var members: [WireValue.Member] {
        names.compactMap { name in self[name].map { WireValue.Member(name: name, value: $0) } }
    }
}

extension FieldSet {
    /// The fields to write so that a record with the fields of `base` has these: each field that differs in FileMaker's
    /// sense.
    ///
    /// - Parameter keepsAbsent: whether a field without a value here keeps its value. Otherwise it is cleared: an
    ///   encoder may leave out a property that is `nil`.
    func changes(from base: FieldSet, keepsAbsent: Bool) -> FieldSet {
        var changes = FieldSet()
        for member in members where !member.value.isSame(as: base[member.name]) {
            changes[member.name] = member.value.isEmptyField ? .emptyField : member.value
        }
        guard !keepsAbsent else { return changes }
        for member in base.members where self[member.name] == nil && !member.value.isEmptyField {
            changes[member.name] = .emptyField
        }
        return changes
    }

    /// Whether all of these fields have the same values in `other`.
    func isContained(in other: FieldSet) -> Bool {
        members.allSatisfy { $0.value.isSame(as: other[$0.name]) }
    }

    /// Only the fields that are not empty: in a new record a field is empty by itself, or FileMaker enters something.
    var filled: FieldSet { FieldSet(members.filter { !$0.value.isEmptyField }) }
}

// MARK: - Equality in FileMaker's sense
