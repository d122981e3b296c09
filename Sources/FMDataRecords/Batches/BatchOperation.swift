import FMDataCore
import Foundation
import OpenCombine

/// The write of one row of a batch, and the lookup that shows whether it was carried out.
struct BatchOperation {
    typealias Machine = BatchStateMachine
    typealias Call = AnyPublisher<CompletedCall, FMRest.APIError>

    let task: Machine.RowTask
    /// The key or record id that identifies the row.
    let key: String?
    /// The field that holds the key; `nil` when `key` is the record's id, or there is none.
    var keyField: String?
    /// Distinguishes the row from others; `nil` without a journal.
    let digest: RowDigest?
    /// For a create, the key that the row had. No other row may have it.
    var ownKey: String?
    /// The write; for an upsert, over the record that was found.
    var write: (WrittenVersion?) -> Call
    /// Looks up the record.
    ///
    /// - Parameter isSettling: whether the lookup has to show if a write was carried out, so that the record's values
    ///   matter.
    let lookUp: (_ isSettling: Bool) -> Call

    /// The answer to a call, for the machine, and its result.
    struct CompletedCall: Sendable {
        var answer: Machine.CallResult
        var result: DataAPI.WriteResult?
    }

    /// What is known of a row before it is encoded.
    struct Context {
        /// The row's place in the input.
        var row = 0
        /// The salt of the journal, if there is one.
        var salt: [UInt8]?
        /// An attempt that an earlier run has noted without an outcome.
        var attempt: Machine.OpenAttempt?
        /// The key that the earlier run has noted.
        var key: String?
        /// The field of that key, as the earlier run has noted it.
        var field = JournalEntry.NotedField.none
    }
}

extension BatchOperation {
    /// Makes the operation of a row; throws for a row that cannot be sent.
    typealias Maker<Row> = (Row, Context) throws -> BatchOperation

    /// - Parameters:
    ///   - isWhole: whether the row is a whole record, which leaves out fields that a record cannot set; see
    ///     `WholeRecord`.
    ///   - keyField: the field that a record can be looked up by.
    ///   - script: the script to run with the write.
    static func create<R: RecordFields>(
        _ row: some Encodable,
        isWhole: Bool,
        keyField: String?,
        script: DataAPI.ScriptQuery? = nil,
        in layout: DataAPI.TypedLayout<R>,
        _ context: Context
    ) throws -> BatchOperation {
        guard let keyField else {
            return BatchOperation(
                task: Machine.RowTask(kind: .create(hasKey: false), attempt: context.attempt),
                key: nil,
                digest: try context.digest("create") { try layout.digestedMembers(of: row) },
                write: { _ in layout.creating(row, isWhole: isWhole, script) },
                lookUp: { _ in .found(.nothing) }
            )
        }
        let (own, digest) = try layout.identity(of: row, by: keyField, "create", context)
        // A key that follows from the row can be looked up even if the journal has lost the line that notes it.
        let key =
            own ?? context.key ?? digest?.key(ofRow: context.row)
            ?? UUID(random: layout.server.random).uuidString
        var attempt = context.attempt
        // A record is found only by the key it was given, in the field that got it.
        if own == nil, context.key == nil { attempt?.doubt = .otherKeyField }
        if case .named(let noted) = context.field, noted.lowercased() != keyField.lowercased() {
            attempt?.doubt = .otherKeyField
        }
        return BatchOperation(
            task: Machine.RowTask(kind: .create(hasKey: true), attempt: attempt),
            key: key,
            keyField: keyField,
            digest: digest,
            ownKey: own,
            write: { _ in
                layout.creating(RecordWithKey(record: row, field: keyField, key: key), isWhole: isWhole, script)
            },
            lookUp: { _ in
                own == nil
                    ? layout.lookingUp(made: key, in: keyField)
                    : layout.lookingUp(.text(key), in: keyField, holding: row, isWhole: isWhole, isUpsert: false)
            }
        )
    }

    /// Creates one record from fields that include a key.
    static func making<R: RecordFields>(
        _ fields: FieldSet,
        by key: FieldValue,
        in keyField: String,
        of layout: DataAPI.TypedLayout<R>
    ) -> BatchOperation {
        let place = layout.layout
        return BatchOperation(
            task: Machine.RowTask(kind: .create(hasKey: true)),
            key: nil,
            keyField: keyField,
            digest: nil,
            write: { _ in
                place.database.perform { .create(fields, in: place) }
                    .map { CompletedCall(answer: .created(recordId: $0.recordId, modId: $0.modId), result: .init($0)) }
                    .eraseToAnyPublisher()
            },
            lookUp: { _ in
                // No record had the key in any spelling before this one was sent.
                layout.lookingUp(key, in: keyField, mayBeOwn: { _ in true }) { record in
                    fields.members.allSatisfy { member in
                        record[member.name].map { member.value.isSame(as: WireValue($0)) } ?? false
                    }
                }
            }
        )
    }

