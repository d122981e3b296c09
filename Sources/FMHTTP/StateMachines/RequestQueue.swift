internal import NIOCore

/// The requests that wait for a connection, in order of arrival. Removal from the middle needs no search.
struct RequestQueue: Equatable {
    struct Entry: Equatable {
        let id: RequestID
        let reuse: PoolStateMachine.Reuse
        let deadline: PoolStateMachine.QueueDeadline?
    }

    /// A removed request leaves a hole, which is dropped when it reaches the front.
    private var entries = CircularBuffer<Entry?>()
    /// The position of each request, counted from the first one ever.
    private var positions: [RequestID: Int] = [:]
    private var droppedCount = 0

    var count: Int { positions.count }

    mutating func append(_ entry: Entry) {
        positions[entry.id] = droppedCount + entries.count
        entries.append(entry)
    }

    @discardableResult
    mutating func remove(_ id: RequestID) -> Bool {
        guard let position = positions.removeValue(forKey: id) else { return false }
        entries[offset: position - droppedCount] = nil
        dropHoles()
        return true
    }

    /// Removes and returns the first request that satisfies the condition.
    mutating func popFirst(where condition: (Entry) -> Bool = { _ in true }) -> Entry? {
        guard let entry = entries.lazy.compactMap({ $0 }).first(where: condition) else { return nil }
        remove(entry.id)
        return entry
    }

    mutating func removeAll(where condition: (Entry) -> Bool = { _ in true }) -> [Entry] {
        let removed = entries.compactMap { $0 }.filter(condition)
        for entry in removed { remove(entry.id) }
        return removed
    }

    var earliestDeadline: NIODeadline? { entries.lazy.compactMap { $0?.deadline?.deadline }.min() }

    private mutating func dropHoles() {
        while let first = entries.first, first == nil {
            entries.removeFirst()
            droppedCount += 1
        }
    }
}

extension CircularBuffer {
    fileprivate subscript(offset offset: Int) -> Element {
        get { self[index(startIndex, offsetBy: offset)] }
        set { self[index(startIndex, offsetBy: offset)] = newValue }
    }
}
