import NIOCore

/// What one poll has found, as it travels to other processes: records as the host has sent them, and what went.
///
/// Its bytes come from a store that others may write to: reading them fails where they make no sense, and never traps.
struct PolledChanges: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        /// The changes are here.
        case changes = 0
        /// They are not: whoever reads this has to poll.
        case poll = 1
        /// The host has another file by now: whoever reads this has to poll as if nothing were known.
        case reset = 2
    }

    var kind = Kind.changes
    /// ``LiveState/isComplete``.
    var isComplete = true
    /// Each changed or new record, as JSON.
    var records: [[UInt8]] = []
    /// The ids of the records that went, with their reasons.
    var gone: [Int: DataAPI.RemovalReason] = [:]
    /// The ids in their order, if it does not follow from the order before.
    var order: [Int]?
}

extension PolledChanges {
    private static let version: UInt8 = 1
    private static let reasons: [DataAPI.RemovalReason] = [.unknown, .deleted, .left, .unreadable]

    var bytes: [UInt8] {
        var buffer = ByteBuffer()
        buffer.writeInteger(Self.version)
        buffer.writeInteger(kind.rawValue)
        buffer.writeInteger(UInt8(isComplete ? 1 : 0))
        buffer.writeInteger(UInt32(records.count))
        for record in records {
            buffer.writeInteger(UInt32(record.count))
            buffer.writeBytes(record)
        }
        buffer.writeInteger(UInt32(gone.count))
        for (id, reason) in gone.sorted(by: { $0.key < $1.key }) {
            buffer.writeInteger(Int64(id))
            buffer.writeInteger(UInt8(Self.reasons.firstIndex(of: reason) ?? 0))
        }
        buffer.writeInteger(UInt8(order == nil ? 0 : 1))
        if let order {
            buffer.writeInteger(UInt32(order.count))
            for id in order { buffer.writeInteger(Int64(id)) }
        }
        return Array(buffer.readableBytesView)
    }

    /// `nil` if the bytes are not those of changes.
    init?(bytes: [UInt8]) {
        var buffer = ByteBuffer(bytes: bytes)
        guard buffer.readInteger(as: UInt8.self) == Self.version,
            let kind = buffer.readInteger(as: UInt8.self).flatMap(Kind.init),
            let isComplete = buffer.readInteger(as: UInt8.self), let recordCount = buffer.readInteger(as: UInt32.self)
        else { return nil }
        self.kind = kind
        self.isComplete = isComplete == 1
        for _ in 0..<recordCount {
            guard let count = buffer.readInteger(as: UInt32.self), let record = buffer.readBytes(length: Int(count))
            else { return nil }
            records.append(record)
        }
        guard let goneCount = buffer.readInteger(as: UInt32.self) else { return nil }
        for _ in 0..<goneCount {
            guard let id = buffer.readInteger(as: Int64.self), let number = buffer.readInteger(as: UInt8.self),
                number < Self.reasons.count
            else { return nil }
            gone[Int(id)] = Self.reasons[Int(number)]
        }
        guard let hasOrder = buffer.readInteger(as: UInt8.self) else { return nil }
        if hasOrder == 1 {
            guard let count = buffer.readInteger(as: UInt32.self) else { return nil }
            var ids: [Int] = []
            for _ in 0..<count {
                guard let id = buffer.readInteger(as: Int64.self) else { return nil }
                ids.append(Int(id))
            }
            order = ids
        }
        guard buffer.readableBytes == 0 else { return nil }
    }
}

extension PolledChanges: CustomStringConvertible, CustomReflectable {
    /// Counts, without the values in the records.
    var description: String { "PolledChanges(\(kind), \(records.count) records, \(gone.count) gone)" }

    /// Shows only ``description``.
    var customMirror: Mirror { Mirror(self, children: ["changes": description]) }
}

// MARK: - Leading