    private static func edit<R: RecordFields>(
        _ recordId: Int,
        _ fields: some Encodable,
        modId: Int?,
        in layout: DataAPI.TypedLayout<R>,
        _ context: Context
    ) throws -> BatchOperation {
        BatchOperation(
            task: Machine.RowTask(kind: .edit(base: modId), serialKey: .record(recordId), attempt: context.attempt),
            key: "\(recordId)",
            digest: try context.digest("edit \(recordId) \(modId.map { "\($0)" } ?? "-")") {
                try layout.digestedMembers(of: fields)
            },
            write: { _ in layout.editing(recordId, fields, isWhole: false, modId: modId) },
            lookUp: { _ in layout.lookingUp(recordId, holding: fields, base: modId) }
        )
    }

    private static func save<R: RecordFields>(
        _ draft: DataAPI.Draft<R>,
        in layout: DataAPI.TypedLayout<R>,
        _ context: Context
    ) throws -> BatchOperation {
        let changes = try DataAPI.RecordWrite.Kind.changes(of: draft, layout.layout.encoder)
        let (recordId, modId) = (draft.recordId, draft.base.modId)
        var operation = try edit(recordId, changes, modId: modId, in: layout, context)
        guard changes.isEmpty else { return operation }
        let unchanged = DataAPI.WriteResult(.unchanged, recordId: recordId, modId: modId)
        operation.write = { _ in
            .of(CompletedCall(answer: .edited(recordId: recordId, modId: modId), result: unchanged))
        }
        return operation
    }

    private static func delete<R: RecordFields>(
        _ recordId: Int,
        in layout: DataAPI.TypedLayout<R>,
        _ context: Context
    ) -> BatchOperation {
        BatchOperation(
            task: Machine.RowTask(kind: .delete, serialKey: .record(recordId), attempt: context.attempt),
            key: "\(recordId)",
            digest: context.digest("delete \(recordId)") { [] },
            write: { _ in
                layout.delete(recordId, isolation: .insideACall)
                    .map { CompletedCall(answer: .deleted, result: .init(deleting: $0)) }
                    .eraseToAnyPublisher()
            },
            lookUp: { _ in .found(.nothing) }
        )
    }

    /// - Parameter isWhole: whether the row is a whole record, which leaves out fields that a record cannot set.
    private static func upsert<R: RecordFields>(
        _ row: some Encodable,
        isWhole: Bool,
        by keyField: String,
        in layout: DataAPI.TypedLayout<R>,
        _ context: Context
    ) throws -> BatchOperation {
        let (key, digest) = try layout.identity(of: row, by: keyField, "upsert \(keyField)", context)
        guard let key else {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "The row has no value for \(keyField), by which its record is to be found."
            )
        }
        return BatchOperation(
            // FileMaker's finds ignore case and accents, so keys that differ only there share a serial key.
            task: Machine.RowTask(kind: .upsert, serialKey: .key(key.foldedAsKey), attempt: context.attempt),
            key: key,
            keyField: keyField,
            digest: digest,
            write: { found in
                found.map { layout.editing($0.recordId, row, isWhole: isWhole, modId: $0.modId) }
                    ?? layout.creating(row, isWhole: isWhole)
            },
            lookUp: { isSettling in
                isSettling
                    ? layout.lookingUp(.text(key), in: keyField, holding: row, isWhole: isWhole, isUpsert: true)
                    : layout.lookingUp(.text(key), in: keyField, mayBeOwn: { _ in true }) { _ in false }
            }
        )
    }

    /// Makes the operation of any write.
    ///
    /// - Parameter keyField: the field that new records can be looked up by.
    static func ofWrite<R: RecordFields>(
        in layout: DataAPI.TypedLayout<R>,
        keyField: String?
    ) -> Maker<DataAPI.RecordWrite<R>> {
        { write, context in
            switch write.kind {
            case .create(let given):
                try create(given.fields, isWhole: given.isWhole, keyField: keyField, in: layout, context)
            case .edit(let recordId, let fields, let modId):
                try edit(recordId.recordId(), fields, modId: modId, in: layout, context)
            case .save(let draft):
                try save(draft, in: layout, context)
            case .delete(let recordId):
                try delete(recordId.recordId(), in: layout, context)
            case .upsert(let given, let key):
                try upsert(given.fields, isWhole: given.isWhole, by: key, in: layout, context)
            }
        }
    }
}

extension BatchOperation.Context {
    /// - Parameter write: the kind of the write, and its record.
    fileprivate func digest(_ write: String, _ fields: () throws -> [WireValue.Member]) rethrows -> RowDigest? {
        try salt.map { RowDigest(salt: $0, write: write, fields: try fields()) }
    }
}

