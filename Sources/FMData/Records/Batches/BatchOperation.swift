import Foundation
import OpenCombine

/// What to do for one row of a batch, and how to see whether it was done.
struct BatchOperation {
    typealias Machine = BatchStateMachine
    typealias Call = AnyPublisher<Machine.Answer, FMRest.APIError>

    let task: Machine.Task
    /// What the row is known by.
    let key: String?
    /// The write; of an upsert over the record that was found.
    let write: (Machine.Found?) -> Call
    /// Looks for the record.
    ///
    /// - Parameter comparing: whether it matters what the record holds.
    let lookUp: (_ comparing: Bool) -> Call
}

extension BatchOperation {
    /// Makes the operation of a row; throws for a row that cannot be sent.
    typealias Maker<Row> = (Row, _ earlier: BatchResumption.Earlier) throws -> BatchOperation

    /// - Parameters:
    ///   - keyField: the field that a record can be looked up by.
    ///   - script: what is to run with the write.
    static func create<R: RecordFields, Row: Encodable>(
        in layout: DataAPI.TypedLayout<R>,
        keyField: String?,
        script: DataAPI.ScriptQuery? = nil
    ) -> Maker<Row> {
        { row, earlier in
            let own = try keyField.flatMap { field in try layout.wireFields(of: row).key(field) }
            // A key that was made for the row, and lost since, is not to be found under a new one.
            let key = own ?? earlier.key ?? (earlier.isUnknown ? nil : UUID(random: layout.server.random).uuidString)
            guard let keyField, let key else {
                return BatchOperation(
                    task: Machine.Task(kind: .create(hasKey: false), mayBeExecuted: earlier.isUnknown),
                    key: nil,
                    write: { _ in layout.creating(row, script) },
                    lookUp: { _ in .found(.nothing) }
                )
            }
            return BatchOperation(
                task: Machine.Task(
                    kind: .create(hasKey: true),
                    // Under a key that has just been made it was never sent.
                    mayBeExecuted: earlier.isUnknown || earlier == .perhapsSent && own != nil
                ),
                key: key,
                write: { _ in layout.creating(RecordWithKey(record: row, field: keyField, key: key), script) },
                lookUp: { _ in layout.lookingUp(key, in: keyField) }
            )
        }
    }

    static func edit<R: RecordFields>(in layout: DataAPI.TypedLayout<R>) -> Maker<DataAPI.RecordEdit> {
        { edit, earlier in
            BatchOperation(
                task: Machine.Task(
                    kind: .edit(base: edit.modId),
                    lane: .record(edit.recordId),
                    // One without a modId overwrites in any case: it is sent again as it would be sent first.
                    mayBeExecuted: earlier.isUnknown || earlier == .perhapsSent && edit.modId != nil
                ),
                key: "\(edit.recordId)",
                write: { _ in layout.editing(edit.recordId, edit.fields, modId: edit.modId) },
                lookUp: { _ in layout.lookingUp(edit) }
            )
        }
    }

    static func delete<R: RecordFields, ID: DataAPI.RecordIdentifier>(
        in layout: DataAPI.TypedLayout<R>
    ) -> Maker<ID> {
        { id, earlier in
            let recordId = try GivenNumber(id: id).recordId()
            return BatchOperation(
                task: Machine.Task(
                    kind: .delete,
                    lane: .record(recordId),
                    mayBeExecuted: earlier != .nothing
                ),
                key: "\(recordId)",
                write: { _ in layout.delete(recordId, isolation: nil).map { _ in .deleted }.eraseToAnyPublisher() },
                lookUp: { _ in .found(.nothing) }
            )
        }
    }

    static func upsert<R: RecordFields>(
        in layout: DataAPI.TypedLayout<R>,
        by keyField: String
    ) -> Maker<R> {
        { row, _ in
            guard let key = try layout.wireFields(of: row).key(keyField) else {
                throw FMRest.APIError(
                    .invalidRequest,
                    reason: "The row has no value for \(keyField), by which its record is to be found."
                )
            }
            return BatchOperation(
                // FileMaker finds a text whatever its case and accents.
                task: Machine.Task(
                    kind: .upsert,
                    lane: .key(
                        key.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
                    )
                ),
                key: key,
                write: { found in
                    found.map { layout.editing($0.recordId, row, modId: $0.modId) } ?? layout.creating(row)
                },
                lookUp: { comparing in
                    comparing
                        ? layout.lookingUp(key, in: keyField) { try layout.wireFields(of: row) }
                        : layout.lookingUp(key, in: keyField)
                }
            )
        }
    }
}

extension BatchResumption.Earlier {
    fileprivate var isUnknown: Bool { if case .unknown = self { true } else { false } }

    /// The key that was made for the row.
    fileprivate var key: String? { if case .unknown(let key) = self { key } else { nil } }
}

