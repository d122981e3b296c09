import NIOConcurrencyHelpers
import NIOCore

/// The records of a live query as one look has left them.
struct LiveState<R: RecordFields>: Sendable {
    typealias Record = DataAPI.TypedLayout<R>.Record
    typealias Reason = DataAPI.RemovalReason

    /// Of the account that has looked; `nil` as long as nobody has.
    private(set) var tenure: Tenure?
    /// Whether nothing has been seen yet: there was no look, or none since the account was replaced.
    private(set) var isBlank = true
    private(set) var records: [Record] = []
    /// Records of the query that cannot be decoded, in the order of their ids.
    private(set) var unreadable: [DataAPI.UnreadableRecord] = []
    /// Beside each record the version in which it came or last changed.
    private(set) var revisions: [Int] = []
    /// Counts the looks that have brought something, from 1.
    private(set) var version = 0
    /// Counts the looks whose records are not all as they were held: those, too, of which there is nothing to tell.
    private(set) var edition = 0
    /// Counts the files that were there in place of the one before, such as a restored copy, and the accounts that
    /// looked.
    private(set) var epoch = 0
    private(set) var origin = DataAPI.Freshness.Origin.snapshot
    /// Whether the table stood still while it was read.
    private(set) var isComplete = true
    /// How the last poll has looked for changes.
    private(set) var watch = DataAPI.LiveWatch.automatic
    /// When the look began.
    private(set) var asOf = NIODeadline.uptimeNanoseconds(0)
    /// What leads here, for those who are being told of it.
    private(set) var sharedChanges = SharedChanges<R>()
    /// Why records are gone, of those that went last.
    private(set) var reasons: [Int: Reason] = [:]
    private var reasonOrder = CircularBuffer<Int>()

    /// As many removals are remembered for those who are slow.
    private static var rememberedRemovals: Int { 10_000 }

    private mutating func note(_ reason: Reason, of id: Int) {
        if reasons.updateValue(reason, forKey: id) == nil { reasonOrder.append(id) }
        while reasonOrder.count > Self.rememberedRemovals, let oldest = reasonOrder.popFirst() {
            reasons[oldest] = nil
        }
    }

    /// For each record whether it has come or changed since an earlier state.
    func isNew(since earlier: LiveState) -> [Bool] { revisions.map { $0 > earlier.version } }

    /// Whether a poll has found these records in this order, and none of them in another version: most polls.
    func isConfirmed(by findings: PollFindings<R>) -> Bool {
        guard !isBlank, !findings.isOfOtherFile, findings.isTorn != isComplete else { return false }
        let bad = Dictionary(unreadable.map { ($0.recordId, $0.modId) }, uniquingKeysWith: { first, _ in first })
        if let order = findings.order {
            guard order.count == records.count + bad.count,
                order.lazy.filter({ bad[$0] == nil }).elementsEqual(records.lazy.map(\.recordId))
            else { return false }
        }
        let read = findings.read.compactMap(\.record)
        return (read.isEmpty || read.elementsEqual(records) { $0.recordId == $1.recordId && $0.modId == $1.modId })
            && findings.read.lazy.compactMap(\.unreadable).allSatisfy { bad[$0.recordId] == $0.modId }
    }

    /// The ids of all that the query finds, as far as it is known: those of its records, in its order, and of those that
    /// cannot be decoded.
    var ids: [Int] { records.map(\.recordId) + unreadable.map(\.recordId) }

