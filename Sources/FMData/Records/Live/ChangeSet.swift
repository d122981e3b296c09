public import Foundation

extension DataAPI {
    /// What became of a live query's records between two of its values.
    ///
    /// Per record there is one event at most. The index sets say the same as the ids, for lists on a screen: deletions are places
    /// in the old value, insertions and modifications places in the new one. A record that has moved is deleted at its old place
    /// and inserted at its new one; by its id it was not inserted.
    public struct ChangeSet<R: RecordFields>: Sendable {
        /// A record of the query's layout.
        public typealias Record = TypedLayout<R>.Record

        /// Records that have come, in the order of the new value.
        public var inserted: [Record]
        /// Records that were committed anew, in the order of the new value.
        public var updated: [Update]
        /// Records that are not among those of the query any more, in the order of the old value.
        public var removed: [Removal]
        /// Records of the query that cannot be decoded, in versions that the value before did not know. Those that could be
        /// decoded before are among the removed, with ``RemovalReason/unreadable``.
        public var unreadable: [UnreadableRecord] = []
        /// Places in the old value whose records are gone or elsewhere.
        public var deletions: IndexSet
        /// Places in the new value whose records were not there or elsewhere.
        public var insertions: IndexSet
        /// Places in the new value whose records have stayed and changed.
        public var modifications: IndexSet

        /// A record that was committed anew.
        public struct Update: Sendable {
            /// The modId before.
            public var oldModId: Int
            /// The record as it is now.
            public var record: Record
        }

        /// A record that has gone.
        public struct Removal: Sendable {
            /// Its id.
            public var recordId: Int
            /// The record as it was last seen; `nil` when that was before this program began, or by another account.
            public var record: Record?
            /// What became of it.
            public var reason: RemovalReason
        }

        /// Whether nothing has changed.
        public var isEmpty: Bool {
            deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && unreadable.isEmpty
        }
    }

    /// Why a record is not among those of a query any more.
    public enum RemovalReason: Hashable, Sendable {
        /// It is not in the table any more.
        case deleted
        /// It is still there, and the query does not find it any more.
        case left
        /// One or the other: many were gone at once, and they were not asked for one by one.
        case unknown
        /// It is still there, and cannot be decoded any more: ``ChangeSet/unreadable`` says why. A program that keeps
        /// a copy can keep what it has.
        case unreadable
    }
}

extension LiveState {
    /// What leads here from an earlier state of the same live query.
    func changes(since earlier: LiveState) -> DataAPI.ChangeSet<R> {
        sharedChanges.since(earlier.edition) { DataAPI.ChangeSet(from: earlier, to: self) }
    }
}

extension DataAPI.ChangeSet {
    fileprivate init(from old: LiveState<R>, to new: LiveState<R>) {
        let known = zip(old.records, old.revisions).map { Known(id: $0.recordId, modId: $0.modId, revision: $1) }
        let isSameAccount = old.tenure === new.tenure
        self.init(from: known, to: new) { isSameAccount ? old.records[$0] : nil }
        if isSameAccount {
            let told = Dictionary(old.unreadable.map { ($0.recordId, $0.modId) }, uniquingKeysWith: { $1 })
            unreadable.removeAll { told[$0.recordId] == $0.modId }
        }
    }

    /// What is known of a record before a change.
    struct Known {
        let id: Int
        let modId: Int
        /// `nil` when it was known by another process, which tells versions apart by their modIds.
        var revision: Int?
        /// A digest of its contents, where these can change without a commit.
        var contents: UInt64?
    }

    /// - Parameters:
    ///   - record: the record at a place of the old value, as far as it is known.
    ///   - contents: a digest of what a record holds.
    init(
        from old: [Known],
        to new: LiveState<R>,
        record: (Int) -> Record? = { _ in nil },
        contents: (Record) -> UInt64? = { _ in nil }
    ) {
        inserted = []
        updated = []
        removed = []
        deletions = []
        insertions = []
        modifications = []
        unreadable = new.unreadable
        if old.isEmpty {
            inserted = new.records
            insertions = IndexSet(integersIn: new.records.indices)
            return
        }
        let oldPlaces = Dictionary(old.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        let newIDs = Set(new.records.map(\.recordId))
        for (place, known) in old.enumerated() where !newIDs.contains(known.id) {
            let reason = new.reasons[known.id] ?? .unknown
            removed.append(Removal(recordId: known.id, record: record(place), reason: reason))
            deletions.insert(place)
        }
        let kept = new.records.enumerated().compactMap { place, record in
            oldPlaces[record.recordId].map { (old: $0, new: place) }
        }
        let stays = LongestRise.members(of: kept.map(\.old))
        for (index, pair) in kept.enumerated() {
            let (known, record) = (old[pair.old], new.records[pair.new])
            let isModified =
                known.revision.map { $0 != new.revisions[pair.new] }
                ?? (known.modId != record.modId || known.contents.map { $0 != contents(record) } ?? false)
            if isModified { updated.append(Update(oldModId: known.modId, record: record)) }
            if stays[index] {
                if isModified { modifications.insert(pair.new) }
            } else {
                deletions.insert(pair.old)
                insertions.insert(pair.new)
            }
        }
        for (place, record) in new.records.enumerated() where oldPlaces[record.recordId] == nil {
            inserted.append(record)
            insertions.insert(place)
        }
    }
}

/// The longest part of a list of different numbers that rises: what need not be moved when a list is put into another order.
///
/// Source: [Fredman, 1975](https://doi.org/10.1016/0012-365X(75)90103-X).
enum LongestRise {
    /// For each of the numbers whether it belongs to it.
    static func members(of numbers: [Int]) -> [Bool] {
        // The usual case, in one pass.
        if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) {
            return [Bool](repeating: true, count: numbers.count)
        }
        /// For each length the place of the smallest number that a rise of that length can end with.
        var ends: [Int] = []
        var predecessors = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            var (lower, upper) = (0, ends.count)
            while lower < upper {
                let middle = (lower + upper) / 2
                if numbers[ends[middle]] < number { lower = middle + 1 } else { upper = middle }
            }
            if lower > 0 { predecessors[index] = ends[lower - 1] }
            if lower == ends.count { ends.append(index) } else { ends[lower] = index }
        }
        var members = [Bool](repeating: false, count: numbers.count)
        var index = ends.last
        while let current = index {
            members[current] = true
            index = predecessors[current]
        }
        return members
    }
}
