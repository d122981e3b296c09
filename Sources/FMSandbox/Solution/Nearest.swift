extension Sequence<String> {
    /// The word that was probably meant by `word`: the same in other case, or with at most two letters added, removed,
    /// replaced or swapped. nil if none is near enough.
    package func nearest(to word: String) -> String? {
        // A longer word is no typing error, and its sender could make the computation arbitrarily slow.
        guard word.utf8.count <= 64 else { return nil }
        let letters = Array(word.lowercased())
        let tolerance = Swift.min(2, letters.count / 3)
        return map { (name: $0, changes: changes(from: letters, to: Array($0.lowercased()))) }
            .filter { $0.changes <= tolerance }
            .min { $0.changes < $1.changes }?.name
    }
}

/// The number of letters that must be added, removed, replaced or swapped with their neighbours.
private func changes(from left: [Character], to right: [Character]) -> Int {
    var table = [Array(0...right.count)]
    for row in left.indices {
        table.append([row + 1])
        for column in right.indices {
            let replaced = table[row][column] + (left[row] == right[column] ? 0 : 1)
            var least = min(replaced, table[row][column + 1] + 1, table[row + 1][column] + 1)
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                least = min(least, table[row - 1][column - 1] + 1)
            }
            table[row + 1].append(least)
        }
    }
    return table[left.count][right.count]
}
