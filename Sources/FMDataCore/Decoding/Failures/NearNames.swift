import Foundation

/// Finds the names that may have been meant by a misspelled one: one with a letter too many, too few or replaced, with
/// two letters swapped, in other case, with other white space, or with the table left out or added.
///
/// The names come from a server, so the work is bounded for any number and length of them.
enum NearNames {
    private static let maximumBytes = 400
    private static let maximumNames = 2_000
    private static let maximumOffers = 3

    /// The nearest names, in their given order; empty if none is near.
    static func near(_ name: String, among names: some Sequence<String>) -> [String] {
        guard name.utf8.count <= maximumBytes else { return [] }
        let wanted = Spelling(name)
        var least = wanted.tolerance
        var offers: [String] = []
        for candidate in names.prefix(maximumNames) where candidate.utf8.count <= maximumBytes {
            guard let distance = wanted.distance(to: Spelling(candidate), atMost: least) else { continue }
            if distance < least { offers.removeAll() }
            least = distance
            if offers.count < maximumOffers, !offers.contains(candidate) { offers.append(candidate) }
        }
        return offers
    }

    /// A question that offers those of the `others` that may have been meant; `nil` if none is near.
    static func question(about names: [String], among others: [String]) -> String? {
        let near = names.flatMap { Self.near($0, among: others) }
        return near.isEmpty ? nil : "Did you mean \(near.map { "\"\($0)\"" }.joined(separator: " or "))?"
    }

    /// A name in the form used for comparison.
    private struct Spelling {
        let whole: ArraySlice<Unicode.Scalar>
        /// The part after the table.
        let plain: ArraySlice<Unicode.Scalar>

        init(_ name: String) {
            let form = name.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
            let scalars = Array(form.decomposedStringWithCanonicalMapping.unicodeScalars)
            whole = scalars[...]
            let colon = scalars.indices.dropLast().last { scalars[$0] == ":" && scalars[$0 + 1] == ":" }
            plain = colon.map { scalars[($0 + 2)...] } ?? whole
        }

        private var hasTable: Bool { plain.count < whole.count }

        /// The number of changes allowed. It is smaller for short names, which are all similar to each other.
        var tolerance: Int {
            switch plain.count {
            case ..<3: 0
            case 3..<6: 1
            default: 2
            }
        }

        /// The number of changes between the two names; `nil` if it is above the limit.
        func distance(to other: Spelling, atMost limit: Int) -> Int? {
            if let distance = NearNames.distance(whole, other.whole, atMost: limit) { return distance }
            guard hasTable || other.hasTable else { return nil }
            // Another table counts as a change. A table that is left out does not, since that is the most common
            // mistake.
            let penalty = hasTable && other.hasTable ? 1 : 0
            guard limit >= penalty else { return nil }
            return NearNames.distance(plain, other.plain, atMost: limit - penalty).map { $0 + penalty }
        }
    }

    /// The number of insertions, removals, replacements and swaps of neighbours between two texts; `nil` if it is above
    /// the limit. Only those cells of the table are computed that can lie within the limit.
    private static func distance(
        _ left: ArraySlice<Unicode.Scalar>,
        _ right: ArraySlice<Unicode.Scalar>,
        atMost limit: Int
    ) -> Int? {
        let left = Array(left)
        let right = Array(right)
        guard abs(left.count - right.count) <= limit else { return nil }
        let beyond = limit + 1
        var before: [Int] = []
        var above = (0...right.count).map { min($0, beyond) }
        for row in 0..<left.count {
            var current = [Int](repeating: beyond, count: right.count + 1)
            if row < limit { current[0] = row + 1 }
            for column in max(0, row - limit)..<min(right.count, row + limit + 1) {
                var cost = above[column] + (left[row] == right[column] ? 0 : 1)
                cost = min(cost, above[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                current[column + 1] = min(cost, beyond)
            }
            guard current.contains(where: { $0 <= limit }) else { return nil }
            (before, above) = (above, current)
        }
        return above[right.count] <= limit ? above[right.count] : nil
    }
}