// MARK: - Calls

extension DataAPI.TypedLayout {
    private typealias CompletedCall = BatchOperation.CompletedCall

    fileprivate func creating(
        _ fields: some Encodable,
        isWhole: Bool,
        _ script: DataAPI.ScriptQuery? = nil
    ) -> BatchOperation.Call {
        let record = DataAPI.EditRecord(createRecord: fields, script: script)
        return carrying(isWhole) { whole in
            layout.database.perform { try .create(in: layout, record: record, carrying: whole) }.eraseToAnyPublisher()
        }
        .map { CompletedCall(answer: .created(recordId: $0.recordId, modId: $0.modId), result: .init($0)) }
        .eraseToAnyPublisher()
    }

    fileprivate func editing(
        _ recordId: Int,
        _ fields: some Encodable,
        isWhole: Bool,
        modId: Int?
    ) -> BatchOperation.Call {
        let record = DataAPI.EditRecord(editRecord: fields, modId: modId)
        return carrying(isWhole) { whole in
            layout.database.perform { try .edit(recordId, of: layout, record: record, carrying: whole) }
                .eraseToAnyPublisher()
        }
        .map { response in
            var result = DataAPI.WriteResult(response)
            result.recordId = recordId
            return CompletedCall(answer: .edited(recordId: recordId, modId: response.modId), result: result)
        }
        .eraseToAnyPublisher()
    }

    private func carrying<Value>(
        _ isWhole: Bool,
        _ call: @escaping (WholeRecord) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        isWhole ? knowingWholeRecord(call) : call(.givenByField)
    }

    /// Looks for a record with this key, which was generated for it.
    fileprivate func lookingUp(made key: String, in field: String) -> BatchOperation.Call {
        matching(.text(key), in: field, NoFields.self)
            .map { records -> CompletedCall in
                .found(
                    BatchStateMachine.LookupResult(
                        records.map { WrittenVersion(recordId: $0.recordId, modId: $0.modId) },
                        .ofCreate(matches: records.map { _ in true }, isKeyOurs: true)
                    )
                )
            }
            .eraseToAnyPublisher()
    }

    /// Looks for a record that has exactly this key and holds what the row was to write.
    ///
    /// - Parameter isUpsert: whether the row was sent only after no record had its key in any spelling.
    fileprivate func lookingUp(
        _ key: FieldValue,
        in field: String,
        holding row: some Encodable,
        isWhole: Bool,
        isUpsert: Bool
    ) -> BatchOperation.Call {
        carrying(isWhole) { whole in
            OnDemandPublisher {
                do {
                    let wanted = whole.carried(try wireFields(of: row))
                    let mayBeOwn = { (record: FieldData) in
                        isUpsert || wanted.isHeld(by: record, inAnySpelling: true)
                    }
                    return lookingUp(key, in: field, mayBeOwn: mayBeOwn) { wanted.isHeld(by: $0) }
                } catch {
                    return .failing(FMRest.APIError(wrapping: error, otherwise: .encoding))
                }
            }
            .eraseToAnyPublisher()
        }
    }

    /// Looks for a record that has exactly this key: FileMaker's `==` ignores case and accents.
    ///
    /// - Parameters:
    ///   - mayBeOwn: whether a record that has the key in another spelling may be the one that was sent.
    ///   - isHeld: whether a record holds what was to be written.
    func lookingUp(
        _ key: FieldValue,
        in field: String,
        mayBeOwn: @escaping (FieldData) -> Bool,
        isHeld: @escaping (FieldData) -> Bool
    ) -> BatchOperation.Call {
        matching(key, in: field, FieldData.self)
            .map { records -> CompletedCall in
                let found = KeyMatches(records, of: key, hasMore: records.count >= OtherMatches.mostLookedAt) {
                    $0.fieldData[field].map { WireValue($0) }
                }
                var finding = BatchStateMachine.LookupResult(
                    found.exact.map { WrittenVersion(recordId: $0.recordId, modId: $0.modId) },
                    .ofCreate(matches: found.exact.map { isHeld($0.fieldData) }, isKeyOurs: false)
                )
                finding.others = found.others
                switch found.others {
                case .tooMany: finding.outcome = .undecided(.severalRecords)
                case .inOtherForm: finding.outcome = .undecided(.keyInOtherForm)
                case .spelledOtherwise where records.contains(where: { mayBeOwn($0.fieldData) }):
                    finding.outcome = .undecided(.keySpelledOtherwise)
                case .none, .spelledOtherwise: break
                }
                return .found(finding)
            }
            .eraseToAnyPublisher()
    }

