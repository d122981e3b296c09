/// A sequence of requests for a find of which all cases can be looked at.
///
/// Read from its end, a sequence of requests is a *decision list* (R. Rivest, "Learning decision lists", 1987): the last
/// request a record fulfils says whether it belongs to the result. The list is built greedily: the next request is the
/// conjunction that settles the most cases not settled yet, all the same way. Every step is exact, so the list is right
/// whenever it is complete; it is short, though not always the shortest possible. When no conjunction settles anything, no
/// sequence of requests says what the find says: the last request of such a sequence would.
struct FindDecisionList {
    private let cases: FindCases
    private let everything: CaseSet
    /// How many sets may still be looked at, measured in cases. It bounds the time, which otherwise grows with the number
    /// of cases times that of conjunctions times that of requests.
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
        /// No sequence of requests tells the wanted cases from the others.
        case inseparable
        /// None was found within the bounds.
        case tooLong
    }

    private mutating func steps(limit: Int) -> Outcome {
        var open = everything
        var steps: [ListedStep] = []
        // Cases that no request settles are not found, or all found when the first request is an omit. So the list is complete
        // when the open cases are all of one kind.
        while !open.isDisjoint(with: cases.wanted), !open.isSubset(of: cases.wanted) {
            // Pruning shortens the list at the end, but hardly to half.
            guard steps.count < 2 * limit else { return .tooLong }
            var best: Choice?
            choose(from: 0, [], open: open, settled: open, found: nil, &best)
            guard budget > 0 else { return .tooLong }
            guard let best else { return .inseparable }
            open.subtract(best.step.cases)
            steps.append(best.step)
        }
        // The first request is of the kind that FileMaker's start asks for, an omit after all records and a find after
        // none: it was chosen last, while there were still both kinds of cases, and left only those of the start.
        return .found(pruned(steps.reversed()).map(\.step))
    }

    private struct ListedStep {
        var step: FindStep
        var cases: CaseSet
    }

    /// A request that settles open cases, all the same way.
    private struct Choice {
        var step: ListedStep
        /// The more cases it settles, the better; of equals, the shorter conjunction; then one of the find's own tests;
        /// then an omit, which so ends up behind the finds.
        var rank: (settled: Int, brevity: Int, closeness: Int, isOmit: Int)
    }

    /// Looks at all conjunctions with one criterion per field, from the widest on: a narrower one than one that settles
    /// its cases settles fewer.
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
                // Only a wider one than the best can be better.
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

    // MARK: Dropping what later requests made needless

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
