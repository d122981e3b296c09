/// Builds a sequence of requests for a find whose cases can all be enumerated.
///
/// Read from its end, a sequence of requests is a *decision list* (R. Rivest, "Learning decision lists", 1987): the
/// last request that a record fulfils decides whether it belongs to the result. The list is built greedily: the next
/// request is the conjunction that decides the most undecided cases, all in the same way. Every step is exact, so a
/// complete list is correct. It is short, though not always the shortest possible. If no conjunction decides any case,
/// no sequence of requests expresses the find, because the last request of such a sequence would be one.
struct FindDecisionList {
    private let cases: FindCases
    private let everything: CaseSet
    /// The number of sets that may still be examined, measured in cases. It bounds the time, which otherwise grows with
    /// the product of the numbers of cases, conjunctions and requests.
    private var budget = 1 << 27

    private init(cases: FindCases) {
        self.cases = cases
        everything = CaseSet(count: cases.count) { _ in true }
    }

    static func steps(for cases: FindCases, limit: Int) -> Outcome {
        var list = FindDecisionList(cases: cases)
        return list.steps(limit: limit)
    }

    enum Outcome {
        case found([FindStep])
        /// No sequence of requests separates the wanted cases from the others.
        case inseparable
        /// No sequence was found within the limits.
        case tooLong
    }

    private mutating func steps(limit: Int) -> Outcome {
        var open = everything
        var steps: [ListedStep] = []
        // Cases that no request decides are not found, or all found if the first request is an omit. So the list is
        // complete when the open cases are all of one kind.
        while !open.isDisjoint(with: cases.wanted), !open.isSubset(of: cases.wanted) {
            // Pruning at the end shortens the list, but hardly to half.
            guard steps.count < 2 * limit else { return .tooLong }
            var best: Choice?
            choose(from: 0, [], open: open, settled: open, found: nil, &best)
            guard budget > 0 else { return .tooLong }
            guard let best else { return .inseparable }
            open.subtract(best.step.cases)
            steps.append(best.step)
        }
        // The first request has the right kind for FileMaker's start: an omit starts with all records, a find with
        // none. It was chosen last, while both kinds of cases were open, and left only cases of the kind of the start.
        return .found(pruned(steps.reversed()).map(\.step))
    }

    private struct ListedStep {
        var step: FindStep
        var cases: CaseSet
    }

    /// A request that decides open cases, all in the same way.
    private struct Choice {
        var step: ListedStep
        /// More decided cases rank higher; then the shorter conjunction; then more of the find's own tests; then an
        /// omit, so omits end up after the finds.
        var rank: (settled: Int, brevity: Int, closeness: Int, isOmit: Int)
    }

    /// Examines all conjunctions with one criterion per field, the widest first. If a conjunction decides its cases, a
    /// narrower one decides fewer.
    private mutating func choose(
        from first: Int,
        _ criteria: [FindCriterion],
        open: CaseSet,
        settled: CaseSet,
        found: CaseSet?,
        _ best: inout Choice?
    ) {
        for field in cases.choices.indices.dropFirst(first) {
            for choice in cases.choices[field] {
                budget -= cases.count
                guard budget > 0 else { return }
                let settled = settled.intersection(choice.cases)
                guard !settled.isEmpty else { continue }
                // Only a wider one can be better than the best.
                let count = settled.count
                if let best, best.rank.settled > count { continue }
                let isOmit = settled.isDisjoint(with: cases.wanted)
                let criteria = criteria + [choice.criterion]
                let found = found?.intersection(choice.cases) ?? choice.cases
                guard isOmit || settled.isSubset(of: cases.wanted) else {
                    choose(from: field + 1, criteria, open: open, settled: settled, found: found, &best)
                    continue
                }
                let derivedCount = criteria.count { !cases.isOwn($0) }
                let rank = (count, -criteria.count, -derivedCount, isOmit ? 1 : 0)
                if let best, best.rank >= rank { continue }
                let step = ListedStep(step: FindStep(criteria: criteria, isOmit: isOmit), cases: found)
                best = Choice(step: step, rank: rank)
            }
        }
    }

    // MARK: Dropping redundant requests

    private func pruned(_ steps: [ListedStep]) -> [ListedStep] {
        var steps = steps
        for index in steps.indices.reversed() where steps.count > 1 {
            var shorter = steps
            shorter.remove(at: index)
            if result(of: shorter) == cases.wanted { steps = shorter }
        }
        return steps
    }

    private func result(of steps: [ListedStep]) -> CaseSet {
        var found = steps.first?.step.isOmit == true ? everything : CaseSet(count: cases.count)
        for step in steps {
            if step.step.isOmit { found.subtract(step.cases) } else { found.formUnion(step.cases) }
        }
        return found
    }
}
