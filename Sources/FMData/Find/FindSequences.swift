/// Builds sequences of requests from the alternatives of a find, for finds of any length.
///
/// A request adds records; an omit removes records from *everything* found before it. So `(a && !b) || c` must be
/// `a, omit b, c`: with the omit at the end, records that fulfil c and b would be lost.
struct FindSequences {
    /// Alternatives with the same exclusions.
    struct Group {
        /// Conjunctions one of which must hold, in the order in which they were written.
        var tests: [[Int]]
        var exclusions: Set<[Int]>
    }

    /// A request of numbered tests.
    struct NumberedRequest {
        var tests: [Int]
        var isOmit: Bool
    }

    /// The alternatives as groups, in the order for a row: groups that exclude more before groups that exclude less.
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

    /// Sorts groups for a row: the first group excludes everything that all others exclude, the second everything that
    /// all but the first exclude, and so on.
    static func inOrder(_ groups: [Group]) -> [Group] {
        let ranks = groups.map { group in groups.count { group.excludesAll(of: $0.exclusions) } }
        return groups.indices.sorted { (ranks[$1], $0) < (ranks[$0], $1) }.map { groups[$0] }
    }

    /// Joins the groups in order. Each is followed by the omits that the next group does not need. If each group
    /// excludes everything that the next one excludes, no omit removes wanted records found before it. `nil` otherwise.
    static func inARow(_ groups: [Group]) -> [NumberedRequest]? {
        var steps: [NumberedRequest] = []
        for (index, group) in groups.enumerated() {
            let next = index + 1 < groups.count ? groups[index + 1].exclusions : []
            guard group.excludesAll(of: next) else { return nil }
            // FileMaker starts with all records if the first request is an omit. An alternative without tests is always
            // the first, because one before it would exclude more and so be part of it.
            steps += group.tests.filter { !$0.isEmpty }.map { NumberedRequest(tests: $0, isOmit: false) }
            steps += inOrder(group.exclusions.subtracting(next)).map { NumberedRequest(tests: $0, isOmit: true) }
        }
        return steps
    }

    /// Builds a sequence for groups that exclude different records. Each selection of groups, from small to large, adds
    /// what its groups have in common, and removes from that what all of them exclude. The last selection that contains
    /// a record's groups decides about the record. That is the selection of all its groups: the record stays unless
    /// every one of them excludes it. Groups without exclusions come last, because nothing may be removed after them.
    ///
    /// - Returns: `nil` if it needs more than `limit` requests, or a request with two criteria for a field.
    static func inLayers(_ groups: [Group], of form: inout FindNormalForm, limit: Int) -> [NumberedRequest]? {
        let (last, excluding) = (groups.filter(\.exclusions.isEmpty), groups.filter { !$0.exclusions.isEmpty })
        // FileMaker can start with all records, but they cannot be added later.
        guard excluding.count < 12, !excluding.dropFirst().contains(where: { $0.tests.contains([]) }) else {
            return nil
        }
        var steps: [NumberedRequest] = []
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
            steps += common.filter { !$0.isEmpty }.map { NumberedRequest(tests: $0, isOmit: false) }
            steps += omitted.map { NumberedRequest(tests: $0, isOmit: true) }
            guard steps.count <= limit else { return nil }
        }
        return steps + last.flatMap(\.tests).map { NumberedRequest(tests: $0, isOmit: false) }
    }

    static func inOrder(_ conjunctions: Set<[Int]>) -> [[Int]] {
        conjunctions.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension FindSequences.Group {
    /// Whether no record of this group fulfils any of these conjunctions.
    fileprivate func excludesAll(of conjunctions: Set<[Int]>) -> Bool {
        FindNormalForm.Alternative(exclusions: exclusions).excludesAll(of: conjunctions)
    }
}

extension FindNormalForm {
    /// Combines each conjunction of one list with each of the other, without those that contradict themselves. `nil` if
    /// there are more than `limit`, or if one needs two criteria for a field.
    fileprivate mutating func conjunctions(_ some: [[Int]], and others: [[Int]], limit: Int) -> [[Int]]? {
        guard some.count * others.count <= 4 * limit else { return nil }
        var product: [[Int]] = []
        for left in some {
            for right in others {
                guard let alternative = simplified(Alternative(tests: Set(left + right).sorted())) else { continue }
                let conjunctions = conjunctions(of: alternative.tests)
                guard conjunctions.count <= 1, conjunctions.first?.excluded.isEmpty != false else { return nil }
                let tests = conjunctions.first?.tests ?? []
                if !product.contains(tests) { product.append(tests) }
            }
        }
        return product.count <= limit ? product : nil
    }
}
