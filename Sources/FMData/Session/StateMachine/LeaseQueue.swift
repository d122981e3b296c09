import NIOCore

/// The wishes that wait for a session, first come, first served. Leaving from the middle costs a binary search; places
/// that were left are skipped, and swept when they are the majority.
struct LeaseQueue {
    struct Entry: Equatable {
        let id: LeaseID
        let purpose: LeasePurpose
        /// A replay wants a session that was good at this epoch or later.
        let goodSince: TokenEpoch
        /// When it came.
        let since: NIODeadline
        let deadline: NIODeadline
        /// Whose limit `deadline` is.
        let limit: WaitingLimit
    }

    /// Who says how long a wish may wait.
    enum WaitingLimit: Equatable {
        /// The pool, by `waitingDeadline`: equally long for all.
        case pool
        /// The call that it is for, by `timeouts.total`.
        case call
    }

    private struct Place {
        let entry: Entry
        var isTaken = true
    }

    /// Sorted by id, since ids are given in order of arrival.
    private var places = CircularBuffer<Place>()
    private(set) var count = 0
    /// How many of them want a session of their own.
    private(set) var pinnedCount = 0
    /// No deadline is earlier than this one; `nil` when the queue is empty. The wish with this deadline may have left: the
    /// next one is looked for when this one has come, not with each wish that leaves.
    private(set) var earliestDeadline: NIODeadline?

    var isEmpty: Bool { count == 0 }

    /// Who came first.
    var first: Entry? { places.first?.entry }

    mutating func append(_ entry: Entry) {
        places.append(Place(entry: entry))
        countIn(entry, 1)
        earliestDeadline = min(earliestDeadline ?? entry.deadline, entry.deadline)
    }

    /// Takes the wish out; `nil` when it does not wait (any more).
    mutating func remove(_ id: LeaseID) -> Entry? {
        guard let index = index(of: id), places[index].isTaken else { return nil }
        let entry = places[index].entry
        places[index].isTaken = false
        countIn(entry, -1)
        sweep()
        return entry
    }

    /// Takes out those whose deadline has come, in order.
    mutating func removeLate(_ now: NIODeadline) -> [Entry] {
        guard let earliestDeadline, earliestDeadline <= now else { return [] }
        var late: [Entry] = []
        var next: NIODeadline?
        for index in places.indices where places[index].isTaken {
            let entry = places[index].entry
            if entry.deadline <= now {
                places[index].isTaken = false
                countIn(entry, -1)
                late.append(entry)
            } else {
                next = min(next ?? entry.deadline, entry.deadline)
            }
        }
        self.earliestDeadline = next
        sweep()
        return late
    }

    func first(where isFit: (Entry) -> Bool) -> Entry? {
        places.first { $0.isTaken && isFit($0.entry) }?.entry
    }

    /// The wish with this many others before it.
    func entry(at position: Int) -> Entry? {
        if position == 0 { return first }
        return places.lazy.filter(\.isTaken).dropFirst(position).first?.entry
    }

    /// Of those that want a session of their own, the one with this many others before it.
    func pinnedEntry(at position: Int) -> Entry? {
        places.lazy.filter { $0.isTaken && $0.entry.purpose == .pinned }.dropFirst(position).first?.entry
    }

    mutating func removeAll() -> [Entry] {
        defer {
            places.removeAll()
            count = 0
            pinnedCount = 0
            earliestDeadline = nil
        }
        return places.filter(\.isTaken).map(\.entry)
    }

    private mutating func countIn(_ entry: Entry, _ difference: Int) {
        count += difference
        if entry.purpose == .pinned { pinnedCount += difference }
    }

    private func index(of id: LeaseID) -> CircularBuffer<Place>.Index? {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[offset: middle].entry.id < id { low = middle + 1 } else { high = middle }
        }
        let index = places.index(places.startIndex, offsetBy: low)
        return low < places.count && places[index].entry.id == id ? index : nil
    }

    private mutating func sweep() {
        while let first = places.first, !first.isTaken {
            places.removeFirst()
        }
        if places.count > 2 * count + 16 {
            places = CircularBuffer(places.filter(\.isTaken))
        }
        if count == 0 { earliestDeadline = nil }
    }
}
