import FMDataCore
import FMDataRecords
import NIOConcurrencyHelpers
import NIOCore

/// The records of a live query as a poll has left them.
struct LiveState<R: RecordFields>: Sendable {
    typealias Record = DataAPI.TypedLayout<R>.Record
    typealias Reason = DataAPI.RemovalReason

    /// The account period of the last poll; `nil` before the first one.
    private(set) var accountPeriod: AccountPeriod?
    /// Whether nothing was read yet: there was no poll, or none since the account was replaced.
    private(set) var isBlank = true
    private(set) var records: [Record] = []
    /// Records of the query that cannot be decoded, in the order of their ids.
    private(set) var unreadable: [DataAPI.UnreadableRecord] = []
    /// For each record the `changeCount` of the state in which it was added or last changed.
    private(set) var changeNumbers: [Int] = []
    /// Counts the polls that have found changes, from 1.
    private(set) var changeCount = 0
    /// Counts the polls after which the records are not all as they were stored before, including those with nothing to
    /// publish.
    private(set) var updateCount = 0
    /// Counts the replacements of the file, for example by a restored copy, and of the account.
    private(set) var replacementCount = 0
    private(set) var origin = DataAPI.Freshness.Origin.snapshot
    /// Whether the table did not change while it was read.
    private(set) var isComplete = true
    /// How the last poll has detected changes.
    private(set) var watch = DataAPI.LiveWatch.automatic
    /// When the poll began.
    private(set) var asOf = NIODeadline.uptimeNanoseconds(0)
    /// The change sets that lead to this state, while subscribers are notified of it.
    private(set) var sharedChanges = SharedChanges<R>()
    /// Why records were removed, for the most recent removals.
    private(set) var reasons: [Int: Reason] = [:]
    private var reasonOrder = CircularBuffer<Int>()

    /// How many removals are remembered for slow subscribers.
    private static var rememberedRemovals: Int { 10_000 }

    private mutating func note(_ reason: Reason, of id: Int) {
        if reasons.updateValue(reason, forKey: id) == nil { reasonOrder.append(id) }
        while reasonOrder.count > Self.rememberedRemovals, let oldest = reasonOrder.popFirst() {
            reasons[oldest] = nil
        }
    }

    /// For each record, whether it was added or changed since an earlier state.
    func isNew(since earlier: LiveState) -> [Bool] { changeNumbers.map { $0 > earlier.changeCount } }

