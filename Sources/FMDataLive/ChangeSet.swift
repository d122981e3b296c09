public import FMDataCore
public import FMDataRecords
public import Foundation

extension DataAPI {
    /// The difference between two values of a live query.
    ///
    /// There is at most one event per record. The index sets describe the same changes as the ids, for lists in a user
    /// interface: deletions are indices in the old value, insertions and modifications indices in the new one. A record
    /// that has moved is deleted at its old index and inserted at its new one, but not listed in ``inserted``.
    public struct ChangeSet<R: RecordFields>: Sendable {
        /// A record of the query's layout.
        public typealias Record = TypedLayout<R>.Record

        /// Records that were added, in the order of the new value.
        public var inserted: [Record]
        /// Records that were committed anew, in the order of the new value.
        public var updated: [Update]
        /// Records that are no longer among the query's, in the order of the old value.
        public var removed: [Removal]
        /// Records of the query that cannot be decoded, in versions that the previous value did not have. Those that
        /// could be decoded before are also in ``removed``, with ``RemovalReason/unreadable``.
        public var unreadable: [UnreadableRecord] = []
        /// Indices in the old value of records that were removed or have moved.
        public var deletions: IndexSet
        /// Indices in the new value of records that were added or have moved.
        public var insertions: IndexSet
        /// Indices in the new value of records that have changed but not moved.
        public var modifications: IndexSet

        /// A record that was committed.
        public struct Update: Sendable {
            /// The modId before the change.
            public var oldModId: Int
            /// The record as it is now.
            public var record: Record
        }

        /// A record that is no longer among the query's.
        public struct Removal: Sendable {
            /// The record's id.
            public var recordId: Int
            /// The record as last received; `nil` when that was in an earlier run or by another account.
            public var record: Record?
            /// Why it was removed.
            public var reason: RemovalReason
        }

        /// Whether nothing has changed.
        public var isEmpty: Bool {
            deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && unreadable.isEmpty
        }
    }

    /// Why a record is no longer among a query's. More may be added: a `switch` over it needs a `default`.
    public struct RemovalReason: Hashable, Sendable, CustomStringConvertible {
        /// The name of the reason.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// It was deleted from the table.
        public static let deleted = RemovalReason("deleted")
        /// It still exists, but does not match the query any more.
        public static let left = RemovalReason("left")
        /// Either of these: many records were removed at once, and they were not asked for one by one.
        public static let unknown = RemovalReason("unknown")
        /// It still exists, but cannot be decoded any more: ``ChangeSet/unreadable`` has the reason. A program that
        /// keeps a copy may keep its version.
        public static let unreadable = RemovalReason("unreadable")
    }
}

extension LiveState {
    /// The changes from an earlier state of the same live query to this one.
    func changes(since earlier: LiveState) -> DataAPI.ChangeSet<R> {
        sharedChanges.since(earlier.updateCount) { DataAPI.ChangeSet(from: earlier, to: self) }
    }
}

extension DataAPI.ChangeSet {
    fileprivate init(from old: LiveState<R>, to new: LiveState<R>) {
        let known = zip(old.records, old.changeNumbers).map {
            KnownRecord(id: $0.recordId, modId: $0.modId, changeNumber: $1)
        }
        let isSameAccount = old.accountPeriod === new.accountPeriod
        self.init(from: known, to: new) { isSameAccount ? old.records[$0] : nil }
        if isSameAccount {
            let told = Dictionary(old.unreadable.map { ($0.recordId, $0.modId) }, uniquingKeysWith: { $1 })
            unreadable.removeAll { told[$0.recordId] == $0.modId }
        }
    }

    /// What is known of a record before a change.
    struct KnownRecord {
        let id: Int
        let modId: Int
        /// The record's entry in `LiveState.changeNumbers`; `nil` when the record was known to another process, which
        /// tells versions apart by their modIds.
        var changeNumber: Int?
        /// A digest of its contents, if these can change without a commit.
        var contents: UInt64?
    }

    /// - Parameters:
    ///   - record: the record at an index of the old value, if it is known.
    ///   - contents: a digest of a record's contents.
    init(
        from old: [KnownRecord],
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
                known.changeNumber.map { $0 != new.changeNumbers[pair.new] }
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

/// The longest increasing subsequence of a list of distinct numbers: the elements that need not be moved when a list is
/// reordered.
///
/// Source: [Fredman, 1975](https://doi.org/10.1016/0012-365X(75)90103-X).
enum LongestRise {
    /// For each number, whether it belongs to the subsequence.
    static func members(of numbers: [Int]) -> [Bool] {
        // The usual case, in one pass.
        if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) {
            return [Bool](repeating: true, count: numbers.count)
        }
        /// For each length, the index of the smallest number that can end an increasing subsequence of that length.
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
