extension DatabaseModel {
    /// The shortest path through the relationship graph; nil if the two occurrences are not connected.
    func path(from start: Int, to target: Int) -> [Hop]? {
        if start == target { return [] }
        var arrivals: [Int: (previous: Int, hop: Hop)] = [:]
        var frontier = [start]
        while !frontier.isEmpty {
            var next: [Int] = []
            for occurrence in frontier {
                for (index, relationship) in relationships.enumerated() {
                    let hop = Hop(relationship: index, isForward: relationship.left.occurrence == occurrence)
                    guard relationship.near(hop).occurrence == occurrence else { continue }
                    let neighbour = relationship.far(hop).occurrence
                    guard neighbour != start, arrivals[neighbour] == nil else { continue }
                    arrivals[neighbour] = (occurrence, hop)
                    next.append(neighbour)
                }
            }
            if arrivals[target] != nil { break }
            frontier = next
        }
        var path: [Hop] = []
        var place = target
        while place != start {
            guard let arrival = arrivals[place] else { return nil }
            path.insert(arrival.hop, at: 0)
            place = arrival.previous
        }
        return path
    }

    /// A field of another occurrence, as seen from `start`.
    func reference(to occurrence: String, field: String, from start: Int, tables: [TableModel]) -> FieldReference? {
        guard
            let target = occurrenceIndexes[occurrence],
            let table = occurrences[target].table,
            let index = tables[table].fieldIndexes[field],
            let path = path(from: start, to: target)
        else { return nil }
        return FieldReference(path: path, occurrence: target, table: table, field: index)
    }
}