    /// The modIds by record id.
    var versions: [Int: Int] {
        Dictionary(
            records.map { ($0.recordId, $0.modId) } + unreadable.map { ($0.recordId, $0.modId) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}

/// The versions of a live query's records, as a poll asks for them.
final class LiveVersions<R: RecordFields>: HeldVersions {
    private let state: LiveState<R>
    /// By record id; made when a record does not stand where it was.
    private let byID = NIOLockedValueBox<[Int: Int]?>(nil)

    init(_ state: LiveState<R>) {
        self.state = state
    }

    var isBlank: Bool { state.isBlank }
    var count: Int { state.records.count + state.unreadable.count }

    func modId(of id: Int, near place: Int) -> Int? {
        if place < state.records.count, state.records[place].recordId == id { return state.records[place].modId }
        return byID.withLockedValue { byID in
            let versions = byID ?? state.versions
            byID = versions
            return versions[id]
        }
    }
}

/// When a record counts as changed.
struct ChangePolicy<R: RecordFields>: Sendable {
    typealias Record = DataAPI.TypedLayout<R>.Record

    /// Whether a commit that left everything as it was is no change.
    var ignoresEqual = false
    /// Whether contents that changed without a commit of the record are one: portals, unstored calculations.
    var seesUncommitted = false
    /// Whether two versions of a record have the same contents.
    var areEqual: @Sendable (Record, Record) -> Bool

    func isChanged(_ old: Record, _ new: Record) -> Bool {
        if old.modId == new.modId { return seesUncommitted && !areEqual(old, new) }
        return !(ignoresEqual && areEqual(old, new))
    }
}

extension LiveState {
    /// What is known when another account begins to look: nothing. Those who were told of something are told so.
    func begunAnew(in tenure: Tenure) -> LiveState {
        var next = LiveState()
        next.tenure = tenure
        guard version > 0 else { return next }
        next.version = version + 1
        next.edition = edition + 1
        next.epoch = epoch + 1
        next.origin = .reset
        next.asOf = asOf
        return next
    }

    /// What a poll that has been accepted leads to, and whether there is anything to tell.
    ///
    /// - Parameters:
    ///   - tenure: of the account that has polled: that of the state, if it has one.
    ///   - gone: records that the poll has not found and that are sure to be gone, with why.
    ///   - overtaken: ids that were written after the poll began: what the poll says of them is out of date.
    func next(
        _ findings: PollFindings<R>,
        gone: [Int: Reason],
        overtaken: Set<Int>,
        _ policy: ChangePolicy<R>,
        origin: DataAPI.Freshness.Origin,
        asOf: NIODeadline,
        in tenure: Tenure? = nil
    ) -> (state: LiveState, isNews: Bool) {
        var next = self
        next.tenure = tenure
        next.isBlank = false
        next.origin = isBlank ? .snapshot : origin
        next.asOf = asOf
        next.isComplete = !findings.isTorn
        next.watch = findings.strategy.watch
        if !policy.seesUncommitted, gone.isEmpty, isConfirmed(by: findings) { return (next, false) }
        next.version += 1
        next.edition += 1
        next.records = []
        next.revisions = []
        next.unreadable = []
        let places = Dictionary(
            records.enumerated().map { ($1.recordId, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let reads = Dictionary(
            findings.read.enumerated().map { ($1.version.recordId, $0) },
            uniquingKeysWith: { _, last in last }
        )
        var bad = Dictionary(unreadable.map { ($0.recordId, $0) }, uniquingKeysWith: { first, _ in first })
        // An id whose modId falls is another record: of a copy that was put in the place of the file.
        let isOtherFile =
            findings.isOfOtherFile
            || findings.read.contains { attempt in
                guard let place = places[attempt.version.recordId], !overtaken.contains(attempt.version.recordId) else {
                    return false
                }
                return attempt.version.modId < records[place].modId
            }
        if isOtherFile {
            next.epoch += 1
            next.origin = .reset
        }
        var seen: Set<Int> = []
        for id in findings.order ?? order(with: findings.read) where seen.insert(id).inserted {
            let held = places[id].map { (record: records[$0], revision: revisions[$0]) }
            let read = overtaken.contains(id) ? nil : reads[id].map { findings.read[$0] }
            switch (held, read) {
            case (nil, nil):
                // One that was written meanwhile and is not held yet waits for the next poll.
                if let record = bad[id] { next.unreadable.append(record) }
            // What is said of a record that was written meanwhile is out of date.
            case (let held?, nil): next.append(held.record, held.revision)
            case (nil, .record(let read)?): next.append(read, next.version)
            case (let held, .unreadable(let read)?):
                next.unreadable.append(read)
                if held != nil { next.note(.unreadable, of: id) }
            case (let held?, .record(let read)?):
                if isOtherFile || policy.isChanged(held.record, read) {
                    next.append(read, next.version)
                } else {
                    // What has not changed stays the same value, but for a modId that counts a commit of nothing.
                    next.append(held.record.modId == read.modId ? held.record : read, held.revision)
                }
            }
            bad[id] = nil
        }
        // What was not found, and is not sure to be gone, stays where it was as far as that can be told.
        for (place, record) in records.enumerated()
        where !seen.contains(record.recordId) && gone[record.recordId] == nil {
            let place = min(place, next.records.count)
            next.records.insert(record, at: place)
            next.revisions.insert(revisions[places[record.recordId] ?? 0], at: place)
        }
        next.unreadable += bad.values.filter { gone[$0.recordId] == nil }
        next.unreadable.sort { $0.recordId < $1.recordId }
        for (id, reason) in gone { next.note(reason, of: id) }
        let isSame =
            next.revisions == revisions && next.records.count == records.count
            && zip(next.records, records).allSatisfy { $0.recordId == $1.recordId }
            && next.unreadable.elementsEqual(unreadable) { $0.recordId == $1.recordId && $0.modId == $1.modId }
            // That nothing is missing any more is news, too.
            && (isComplete || !next.isComplete)
        let isNews = isBlank || isOtherFile || !isSame
        if isNews { next.sharedChanges = SharedChanges() } else { next.version = version }
        return (next, isNews)
    }

    /// The ids as they are held, with those that have come: where records rise by their ids, as they do in the order of
    /// creation, at their place, else at the end.
    private func order(with read: [RecordAttempt<R, R.Portals>]) -> [Int] {
        let held = Set(ids)
        let arrivals = read.map(\.version.recordId).filter { !held.contains($0) }.sorted()
        let ids = self.ids
        guard !arrivals.isEmpty else { return ids }
        let isRising = zip(records, records.dropFirst()).allSatisfy { $0.recordId < $1.recordId }
        return isRising ? (ids + arrivals).sorted() : ids + arrivals
    }

    private mutating func append(_ record: Record, _ revision: Int) {
        records.append(record)
        revisions.append(revision)
    }
}
