/// Compiles a find to the requests of one `_find` call: `||` becomes requests, `&&` one request, and `!` omit requests.
///
/// A request adds records; an omit removes records from *everything* found before it. So `(a && !b) || c` must be
/// `a, omit b, c`: with the omit at the end, records that fulfil c and b would be lost.
struct FindCompiler {
    let maximumRequests: Int

    /// - Parameter maximumRequests: Limited to 1 … 1,000,000, more than any host is sent.
    init(maximumRequests: Int) {
        self.maximumRequests = min(max(1, maximumRequests), 1_000_000)
    }

    /// - Throws: `matchesNothing`, or the reason why FileMaker cannot express the find.
    func steps(_ expression: FindExpression) throws(DataAPI.FindError) -> [FindStep] {
        // The limit allows thousands of values in a list with their exclusions, but stops before the work takes
        // minutes.
        var form = try FindNormalForm(FindFormula(expression), limit: max(5_000, 2 * maximumRequests))
        try form.joinTests()
        guard !form.alternatives.isEmpty else {
            throw DataAPI.FindError(.matchesNothing, "The find contradicts itself: no record can match.")
        }
        guard !form.alternatives.contains(FindNormalForm.Alternative()) else {
            throw DataAPI.FindError(.matchesEverything, "Every record matches; get a range of records instead.")
        }
        let steps = try steps(groups(form.alternatives), form)
        guard steps.count <= maximumRequests else {
            throw DataAPI.FindError(
                .tooManyRequests,
                """
                The find takes \(steps.count) requests, and maximumRequests is \(maximumRequests). Divide its longest list, \
                and put the answers together.
                """
            )
        }
        return steps
    }

    /// Alternatives with the same exclusions.
    private struct Group {
        /// Conjunctions one of which must hold, in the order in which they were written.
        var tests: [[Int]]
        var exclusions: Set<[Int]>

        /// Whether no record of this group fulfils any of these conjunctions.
        func excludesAll(of conjunctions: Set<[Int]>) -> Bool {
            FindNormalForm.Alternative(exclusions: exclusions).excludesAll(of: conjunctions)
        }
    }

    /// The alternatives as groups. The first one excludes everything that all others exclude, the second everything
    /// that all but the first exclude, and so on, where that is possible.
    private func groups(_ alternatives: [FindNormalForm.Alternative]) -> [Group] {
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
        let ranks = groups.map { group in groups.count { group.excludesAll(of: $0.exclusions) } }
        return groups.indices.sorted { (ranks[$1], $0) < (ranks[$0], $1) }.map { groups[$0] }
    }

    /// Joins the groups in order. Each is followed by the omits that the next one does not need. If each group excludes
    /// everything that the next one excludes, no omit removes wanted records found before it.
    private func steps(_ groups: [Group], _ form: FindNormalForm) throws(DataAPI.FindError) -> [FindStep] {
        var steps: [FindStep] = []
        for (index, group) in groups.enumerated() {
            let next = index + 1 < groups.count ? groups[index + 1] : nil
            if let next, !group.excludesAll(of: next.exclusions) {
                throw DataAPI.FindError(
                    .tooComplex,
                    """
                    \(form.words(group.tests[0], group.exclusions)) and \(form.words(next.tests[0], next.exclusions)) leave \
                    out different records, and an omit request removes its records from all that were found before it. \
                    Make a find of each, and put the answers together.
                    """
                )
            }
            // FileMaker starts with all records if the first request is an omit. An alternative without tests is always
            // the first, because one before it would exclude more and so be part of it.
            steps += group.tests.filter { !$0.isEmpty }.map { FindStep(criteria: form.criteria($0), isOmit: false) }
            steps += group.exclusions.subtracting(next?.exclusions ?? [])
                .sorted { $0.lexicographicallyPrecedes($1) }
                .map { FindStep(criteria: form.criteria($0), isOmit: true) }
        }
        return steps
    }
}

/// One request of a find: criteria that must all hold, and whether it adds or removes records.
struct FindStep: Hashable, Sendable {
    var criteria: [FindCriterion]
    var isOmit: Bool

    var request: FindRequest {
        FindRequest(
            criteria: Dictionary(uniqueKeysWithValues: criteria.map { ($0.field, $0.test.text) }),
            isOmit: isOmit
        )
    }
}