extension PolledChanges {
    /// What a poll has changed; `nil` if every record is in the version that it was in before, and can be decoded as
    /// before.
    ///
    /// - Parameter tap: has the bytes of the records that the poll has read.
    init?<R: RecordFields>(from old: LiveState<R>, to new: LiveState<R>, _ tap: RecordTap?) {
        guard new.replacementCount == old.replacementCount else {
            kind = .reset
            return
        }
        let known = old.modIds
        let versions = new.records.map(\.version) + new.unreadable.map(\.version)
        let redecoded = Set(old.unreadable.map(\.recordId)).symmetricDifference(new.unreadable.map(\.recordId))
        let news = versions.filter { known[$0.recordId] != $0.modId || redecoded.contains($0.recordId) }
        let arrivals = news.map(\.recordId).filter { known[$0] == nil }
        let ids = Set(versions.map(\.recordId))
        for id in old.ids where !ids.contains(id) { gone[id] = new.reasons[id] ?? .unknown }
        if old.order(without: gone, with: arrivals) != new.ids { order = new.ids }
        if news.isEmpty, gone.isEmpty, order == nil, old.isComplete == new.isComplete { return nil }
        isComplete = new.isComplete
        for version in news {
            guard let bytes = tap?.bytes(of: version) else {
                self = PolledChanges(kind: .poll)
                return
            }
            records.append(bytes)
        }
    }
}

extension LiveState {
    /// The ids after some went and others came.
    fileprivate func order(without gone: [Int: Reason], with arrivals: [Int]) -> [Int] {
        ids.filter { gone[$0] == nil }.inserting(arrivals)
    }

    /// A digest of the ids and modIds of all records and, if all can be decoded, of their order.
    var digest: String {
        var set: UInt64 = 0
        var order = [].fnv1a()
        for version in records.map(\.version) + unreadable.map(\.version) {
            let one = version.mixed
            set &+= one
            order = withUnsafeBytes(of: one.littleEndian) { $0.fnv1a(from: order) }
        }
        return String(set, radix: 16) + (unreadable.isEmpty ? "." + String(order, radix: 16) : "")
    }
}

extension LiveState {
    /// Whether the records are those of a digest. Their order counts if both know it.
    func meets(_ other: String) -> Bool {
        let (own, other) = (digest.split(separator: "."), other.split(separator: "."))
        return own.first == other.first && (own.count != other.count || own == other)
    }
}

extension DataAPI.RecordVersion {
    /// A digest of both numbers.
    fileprivate var mixed: UInt64 {
        withUnsafeBytes(
            of: (UInt64(bitPattern: Int64(recordId)).littleEndian, UInt64(bitPattern: Int64(modId)).littleEndian)
        ) {
            $0.fnv1a()
        }
    }
}

extension [Int] {
    /// The ids with new ones: if they are in rising order, new ones are inserted at their place, else at the end.
    fileprivate func inserting(_ arrivals: [Int]) -> [Int] {
        guard !arrivals.isEmpty else { return self }
        let isRising = zip(self, dropFirst()).allSatisfy { $0 < $1 }
        return isRising ? (self + arrivals).sorted() : self + arrivals.sorted()
    }
}

// MARK: - Following

/// The changes since a query's own last poll that cannot be adopted in full yet: of a poll that may be older, records
/// that came may have gone by then.
///
/// Whoever has polled sees that in its next poll, which comes with a digest. From then on all changes since the query's
/// own poll, one after the other, lead to the records of that digest.
struct UnsettledChanges {
    typealias Exchange = DataAPI.LiveExchange

    private var changes: [Exchange.Changes] = []
    private let maximumBytes: Int

    /// - Parameter maximumBytes: the most that are kept. A query that has more of them adopts some in part, and polls
    ///   when it sees by the digest that its records are others.
    init(maximumBytes: Int = 1_048_576) {
        self.maximumBytes = maximumBytes
    }