    /// Whether a poll has found these records in this order and in these versions, as most polls do.
    func isConfirmed(by findings: PollFindings<R>) -> Bool {
        guard !isBlank, !findings.isOfOtherFile, findings.isInconsistent != isComplete else { return false }
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

    /// The ids of all records that the query finds, as far as known: those of its records, in its order, then those of
    /// the undecodable ones.
    var ids: [Int] { records.map(\.recordId) + unreadable.map(\.recordId) }

    /// The modIds by record id.
    var modIds: [Int: Int] {
        Dictionary(
            records.map { ($0.recordId, $0.modId) } + unreadable.map { ($0.recordId, $0.modId) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}

/// The versions of a live query's records, for a poll.
final class LiveVersions<R: RecordFields>: HeldVersions {
    private let state: LiveState<R>
    let undecodable: Set<Int>
    /// By record id; built when a record is not at its expected place.
    private let byID = NIOLockedValueBox<[Int: Int]?>(nil)

    init(_ state: LiveState<R>) {
        self.state = state
        undecodable = Set(state.unreadable.map(\.recordId))
    }

    var isBlank: Bool { state.isBlank }
    var count: Int { state.records.count + state.unreadable.count }

    func modId(of id: Int, near place: Int) -> Int? {
        if place < state.records.count, state.records[place].recordId == id { return state.records[place].modId }
        return byID.withLockedValue { byID in
            let modIds = byID ?? state.modIds
            byID = modIds
            return modIds[id]
        }
    }
}

/// Decides when a record counts as changed.
struct ChangePolicy<R: RecordFields>: Sendable {
    typealias Record = DataAPI.TypedLayout<R>.Record

    /// Whether a commit that left the contents equal is ignored.
    var ignoresEqual = false
    /// Whether contents that changed without a commit of the record count: portals, unstored calculations.
    var seesUncommitted = false
    /// Whether two versions of a record have equal contents.
    var areEqual: @Sendable (Record, Record) -> Bool

    func isChanged(_ old: Record, _ new: Record) -> Bool {
        if old.modId == new.modId { return seesUncommitted && !areEqual(old, new) }
        return !(ignoresEqual && areEqual(old, new))
    }
}

extension LiveState {
    /// The state when another account begins to poll: nothing is known. It is published only if there was an earlier
    /// state to replace.
    func begunAnew(in accountPeriod: AccountPeriod) -> LiveState {
        var next = LiveState()
        next.accountPeriod = accountPeriod
        guard changeCount > 0 else { return next }
        next.changeCount = changeCount + 1
        next.updateCount = updateCount + 1
        next.replacementCount = replacementCount + 1
        next.origin = .reset
        next.asOf = asOf
        return next
    }

    /// The state after an accepted poll, and whether it has anything to publish.
    ///
    /// - Parameters:
    ///   - accountPeriod: that of the poll; the same as the state's, if that has one.
    ///   - gone: the confirmed removals among the records that the poll has not found, with their reasons.
    ///   - overtaken: ids that were written after the poll began: the poll's versions of them are out of date.
    func next(
        _ findings: PollFindings<R>,
        gone: [Int: Reason],
        overtaken: Set<Int>,
        _ policy: ChangePolicy<R>,
        origin: DataAPI.Freshness.Origin,
        asOf: NIODeadline,
        in accountPeriod: AccountPeriod? = nil
    ) -> (state: LiveState, isNews: Bool) {
        var next = self
        next.accountPeriod = accountPeriod
        next.isBlank = false
        next.origin = isBlank ? .snapshot : origin
        next.asOf = asOf
        next.isComplete = !findings.isInconsistent
        next.watch = findings.strategy.watch
        if !policy.seesUncommitted, gone.isEmpty, isConfirmed(by: findings) { return (next, false) }
        next.changeCount += 1
        next.updateCount += 1
        next.records = []
        next.changeNumbers = []
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
        // In one and the same file a modId never falls: the file was replaced by a copy.
        let isOtherFile =
            findings.isOfOtherFile
            || findings.read.contains { attempt in
                guard let place = places[attempt.version.recordId], !overtaken.contains(attempt.version.recordId) else {
                    return false
                }
                return attempt.version.modId < records[place].modId
            }
        if isOtherFile {
            next.replacementCount += 1
            next.origin = .reset
        }
        var seen: Set<Int> = []
        let order = findings.order ?? order(with: findings.read)
        next.records.reserveCapacity(order.count)
        next.changeNumbers.reserveCapacity(order.count)
        for id in order where seen.insert(id).inserted {
            let held = places[id].map { (record: records[$0], changeNumber: changeNumbers[$0]) }
            let read = overtaken.contains(id) ? nil : reads[id].map { findings.read[$0] }
            switch (held, read) {
            case (nil, nil):
                // A record that was written during the poll and is not stored yet comes with the next poll.
                if let record = bad[id] { next.unreadable.append(record) }
            // If it was written during the poll, the version that was read is out of date.
            case (let held?, nil): next.append(held.record, held.changeNumber)
            case (nil, .record(let read)?): next.append(read, next.changeCount)
            case (let held, .unreadable(let read)?):
                next.unreadable.append(read)
                if held != nil { next.note(.unreadable, of: id) }
            case (let held?, .record(let read)?):
                if isOtherFile || policy.isChanged(held.record, read) {
                    next.append(read, next.changeCount)
                } else {
                    // An unchanged record stays the same value, except for the modId of a commit that left its contents
                    // equal.
                    next.append(held.record.modId == read.modId ? held.record : read, held.changeNumber)
                }
            }
            bad[id] = nil
        }
        // Records that were not found but are not confirmed as removed stay at their place, as far as possible.
        for (place, record) in records.enumerated()
        where !seen.contains(record.recordId) && gone[record.recordId] == nil {
            let place = min(place, next.records.count)
            next.records.insert(record, at: place)
            next.changeNumbers.insert(changeNumbers[places[record.recordId] ?? 0], at: place)
        }
        next.unreadable += bad.values.filter { gone[$0.recordId] == nil }
        next.unreadable.sort { $0.recordId < $1.recordId }
        for (id, reason) in gone { next.note(reason, of: id) }
        let isSame =
            next.changeNumbers == changeNumbers && next.records.count == records.count
            && zip(next.records, records).allSatisfy { $0.recordId == $1.recordId }
            && next.unreadable.elementsEqual(unreadable) { $0.recordId == $1.recordId && $0.modId == $1.modId }
            // That the list is complete again has to be published, too.
            && (isComplete || !next.isComplete)
        let isNews = isBlank || isOtherFile || !isSame
        if isNews { next.sharedChanges = SharedChanges() } else { next.changeCount = changeCount }
        return (next, isNews)
    }

    /// The ids as they are stored, with the new ones: if records are in rising order of their ids, which is the order
    /// of creation, new ones are inserted at their place, else at the end.
    private func order(with read: [RecordAttempt<R, R.Portals>]) -> [Int] {
        let ids = records.map(\.recordId)
        // An undecodable record has no place: it comes like a new one when it can be decoded.
        let arrivals = Set((unreadable.map(\.recordId) + read.map(\.version.recordId))).subtracting(ids).sorted()
        guard !arrivals.isEmpty else { return ids }
        let isRising = zip(records, records.dropFirst()).allSatisfy { $0.recordId < $1.recordId }
        return isRising ? (ids + arrivals).sorted() : ids + arrivals
    }

    private mutating func append(_ record: Record, _ changeNumber: Int) {
        records.append(record)
        changeNumbers.append(changeNumber)
    }
}

/// The change sets that lead to one state of a live query from earlier ones. While subscribers are notified, each is
/// computed once for all subscribers that have the same earlier state.
final class SharedChanges<R: RecordFields>: Sendable {
    /// Change sets by the `LiveState.updateCount` of the earlier state; `nil` when all subscribers were notified.
    private let known = NIOLockedValueBox<[Int: DataAPI.ChangeSet<R>]?>([:])

    func since(_ updateCount: Int, _ workOut: () -> DataAPI.ChangeSet<R>) -> DataAPI.ChangeSet<R> {
        if let changes = known.withLockedValue({ $0?[updateCount] }) { return changes }
        let changes = workOut()
        known.withLockedValue { $0?[updateCount] = changes }
        return changes
    }

    /// Ends the sharing. Later subscribers compute their change sets themselves, so that removed records are not kept
    /// alive here.
    func allAreTold() {
        let told = known.withLockedValue { known in
            defer { known = nil }
            return known
        }
        // Records are of the user's types, whose code may run when they are released: release them outside of the lock.
        withExtendedLifetime(told) {}
    }
}
