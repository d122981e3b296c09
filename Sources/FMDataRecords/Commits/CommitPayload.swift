import FMDataCore

/// The writes of one commit as its script reads them: ``DataAPI/CommitScript`` has an example.
struct CommitPayload: Encodable {
    let layout: String
    let atomic: Bool
    let rows: [Row]

    struct Row: Encodable {
        enum Operation: String, Encodable { case create, edit, delete }

        let op: Operation
        var id: String?
        var mod: String?
        var fields: FieldData?
    }
}

extension CommitPayload.Row {
    /// The digest that distinguishes the row from others in a journal.
    func digest(salt: [UInt8]) -> RowDigest {
        RowDigest(
            salt: salt,
            write: "commit \(op.rawValue) \(id ?? "-") \(mod ?? "-")",
            fields: fields?.map { WireValue.Member(name: $0.name, value: WireValue($0.value)) } ?? []
        )
    }

    /// Throws for a write whose fields cannot be encoded, and for an upsert.
    init<R: RecordFields>(_ write: DataAPI.RecordWrite<R>, in layout: DataAPI.TypedLayout<R>) throws {
        switch write.kind {
        case .create(let given):
            self.init(op: .create, fields: try layout.wireFields(of: given.fields))
        case .edit(let recordId, let fields, let modId):
            self.init(
                op: .edit,
                id: "\(try recordId.recordId())",
                mod: modId.map { "\($0)" },
                fields: try layout.wireFields(of: fields)
            )
        case .save(let draft):
            self.init(
                op: .edit,
                id: "\(draft.recordId)",
                mod: "\(draft.base.modId)",
                fields: try DataAPI.RecordWrite.Kind.changes(of: draft, layout.layout.encoder)
            )
        case .delete(let recordId):
            self.init(op: .delete, id: "\(try recordId.recordId())")
        case .upsert:
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A commit cannot upsert: its script makes, edits and deletes.",
                hint: "Find the records first, or write the rows with writing(_:journal:), each by itself."
            )
        }
    }
}

extension WriteValidation.Write {
    /// The fields that the row writes; `nil` for a delete.
    init?(_ row: CommitPayload.Row) {
        guard let fields = row.fields else { return nil }
        self.init(
            fields: fields.map { WireValue.Member(name: $0.name, value: WireValue($0.value)) },
            isNew: row.op == .create
        )
    }
}

/// What the script of a commit reports about one row, or about all.
struct CommitResult: Decodable {
    /// The row's number. An error without one does not say which row is at fault.
    let row: Int?
    let recordId: Int?
    let modId: Int?
    /// FileMaker's error code; `nil` on success.
    let error: Int?

    /// Scripts write numbers as texts and as numbers.
    init(from decoder: any Decoder) throws {
        let members = try FieldData(from: decoder)
        func number(_ name: String) -> Int? { members[name].flatMap { Int($0.text) } }
        row = number("i")
        recordId = number("id")
        modId = number("mod")
        error = number("err").flatMap { $0 == 0 ? nil : $0 }
    }
}

extension CommitPayload {
    typealias Outcome = DataAPI.WriteResult

    func all(_ outcome: Outcome) -> [Outcome] { Array(repeating: outcome, count: rows.count) }

    /// The result of each row.
    func outcomes(of results: [CommitResult]) -> [Outcome] {
        for result in results {
            guard let code = result.error, atomic || result.row == nil else { continue }
            let error = FMRest.APIError(codeOfScript: code)
            guard let row = result.row, rows.indices.contains(row) else { return all(.failed(error)) }
            return rows.indices.map { .failed($0 == row ? error : .rolledBack(with: error)) }
        }
        let byRow = Dictionary(results.map { ($0.row, $0) }) { first, _ in first }
        return rows.indices.map { index in byRow[index].flatMap(rows[index].outcome) ?? .unknown(.rowWithoutResult) }
    }
}

extension CommitPayload.Row {
    /// The result of the row; `nil` when the script reports too little.
    fileprivate func outcome(of result: CommitResult) -> DataAPI.WriteResult? {
        if let code = result.error { return .failed(FMRest.APIError(codeOfScript: code)) }
        switch op {
        case .create:
            return result.recordId.map { .created(recordId: $0, modId: result.modId) }
        case .edit:
            return result.modId.map { .updated(recordId: id.flatMap { Int($0) }, modId: $0) }
        case .delete:
            return .deleted(wasThere: true)
        }
    }
}

extension FMRest.APIError {
    /// The error of a row from the script's code: a FileMaker code, or 5306, which a script may raise itself for
    /// another modId.
    fileprivate init(codeOfScript code: Int) {
        let fileMakerCode = code == 5306 ? .modIdMismatch : FileMakerErrorCode(rawValue: code)
        self.init(
            .fileMaker,
            reason: "FileMaker error \(fileMakerCode): the script could not carry out the row.",
            hint: fileMakerCode.hint,
            fileMakerCode: fileMakerCode
        )
    }

    /// The error of a row that was reverted because another one failed.
    static func rolledBack(with fault: FMRest.APIError?) -> FMRest.APIError {
        FMRest.APIError(
            .rolledBack,
            reason: "Another row of the same commit failed, and nothing of the commit was kept.",
            underlying: fault
        )
    }

    fileprivate static let rowWithoutResult = FMRest.APIError(
        .decoding,
        reason: "The script's result does not say what became of the row.",
        outcomeIsUnknown: true
    )
}
