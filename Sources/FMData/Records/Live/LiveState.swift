import NIOCore

/// The records of a live query as one look has left them.
struct LiveState<R: RecordFields>: Sendable {
    typealias Record = DataAPI.TypedLayout<R>.Record
    typealias Reason = DataAPI.ChangeSet<R>.Removal.Reason

    /// Of the account that has looked; `nil` as long as nobody has.
    private(set) var tenure: Tenure?
    /// Whether nothing has been seen yet: there was no look, or none since the account was replaced.
    private(set) var isBlank = true
    private(set) var records: [Record] = []
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

    /// Whether a look has found these records in this order, and none of them in another version: most looks.
    func isConfirmed(by findings: LookFindings<R>) -> Bool {
        guard !isBlank, findings.order.elementsEqual(records.lazy.map(\.recordId)) else { return false }
        return findings.read.isEmpty
            || findings.read.elementsEqual(records) { $0.recordId == $1.recordId && $0.modId == $1.modId }
    }

    /// Those of the versions that are not held.
    func changed(in versions: [RecordVersion]) -> [Int] {
        // Most looks find what is held, in its order.
        let start = zip(versions, records).prefix { $0.id == $1.recordId && $0.modId == $1.modId }.count
        guard start < versions.count else { return [] }
        let held = self.versions
        return versions[start...].filter { held[$0.id] != $0.modId }.map(\.id)
    }

    /// The modIds by record id.
    var versions: [Int: Int] {
        Dictionary(records.map { ($0.recordId, $0.modId) }, uniquingKeysWith: { first, _ in first })
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

    /// What a look that has been accepted leads to; `nil` when there is nothing to tell.
    ///
    /// - Parameters:
    ///   - tenure: of the account that has looked: that of the state, if it has one.
    ///   - gone: records that the look has not found and that are sure to be gone, with why.
    ///   - overtaken: ids that were written after the look began: what the look says of them is out of date.
    func next(
        _ findings: LookFindings<R>,
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
        if !policy.seesUncommitted, gone.isEmpty, isConfirmed(by: findings) { return (next, false) }
        next.version += 1
        next.edition += 1
        next.records = []
        next.revisions = []
        let places = Dictionary(
            records.enumerated().map { ($1.recordId, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let reads = Dictionary(
            findings.read.enumerated().map { ($1.recordId, $0) },
            uniquingKeysWith: { _, last in last }
        )
        // An id whose modId falls is another record: of a copy that was put in the place of the file.
        let isOtherFile = findings.order.contains { id in
            guard let place = places[id], let read = reads[id], !overtaken.contains(id) else { return false }
            return findings.read[read].modId < records[place].modId
        }
        if isOtherFile { next.epoch += 1 }
        var seen: Set<Int> = []
        for id in findings.order where seen.insert(id).inserted {
            let held = places[id].map { (record: records[$0], revision: revisions[$0]) }
            // What is said of a record that was written meanwhile is out of date; one that is not held yet waits for the next look.
            let read = overtaken.contains(id) ? held?.record : reads[id].map { findings.read[$0] }
            switch (held, read) {
            case (nil, nil): continue
            case (let held?, nil): next.append(held.record, held.revision)
            case (nil, let read?): next.append(read, next.version)
            case (let held?, let read?):
                if isOtherFile || policy.isChanged(held.record, read) {
                    next.append(read, next.version)
                } else {
                    // What has not changed stays the same value, but for a modId that counts a commit of nothing.
                    next.append(held.record.modId == read.modId ? held.record : read, held.revision)
                }
            }
        }
        // What was not found, and is not sure to be gone, stays where it was as far as that can be told.
        for (place, record) in records.enumerated()
        where !seen.contains(record.recordId) && gone[record.recordId] == nil {
            let place = min(place, next.records.count)
            next.records.insert(record, at: place)
            next.revisions.insert(revisions[places[record.recordId] ?? 0], at: place)
        }
        for (id, reason) in gone { next.note(reason, of: id) }
        let isSame =
            next.revisions == revisions && next.records.count == records.count
            && zip(next.records, records).allSatisfy { $0.recordId == $1.recordId }
        let isNews = isBlank || isOtherFile || !isSame
        if isNews { next.sharedChanges = SharedChanges() } else { next.version = version }
        return (next, isNews)
    }

    private mutating func append(_ record: Record, _ revision: Int) {
        records.append(record)
        revisions.append(revision)
    }
}

/// What a look has found.
struct LookFindings<R: RecordFields>: Sendable {
    typealias Record = DataAPI.TypedLayout<R>.Record

    /// The ids of the query's records, in its order.
    var order: [Int] = []
    /// Those that were read. Others are as they are held.
    var read: [Record] = []
    /// Whether the table changed while it was being read.
    var isTorn = false
    /// Whether fewer came than the host had counted.
    var isShort = false
    /// What the next look has to know.
    var memory = LookMemory()
}

/// Which version of which record.
struct RecordVersion: Hashable, Sendable {
    let id: Int
    let modId: Int
}

/// What a way to look remembers from one look to the next.
struct LookMemory: Sendable, Equatable {
    /// The greatest modification stamp that was dealt with.
    var mark: FMTimestamp?
    /// The versions of the records, whether they are the query's or not, that the overlap brings again and that were dealt with.
    var stamped: [Int: Int] = [:]
    /// The greatest serial number of the log that was dealt with.
    var serial: Int?
    /// Looks so far, or since the ids of all records were compared.
    var looks = 0
    /// The ids and versions of the records of a related table.
    var related: [RecordVersion]?
}
