/// From a find to the sequence of requests that FileMaker applies one after the other.
///
/// A request adds records, an omit takes away from *everything* found before it. So `(a && !b) || c` must be
/// `a, omit b, c`: with the omit at the end, records that fulfil c and b would be lost. Two ways lead to a sequence, and
/// the shorter one is taken:
///
/// 1. **In a row.** Alternatives are sorted by what they exclude. If each excludes all that the next one does, the
///    alternatives come in this order, and after each the omits that the next no longer wants. No omit then harms what
///    came before it, since that excludes it as well. This works for finds of any length.
/// 2. **By cases.** For few tests, all combinations of them are looked at, and a sequence is built from its end: the last
///    request that a record fulfils decides about it (``FindDecisionList``).
enum FindCompiler {
    static func compile(_ expression: FindExpression) throws(DataAPI.FindError) -> [CompiledFindRequest] {
        let form = try FindNormalForm(expression)
        guard !form.alternatives.isEmpty else {
            throw DataAPI.FindError(.matchesNothing, "The find contradicts itself: no record can match.")
        }
        let candidates = [inARow(form.alternatives), FindDecisionList.steps(for: form)].compactMap(\.self)
        guard let shortest = candidates.min(by: { $0.count < $1.count }) else {
            throw DataAPI.FindError(
                .tooComplex,
                "No sequence of requests says the same as the find; its alternatives exclude different records."
            )
        }
        guard !shortest.isEmpty else {
            throw DataAPI.FindError(.matchesEverything, "Every record matches; get a range of records instead.")
        }
        return shortest.map { step in
            CompiledFindRequest(criteria: step.tests.map { form.criteria[$0] }, isOmit: step.isOmit)
        }
    }

    private static func inARow(_ alternatives: [FindNormalForm.Alternative]) -> [FindStep]? {
        let groups = groupedByExclusions(alternatives)
        var steps: [FindStep] = []
        for (index, group) in groups.enumerated() {
            let next = index + 1 < groups.count ? groups[index + 1][0].exclusions : []
            guard group[0].excludesAll(of: next) else { return nil }
            // All records are where FileMaker starts when the first request is an omit. An alternative without tests is
            // the first: any before it would exclude more and so be part of it.
            steps += group.filter { !$0.tests.isEmpty }.map { FindStep(tests: $0.tests, isOmit: false) }
            let omitted = group[0].exclusions.subtracting(next).sorted { $0.lexicographicallyPrecedes($1) }
            steps += omitted.map { FindStep(tests: $0, isOmit: true) }
        }
        return steps
    }

    /// Alternatives that exclude the same, in the order in which they were written; groups that exclude more before
    /// groups that exclude less.
    private static func groupedByExclusions(
        _ alternatives: [FindNormalForm.Alternative]
    ) -> [[FindNormalForm.Alternative]] {
        var groups: [[FindNormalForm.Alternative]] = []
        var indices: [Set<[Int]>: Int] = [:]
        for alternative in alternatives {
            if let index = indices[alternative.exclusions] {
                groups[index].append(alternative)
            } else {
                indices[alternative.exclusions] = groups.count
                groups.append([alternative])
            }
        }
        // In a row, the first group excludes what all others do, the second what all but the first do, and so on.
        let ranks = groups.map { group in groups.count { group[0].excludesAll(of: $0[0].exclusions) } }
        return groups.indices.sorted { (ranks[$1], $0) < (ranks[$0], $1) }.map { groups[$0] }
    }
}

/// A request whose tests are still numbers.
struct FindStep: Hashable {
    var tests: [Int]
    var isOmit: Bool
}

/// A request with the tests it was made from, for ``FindExplanation``.
struct CompiledFindRequest {
    var criteria: [FindCriterion]
    var isOmit: Bool

    var request: DataAPI.FindRequest {
        DataAPI.FindRequest(
            criteria: Dictionary(uniqueKeysWithValues: criteria.map { ($0.field, $0.test.text) }),
            isOmit: isOmit
        )
    }
}
