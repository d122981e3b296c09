/// The versions of the records of a copy, by their ids: 16 bytes each, and an eighth of that as room for more.
struct CopyVersions: Sendable {
    private var ids: [Int] = []
    private var modIds: [Int] = []

    var count: Int { ids.count }
    var isEmpty: Bool { ids.isEmpty }

    /// The greatest id.
    var last: Int? { ids.last }

    func modId(of id: Int) -> Int? {
        let place = place(of: id)
        return place < ids.count && ids[place] == id ? modIds[place] : nil
    }

    /// The place of an id, or the one at which it would stand.
    private func place(of id: Int) -> Int {
        if let last = ids.last, id > last { return ids.count }
        var (lower, upper) = (0, ids.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if ids[middle] < id { lower = middle + 1 } else { upper = middle }
        }
        return lower
    }

    /// Takes in versions, in place of those of the same records.
    mutating func insert(_ versions: [DataAPI.RecordVersion]) {
        // Of a page that was read in the order of creation all are behind those that are known.
        var others: [DataAPI.RecordVersion] = []
        for version in versions {
            let place = place(of: version.recordId)
            if place == ids.count {
                append(version.recordId, version.modId)
            } else if ids[place] == version.recordId {
                modIds[place] = version.modId
            } else {
                others.append(version)
            }
        }
        if !others.isEmpty { merge(others) }
    }

    private mutating func merge(_ versions: [DataAPI.RecordVersion]) {
        var new: [Int: Int] = [:]
        for version in versions { new[version.recordId] = version.modId }
        var arrivals = new.sorted { $0.key < $1.key }[...]
        var merged = CopyVersions()
        merged.ids.reserveCapacity(ids.count + arrivals.count)
        merged.modIds.reserveCapacity(ids.count + arrivals.count)
        for (id, modId) in zip(ids, modIds) {
            while let arrival = arrivals.first, arrival.key < id {
                merged.append(arrival.key, arrival.value)
                arrivals.removeFirst()
            }
            merged.append(id, modId)
        }
        for arrival in arrivals { merged.append(arrival.key, arrival.value) }
        self = merged
    }

    private mutating func append(_ id: Int, _ modId: Int) {
        // By itself an array grows to twice its size, which is memory for as many records again.
        if ids.count == ids.capacity {
            let room = ids.count + max(64, ids.count / 8)
            ids.reserveCapacity(room)
            modIds.reserveCapacity(room)
        }
        ids.append(id)
        modIds.append(modId)
    }

    mutating func remove(_ gone: Set<Int>) {
        guard !gone.isEmpty else { return }
        var rest = CopyVersions()
        rest.ids.reserveCapacity(ids.count)
        rest.modIds.reserveCapacity(ids.count)
        for (id, modId) in zip(ids, modIds) where !gone.contains(id) { rest.append(id, modId) }
        self = rest
    }

    /// Those that a list of all ids lacks, rising.
    func missing(in list: [Int]) -> [Int] {
        // Found sets that are not sorted rise by their ids.
        let isRising = zip(list, list.dropFirst()).allSatisfy { $0 < $1 }
        var listed = (isRising ? list : list.sorted())[...]
        var missing: [Int] = []
        for id in ids {
            while let first = listed.first, first < id { listed.removeFirst() }
            if listed.first != id { missing.append(id) }
        }
        return missing
    }
}

/// As a poll asks for them. What the poll itself passes on is known from then on.
struct CopyKnowledge: HeldVersions {
    let isBlank: Bool
    let count: Int
    let modId: @Sendable (Int) -> Int?

    func modId(of id: Int, near place: Int) -> Int? { modId(id) }
}
