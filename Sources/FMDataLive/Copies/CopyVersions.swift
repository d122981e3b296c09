import FMDataCore
import FMDataRecords

/// The versions of a copy's records, sorted by id. Takes 16 bytes per record, and up to an eighth more as spare
/// capacity.
struct CopyVersions: Sendable {
    private var ids: [Int] = []
    private var modIds: [Int] = []

    var count: Int { ids.count }
    var isEmpty: Bool { ids.isEmpty }

    /// The greatest id.
    var last: Int? { ids.last }

    /// The greatest ids other than these.
    func greatest(_ count: Int, except others: Set<Int>) -> [Int] {
        Array(ids.lazy.reversed().filter { !others.contains($0) }.prefix(count))
    }

    func modId(of id: Int) -> Int? {
        let place = place(of: id)
        return place < ids.count && ids[place] == id ? modIds[place] : nil
    }

    /// The index of an id, or the index at which it would be inserted.
    private func place(of id: Int) -> Int {
        if let last = ids.last, id > last { return ids.count }
        var (lower, upper) = (0, ids.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if ids[middle] < id { lower = middle + 1 } else { upper = middle }
        }
        return lower
    }

    /// Adds versions, replacing those of the same records.
    mutating func insert(_ versions: [DataAPI.RecordVersion]) {
        // In a page read in the order of creation, all new ids are greater than the known ones.
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
        // By itself an array doubles its capacity, which would be memory for as many records again.
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

    /// The known ids that a complete list of ids lacks, in rising order.
    func missing(in list: [Int]) -> [Int] {
        // Unsorted found sets are in rising order of their ids.
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

/// The versions of a copy, for a poll. Records that the poll passes on become known at once.
struct CopyKnowledge: HeldVersions {
    let isBlank: Bool
    let count: Int
    let undecodable: Set<Int>
    let modId: @Sendable (Int) -> Int?

    func modId(of id: Int, near place: Int) -> Int? { modId(id) }
}