    private func matching<Fields: RecordFields>(
        _ key: FieldValue,
        in field: String,
        _ type: Fields.Type
    ) -> AnyPublisher<[DataAPI.Record<Fields, Fields.Portals>], FMRest.APIError> {
        DataAPI.FoundSet(layout: layout.of(type), find: DataAPI.FindField(named: field) == key)
            .part(limit: OtherMatches.mostLookedAt)
            .map { $0?.data ?? [] }
            .eraseToAnyPublisher()
    }

    /// Reads the record, and whether it holds the fields of the edit.
    ///
    /// - Parameter base: the modId that the edit is based on, if there is one.
    fileprivate func lookingUp(
        _ recordId: Int,
        holding fields: some Encodable,
        base: Int?
    ) -> BatchOperation.Call {
        layout.of(FieldData.self).record(id: recordId, isolation: .insideACall)
            .tryMap { record -> CompletedCall in
                let isSame = try wireFields(of: fields).isHeld(by: record.fieldData)
                return .found(
                    BatchStateMachine.LookupResult(
                        [WrittenVersion(recordId: record.recordId, modId: record.modId)],
                        .ofEdit(base: base, found: (record.modId, isSame))
                    )
                )
            }
            .mapError { FMRest.APIError(wrapping: $0, otherwise: .encoding) }
            .replaceError(
                of: .recordMissing,
                with: .found(BatchStateMachine.LookupResult([], .ofEdit(base: base, found: nil)))
            )
    }

    /// The key of a row, as it is sent, and the digest of its fields. The fields are encoded only once where the host
    /// uses the configured formats.
    fileprivate func identity(
        of row: some Encodable,
        by keyField: String,
        _ write: String,
        _ context: BatchOperation.Context
    ) throws -> (key: String?, digest: RowDigest?) {
        let sent = try wireMembers(of: row, server.encoding)
        let digest = try context.digest(write) {
            server.hasConfiguredFormats ? sent : try digestedMembers(of: row)
        }
        return (try fields(sent).checkedKey(keyField), digest)
    }

    /// The fields of a row as they are sent.
    func wireFields(of row: some Encodable) throws -> FieldData {
        try fields(wireMembers(of: row, server.encoding))
    }

    private func fields(_ members: [WireValue.Member]) throws -> FieldData {
        guard let fields = FieldData(wire: .object(members)) else {
            throw FMRest.APIError(.encoding, reason: "A field of the row has a value that is no text and no number.")
        }
        return fields
    }

    /// The fields of a row for a digest: in the configured formats, whatever formats the host turns out to use.
    func digestedMembers(of row: some Encodable) throws -> [WireValue.Member] {
        try wireMembers(of: row, server.config.encoding)
    }

    private func wireMembers(of row: some Encodable, _ options: EncodingOptions) throws -> [WireValue.Member] {
        try FMEncoder(options: options, recordEncoder: server.config.encoder).wireValue(of: row, .fields).members
    }
}

extension BatchStateMachine.LookupResult {
    fileprivate init(_ records: [WrittenVersion], _ outcome: WriteOutcome) {
        self.outcome = outcome
        record = records.count == 1 ? records[0] : nil
        isAmbiguous = records.count > 1
    }
}

extension BatchOperation.CompletedCall {
    fileprivate static func found(_ finding: BatchStateMachine.LookupResult) -> Self { Self(answer: .found(finding)) }
}

extension BatchOperation.Call {
    fileprivate static func found(_ finding: BatchStateMachine.LookupResult) -> BatchOperation.Call {
        .of(BatchOperation.CompletedCall(answer: .found(finding)))
    }
}

// MARK: - Keys

extension FieldData {
    /// The value of a key field; `nil` when it is empty. Throws for a key with white space at its ends, which finds
    /// ignore.
    fileprivate func checkedKey(_ field: String) throws -> String? {
        guard let key = self[field].flatMap({ $0.isEmpty ? nil : $0.text }) else { return nil }
        guard key.first?.isWhitespace == false, key.last?.isWhitespace == false else {
            var error = FMRest.APIError(
                .invalidRequest,
                reason: "The key in \"\(field)\" has blanks at its ends, which finds do not see. Nothing was sent."
            )
            error.fields = [field]
            throw error
        }
        return key
    }
}

/// A record with a key added.
private struct RecordWithKey<R: Encodable>: Encodable {
    let record: R
    let field: String
    let key: String

    func encode(to encoder: any Encoder) throws {
        // The keyed container comes first, so that a record without fields is still an object. Of a member that is
        // written twice, the last value counts.
        var container = encoder.container(keyedBy: WireKey.self)
        try AsFields(value: record).encode(to: encoder)
        try container.encode(key, forKey: WireKey(field))
    }
}

extension UUID {
    /// Makes a version 4 UUID from random numbers in `0..<1`.
    init(random: () -> Double) {
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
