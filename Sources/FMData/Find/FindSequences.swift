/// Sequences of requests from the alternatives of a find, for finds of any length.
///
/// A request adds records, an omit takes away from *everything* found before it. So `(a && !b) || c` must be
/// `a, omit b, c`: with the omit at the end, records that fulfil c and b would be lost.
struct FindSequences {
    /// Alternatives that exclude the same.
    struct Group {
        /// Conjunctions one of which must hold, in the order in which they were written.
        var tests: [[Int]]
        var exclusions: Set<[Int]>
    }

    /// A request of numbered tests.
    struct Step {
        var tests: [Int]
        var isOmit: Bool
    }

    /// In the order in which they go in a row: groups that exclude more before groups that exclude less.
    static func groups(_ alternatives: [FindNormalForm.Alternative]) -> [Group] {
        var groups: [Group] = []
        var indices: [Set<[Int]>: Int] = [:]
        for alternative in alternatives {
            if let index = indices[alternative.exclusions] {
                groups[index].tests.append(alternative.tests)
            } else {
                indices[alternative.exclusions] = groups.count
                groups.append(Group(tests: [alternative.tests], exclusions: alternative.exclusions))
            }
        }
        return inOrder(groups)
    }

    /// In a row, the first group excludes what all others do, the second what all but the first do, and so on.
    static func inOrder(_ groups: [Group]) -> [Group] {
        let ranks = groups.map { group in groups.count { group.excludesAll(of: $0.exclusions) } }
        return groups.indices.sorted { (ranks[$1], $0) < (ranks[$0], $1) }.map { groups[$0] }
    }

    /// The groups one after the other, after each the omits that the next no longer wants. When each group excludes all
    /// that the next one does, no omit harms what came before it, since that excludes it as well. `nil` otherwise.
    static func inARow(_ groups: [Group]) -> [Step]? {
        var steps: [Step] = []
        for (index, group) in groups.enumerated() {
            let next = index + 1 < groups.count ? groups[index + 1].exclusions : []
            guard group.excludesAll(of: next) else { return nil }
            // All records are where FileMaker starts when the first request is an omit. An alternative without tests is
            // the first: any before it would exclude more and so be part of it.
            steps += group.tests.filter { !$0.isEmpty }.map { Step(tests: $0, isOmit: false) }
            steps += inOrder(group.exclusions.subtracting(next)).map { Step(tests: $0, isOmit: true) }
        }
        return steps
    }

    /// For groups that exclude different records: each selection of groups, from the small to the large, adds what all of
    /// its groups have in common, and takes away of that what all of them exclude. About a record the last selection
    /// decides whose groups it belongs to, which is that of all its groups: there it stays unless every one of them
    /// excludes it. Groups that exclude nothing come last, as one after which nothing is taken away.
    ///
    /// - Returns: `nil` when it takes more than `limit` requests, or one with two criteria for a field.
    static func inLayers(_ groups: [Group], of form: inout FindNormalForm, limit: Int) -> [Step]? {
        let (last, excluding) = (groups.filter(\.exclusions.isEmpty), groups.filter { !$0.exclusions.isEmpty })
        // All records are where FileMaker starts, and cannot be added later.
        guard excluding.count < 12, !excluding.dropFirst().contains(where: { $0.tests.contains([]) }) else {
            return nil
        }
        var steps: [Step] = []
        let selections = (1..<1 << excluding.count).sorted { ($0.nonzeroBitCount, $0) < ($1.nonzeroBitCount, $1) }
        for selection in selections {
            let selected = excluding.indices.filter { selection >> $0 & 1 == 1 }.map { excluding[$0] }
            var common = [[Int]()]
            for group in selected {
                guard let product = form.conjunctions(common, and: group.tests, limit: limit) else { return nil }
                common = product
            }
            var omitted = selection == 1 ? [[]] : common
            for group in selected {
                guard let product = form.conjunctions(omitted, and: inOrder(group.exclusions), limit: limit) else {
                    return nil
                }
                omitted = product
            }
            steps += common.filter { !$0.isEmpty }.map { Step(tests: $0, isOmit: false) }
            steps += omitted.map { Step(tests: $0, isOmit: true) }
            guard steps.count <= limit else { return nil }
        }
        return steps + last.flatMap(\.tests).map { Step(tests: $0, isOmit: false) }
    }

    static func inOrder(_ conjunctions: Set<[Int]>) -> [[Int]] {
        conjunctions.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension FindSequences.Group {
    /// Whether no record of this one fulfils any of these conjunctions.
    fileprivate func excludesAll(of conjunctions: Set<[Int]>) -> Bool {
        FindNormalForm.Alternative(exclusions: exclusions).excludesAll(of: conjunctions)
    }
}

extension FindNormalForm {
    /// Each of some conjunctions with each of others, without those that contradict themselves. `nil` when there are more
    /// than `limit`, or when one needs two criteria for a field.
    fileprivate mutating func conjunctions(_ some: [[Int]], and others: [[Int]], limit: Int) -> [[Int]]? {
        guard some.count * others.count <= 4 * limit else { return nil }
        var product: [[Int]] = []
        for left in some {
            for right in others {
                guard let alternative = simplified(Alternative(tests: Set(left + right).sorted())) else { continue }
                let joined = joined(alternative.tests)
                guard joined.count <= 1, joined.first?.excluded.isEmpty != false else { return nil }
                let tests = joined.first?.tests ?? []
                if !product.contains(tests) { product.append(tests) }
            }
        }
        return product.count <= limit ? product : nil
    }
}