// MARK: - Calls

extension DataAPI.TypedLayout {
    fileprivate typealias Answer = BatchStateMachine.Answer

    fileprivate func creating(
        _ fields: some Encodable,
        _ script: DataAPI.ScriptQuery? = nil
    ) -> BatchOperation.Call {
        layout.createRecord(record: DataAPI.EditRecord(createRecord: fields, script: script), isolation: nil)
            .map { Answer.created(recordId: $0.recordId, modId: $0.modId) }
            .eraseToAnyPublisher()
    }

    fileprivate func editing(_ recordId: Int, _ fields: some Encodable, modId: Int?) -> BatchOperation.Call {
        layout.editRecord(
            record: DataAPI.EditRecord(editRecord: fields, modId: modId),
            recordId: recordId,
            isolation: nil
        )
        .map { Answer.edited(recordId: recordId, modId: $0.modId) }
        .eraseToAnyPublisher()
    }

    /// Whether there is a record with this key.
    fileprivate func lookingUp(_ key: String, in field: String) -> BatchOperation.Call {
        looking(for: key, in: field, NoFields.self) { _ in false }
    }

    /// Whether there is a record with this key, and whether it holds these fields.
    fileprivate func lookingUp(
        _ key: String,
        in field: String,
        holding fields: @escaping () throws -> FieldData
    ) -> BatchOperation.Call {
        looking(for: key, in: field, FieldData.self) { stored in (try? fields().isHeld(by: stored)) ?? false }
    }

    private func looking<Fields: RecordFields>(
        for key: String,
        in field: String,
        _ type: Fields.Type,
        isSame: @escaping (Fields) -> Bool
    ) -> BatchOperation.Call {
        DataAPI.FoundSet(layout: layout.of(type), find: DataAPI.FindField(named: field) == key)
            // Two are enough to know that there are several.
            .page(limit: 2)
            .map { response in .found(Finding(response.data.map { ($0.recordId, $0.modId, isSame($0.fieldData)) })) }
            .eraseToAnyPublisher()
    }

    /// Whether the record is there, and whether it holds what the edit says.
    fileprivate func lookingUp(_ edit: DataAPI.RecordEdit) -> BatchOperation.Call {
        layout.of(FieldData.self).record(edit.recordId, isolation: nil)
            .map { record in
                Answer.found(
                    Finding([(record.recordId, record.modId, edit.fields.isHeld(by: record.fieldData))])
                )
            }
            .replaceError(of: .recordMissing, with: .found(.nothing))
    }

    private typealias Finding = BatchStateMachine.Finding

    /// The fields of a row as they are sent.
    func wireFields(of row: some Encodable) throws -> FieldData {
        let encoder = FMEncoder(options: server.encoding, recordEncoder: server.config.encoder)
        guard let fields = FieldData(wire: try encoder.wireValue(of: row, .fields)) else {
            throw FMRest.APIError(.encoding, reason: "A field of the row has a value that is no text and no number.")
        }
        return fields
    }
}

extension BatchStateMachine.Finding {
    fileprivate init(_ records: [(recordId: Int, modId: Int, isSame: Bool)]) {
        count = records.count
        guard let first = records.first, count == 1 else { return }
        record = BatchStateMachine.Found(recordId: first.recordId, modId: first.modId)
        isSame = first.isSame
    }
}

extension BatchOperation.Call {
    fileprivate static func found(_ finding: BatchStateMachine.Finding) -> BatchOperation.Call {
        .of(.found(finding))
    }
}

// MARK: - Keys

extension FieldData {
    /// The value of a key field; `nil` when it is empty.
    fileprivate func key(_ field: String) -> String? {
        self[field].flatMap { $0.isEmpty ? nil : $0.text }
    }
}

/// A record with a key that it had not.
private struct RecordWithKey<R: Encodable>: Encodable {
    let record: R
    let field: String
    let key: String

    func encode(to encoder: any Encoder) throws {
        // The keyed container comes first, so that a record without fields is still an object. A member that is written twice has
        // the last value.
        var container = encoder.container(keyedBy: WireKey.self)
        try AsFields(value: record).encode(to: encoder)
        try container.encode(key, forKey: WireKey(field))
    }
}

extension UUID {
    /// Version 4, of numbers from `0..<1`.
    fileprivate init(random: () -> Double) {
        func byte() -> UInt8 { UInt8(truncatingIfNeeded: Int(random() * 256)) }
        self.init(
            uuid: (
                byte(), byte(), byte(), byte(), byte(), byte(),
                byte() & 0x0F | 0x40, byte(), byte() & 0x3F | 0x80, byte(),
                byte(), byte(), byte(), byte(), byte(), byte()
            )
        )
    }
}