    /// The changes to adopt now.
    mutating func adopting(_ found: Exchange.Findings) -> [Exchange.Changes] {
        guard found.digest == nil else {
            defer { changes = [] }
            return (changes + found.changes).map { Exchange.Changes(bytes: $0.bytes, mayBeOlder: false) }
        }
        if !changes.isEmpty || found.changes.contains(where: \.mayBeOlder) { changes += found.changes }
        if changes.reduce(0, { $0 + $1.bytes.count }) > maximumBytes { changes = [] }
        return found.changes
    }

    /// The query has polled by itself.
    mutating func polled() { changes = [] }
}

/// What a query adopts: the changes of others, as findings of a poll of its own.
struct AdoptedChanges<R: RecordFields> {
    typealias Attempt = RecordAttempt<R, R.Portals>

    private(set) var findings: PollFindings<R>
    /// Whether the query has to poll after this, and as if nothing were known.
    private(set) var mustPoll = false
    private(set) var isReset = false

    /// - Parameters:
    ///   - state: the records of the query that adopts the changes.
    ///   - decode: decodes records.
    init(
        _ changes: [DataAPI.LiveExchange.Changes],
        into state: LiveState<R>,
        _ strategy: any PollStrategy,
        _ decode: ([[UInt8]]) throws -> [Attempt]
    ) {
        findings = PollFindings(isInconsistent: !state.isComplete, isAdopted: true, strategy: strategy)
        var modIds = state.modIds
        var order = state.ids
        var isReordered = false
        var read: [Int: Attempt] = [:]
        for change in changes {
            guard let parts = PolledChanges(bytes: change.bytes), parts.kind == .changes,
                let attempts = try? decode(parts.records)
            else {
                mustPoll = true
                isReset = PolledChanges(bytes: change.bytes)?.kind == .reset
                break
            }
            var arrivals: [Int] = []
            for attempt in attempts {
                let version = attempt.version
                let known = modIds[version.recordId]
                // Of one record the later version is the right one, whoever has read it.
                if let known, known > version.modId { continue }
                if known == nil {
                    if change.mayBeOlder { continue }
                    arrivals.append(version.recordId)
                }
                modIds[version.recordId] = version.modId
                read[version.recordId] = attempt
                findings.gone[version.recordId] = nil
            }
            if change.mayBeOlder { continue }
            findings.isInconsistent = !parts.isComplete
            for (id, reason) in parts.gone where modIds.removeValue(forKey: id) != nil {
                read[id] = nil
                findings.gone[id] = reason
            }
            if !parts.gone.isEmpty || !arrivals.isEmpty || parts.order != nil { isReordered = true }
            order = order.filter { modIds[$0] != nil }
            if let ids = parts.order {
                let listed = Set(ids)
                order = ids.filter { modIds[$0] != nil } + order.filter { !listed.contains($0) }
            } else {
                let present = Set(order)
                order = order.inserting(arrivals.filter { !present.contains($0) })
            }
        }
        findings.order = isReordered ? order : nil
        findings.read = read.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension AnswerReader {
    /// Decodes records that were read by another process, as those of an answer.
    func attempts<R: RecordFields>(of records: [[UInt8]]) throws -> [RecordAttempt<R, R.Portals>] {
        guard !records.isEmpty else { return [] }
        var reader: RecordResponseReader<R, R.Portals> = recordReader()
        var attempts: [RecordAttempt<R, R.Portals>] = []
        let head = #"{"messages":[{"code":"0","message":"OK"}],"response":{"data":["#
        let answer = Array(head.utf8) + records.joined(separator: Array(",".utf8)) + Array("]}}".utf8)
        answer.withUnsafeBytes { reader.feed($0) }
        try reader.nextAttempts(appendTo: &attempts)
        _ = try reader.finish()
        retire(reader)
        guard attempts.count == records.count else {
            throw FMRest.APIError(.decoding, reason: "The records are not those of an exchange.")
        }
        return attempts
    }
}
