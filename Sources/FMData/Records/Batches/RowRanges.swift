/// Places of rows, kept as ranges: a million rows that are done are one range.
struct RowRanges: Hashable, Sendable {
    /// In order, with a gap between any two.
    private(set) var ranges: [Range<Int>] = []

    func contains(_ row: Int) -> Bool {
        let place = place(of: row)
        return place < ranges.count && ranges[place].contains(row)
    }

    mutating func insert(_ row: Int) {
        let place = place(of: row)
        if place < ranges.count, ranges[place].contains(row) { return }
        let joinsLeft = place > 0 && ranges[place - 1].upperBound == row
        let joinsRight = place < ranges.count && ranges[place].lowerBound == row + 1
        switch (joinsLeft, joinsRight) {
        case (true, true): ranges[place - 1] = ranges[place - 1].lowerBound..<ranges.remove(at: place).upperBound
        case (true, false): ranges[place - 1] = ranges[place - 1].lowerBound..<row + 1
        case (false, true): ranges[place] = row..<ranges[place].upperBound
        case (false, false): ranges.insert(row..<row + 1, at: place)
        }
    }

    mutating func remove(_ row: Int) {
        let place = place(of: row)
        guard place < ranges.count, ranges[place].contains(row) else { return }
        let range = ranges[place]
        let rest = [range.lowerBound..<row, row + 1..<range.upperBound].filter { !$0.isEmpty }
        ranges.replaceSubrange(place...place, with: rest)
    }

    /// The first range that does not end before the row.
    private func place(of row: Int) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= row { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension RowRanges: Codable {
    /// Reads pairs of the first row and the one behind the last. What somebody has changed by hand need not be in order.
    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var read: [Range<Int>] = []
        while !container.isAtEnd {
            let pair = try container.decode([Int].self)
            guard pair.count == 2, pair[0] <= pair[1] else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a range of rows")
            }
            read.append(pair[0]..<pair[1])
        }
        for range in read.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = ranges.last, range.lowerBound <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                ranges.append(range)
            }
        }
    }

    /// Writes what ``init(from:)`` reads.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for range in ranges { try container.encode([range.lowerBound, range.upperBound]) }
    }
}
