import NIOCore

/// The requests that wait for a session, first come, first served. Removing one from the middle costs a binary search;
/// its place stays, is skipped, and is swept when empty places are the majority.
struct LeaseQueue {
    struct Entry: Equatable {
        let id: LeaseID
        let purpose: LeasePurpose
        /// A replay needs a session that was good at this epoch or later.
        let goodSince: TokenEpoch
        /// When the request was made.
        let since: NIODeadline
        let deadline: NIODeadline
        /// The limit that `deadline` comes from.
        let limit: WaitingLimit
    }

    /// The limit of a request's waiting time.
    enum WaitingLimit: Equatable {
        /// The pool's `waitingDeadline`, the same for all requests.
        case pool
        /// The `timeouts.total` of the request's call.
        case call
    }

    private struct Slot {
        let entry: Entry
        var isTaken = true
    }

    /// Sorted by id, since ids are given in order of arrival.
    private var places = CircularBuffer<Slot>()
    private(set) var count = 0
    /// The number of waiting requests for a session of their own.
    private(set) var pinnedCount = 0
    /// No deadline is earlier than this one; `nil` when the queue is empty. The request with this deadline may have
    /// left: the next deadline is determined when this one has passed, not with each request that leaves.
    private(set) var earliestDeadline: NIODeadline?

    var isEmpty: Bool { count == 0 }

    /// The oldest request.
    var first: Entry? { places.first?.entry }

    mutating func append(_ entry: Entry) {
        places.append(Slot(entry: entry))
        countIn(entry, 1)
        earliestDeadline = min(earliestDeadline ?? entry.deadline, entry.deadline)
    }

    /// Removes the request; `nil` when it does not wait (any more).
    mutating func remove(_ id: LeaseID) -> Entry? {
        guard let index = index(of: id), places[index].isTaken else { return nil }
        let entry = places[index].entry
        places[index].isTaken = false
        countIn(entry, -1)
        sweep()
        return entry
    }

    /// Removes the requests whose deadline has passed, and returns them in order.
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

    /// The request with this many others before it.
    func entry(at position: Int) -> Entry? {
        if position == 0 { return first }
        return places.lazy.filter(\.isTaken).dropFirst(position).first?.entry
    }

    /// The request for a session of its own that has this many others of that kind before it.
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

    private func index(of id: LeaseID) -> CircularBuffer<Slot>.Index? {
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
