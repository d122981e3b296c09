/// A sequence of requests for a find with few tests, from all combinations of what the tests may say.
///
/// Read from its end, a sequence of requests is a *decision list* (R. Rivest, "Learning decision lists", 1987): the last
/// request a record fulfils says whether it belongs to the result. The list is built greedily: the next request is the
/// conjunction that settles the most combinations not settled yet, all the same way. Every step is exact, so the list is
/// right whenever it is complete; it is short, though not always the shortest possible.
struct FindDecisionList {
    /// More tests than this would take too long: the work grows with the square of 2 to this power.
    static let maximumTestCount = 8

    /// A set of combinations, a bit for each.
    private typealias Cases = [UInt64]

    private let tests: [Int]
    private let criteria: [FindCriterion]
    private let wanted: Cases
    private let everything: Cases
    private let nothing: Cases

    /// `nil` when there are too many tests, or when a request would need two criteria for one field.
    static func steps(for form: FindNormalForm) -> [FindStep]? {
        let tests = Set(form.alternatives.flatMap { $0.tests + $0.exclusions.joined() }).sorted()
        guard tests.count <= maximumTestCount else { return nil }
        let list = FindDecisionList(tests: tests, form: form)
        return list.steps().map(list.pruned).map(inOrderOfWriting)
    }

    private init(tests: [Int], form: FindNormalForm) {
        self.tests = tests
        self.criteria = form.criteria
        let count = 1 << tests.count
        let bits = Dictionary(uniqueKeysWithValues: tests.enumerated().map { ($1, 1 << $0) })
        let mask: ([Int]) -> Int = { $0.reduce(0) { $0 | (bits[$1] ?? 0) } }
        let alternatives = form.alternatives.map { (mask($0.tests), $0.exclusions.map(mask)) }
        nothing = Cases(repeating: 0, count: (count + 63) / 64)
        everything = Self.cases(count) { _ in true }
        wanted = Self.cases(count) { combination in
            alternatives.contains { needed, excluded in
                combination & needed == needed && !excluded.contains { combination & $0 == $0 }
            }
        }
    }

    private static func cases(_ count: Int, where isMember: (Int) -> Bool) -> Cases {
        var cases = Cases(repeating: 0, count: (count + 63) / 64)
        for combination in 0..<count where isMember(combination) {
            cases[combination / 64] |= 1 << UInt64(combination % 64)
        }
        return cases
    }

    /// The combinations that fulfil all tests of a mask.
    private func cases(fulfilling mask: Int) -> Cases {
        Self.cases(1 << tests.count) { $0 & mask == mask }
    }

    private func steps() -> [FindStep]? {
        let candidates = (1..<max(1, 1 << tests.count)).filter(hasOneTestPerField).map { mask in
            (step: step(mask, isOmit: false), cases: cases(fulfilling: mask))
        }
        var open = everything
        var steps: [FindStep] = []
        while true {
            // What no request settles is out, or in when the first request is an omit.
            let openAndWanted = zip(open, wanted).map { $0 & $1 }
            if openAndWanted == nothing || openAndWanted == open { break }
            var best: (step: FindStep, cases: Cases, settled: Int)?
            for candidate in candidates {
                let settled = zip(open, candidate.cases).map { $0 & $1 }
                let settledAndWanted = zip(settled, wanted).map { $0 & $1 }
                guard settled != nothing, settledAndWanted == nothing || settledAndWanted == settled else { continue }
                let count = settled.reduce(0) { $0 + $1.nonzeroBitCount }
                var step = candidate.step
                step.isOmit = settledAndWanted == nothing
                // Of equals, the shorter conjunction; then an omit, which so ends up behind the finds.
                let isBetter =
                    best.map { best in
                        if count != best.settled { return count > best.settled }
                        if step.tests.count != best.step.tests.count { return step.tests.count < best.step.tests.count }
                        return step.isOmit && !best.step.isOmit
                    } ?? true
                if isBetter { best = (step, candidate.cases, count) }
            }
            guard let best else { return nil }
            open = zip(open, best.cases).map { $0 & ~$1 }
            steps.append(best.step)
        }
        // The first request is of the kind that FileMaker's start asks for, an omit after all records and a find after
        // none: it was chosen last, while there were still both kinds of cases, and left only those of the start.
        return steps.reversed()
    }

    private func hasOneTestPerField(_ mask: Int) -> Bool {
        let fields = step(mask, isOmit: false).tests.map { criteria[$0].field }
        return Set(fields).count == fields.count
    }

    private func step(_ mask: Int, isOmit: Bool) -> FindStep {
        FindStep(tests: tests.indices.filter { mask >> $0 & 1 == 1 }.map { tests[$0] }, isOmit: isOmit)
    }

    /// Neighbours of one kind may change places; they come in the order of their tests.
    private static func inOrderOfWriting(_ steps: [FindStep]) -> [FindStep] {
        var ordered: [FindStep] = []
        var run: [FindStep] = []
        for step in steps + [FindStep(tests: [], isOmit: steps.last?.isOmit != true)] {
            if let last = run.last, last.isOmit != step.isOmit {
                ordered += run.sorted { $0.tests.lexicographicallyPrecedes($1.tests) }
                run = []
            }
            run.append(step)
        }
        return ordered
    }

    // MARK: Dropping what later requests made needless

    private func pruned(_ steps: [FindStep]) -> [FindStep] {
        var steps = steps
        for index in steps.indices.reversed() where steps.count > 1 {
            var shorter = steps
            shorter.remove(at: index)
            if result(of: shorter) == wanted { steps = shorter }
        }
        return steps
    }

    private func result(of steps: [FindStep]) -> Cases {
        let bits = Dictionary(uniqueKeysWithValues: tests.enumerated().map { ($1, 1 << $0) })
        return steps.reduce(steps.first?.isOmit == true ? everything : nothing) { found, step in
            let cases = cases(fulfilling: step.tests.reduce(0) { $0 | (bits[$1] ?? 0) })
            return zip(found, cases).map { step.isOmit ? $0 & ~$1 : $0 | $1 }
        }
    }
}
