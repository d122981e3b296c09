/// A sequence of requests for a find with few tests, from all combinations of what the tests may say.
///
/// Read from its end, a sequence of requests is a *decision list* (R. Rivest, "Learning decision lists", 1987): the last
/// request a record fulfils says whether it belongs to the result. The list is built greedily: the next request is the
/// conjunction that settles the most combinations not settled yet, all the same way. Every step is exact, so the list is
/// right whenever it is complete; it is short, though not always the shortest possible.
struct FindDecisionList {
    /// More tests than this would take too long: the work grows with the square of 2 to this power.
    static let maximumTestCount = 8

    /// By number; the bits of a combination stand for them in this order.
    private let tests: [Int]
    private let criteria: [FindCriterion]
    private let wanted: CaseSet
    private let everything: CaseSet
    private let nothing: CaseSet

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
        let alternatives = form.alternatives.map { alternative in
            (
                Self.mask(of: alternative.tests, among: tests),
                alternative.exclusions.map { Self.mask(of: $0, among: tests) }
            )
        }
        nothing = CaseSet(testCount: tests.count) { _ in false }
        everything = CaseSet(testCount: tests.count) { _ in true }
        wanted = CaseSet(testCount: tests.count) { combination in
            alternatives.contains { needed, excluded in
                combination & needed == needed && !excluded.contains { combination & $0 == $0 }
            }
        }
    }

    private static func mask(of some: [Int], among tests: [Int]) -> Int {
        tests.indices.reduce(0) { some.contains(tests[$1]) ? $0 | 1 << $1 : $0 }
    }

    /// The combinations that fulfil all tests of a mask.
    private func cases(fulfilling mask: Int) -> CaseSet {
        CaseSet(testCount: tests.count) { $0 & mask == mask }
    }

    private func steps() -> [FindStep]? {
        let conjunctions = (1..<max(1, 1 << tests.count)).filter(hasOneTestPerField).map { mask in
            (tests: self.tests(of: mask), cases: cases(fulfilling: mask))
        }
        var open = everything
        var steps: [FindStep] = []
        // What no request settles is out, or in when the first request is an omit: so the rest must be all one or the
        // other.
        while !(open & wanted).isEmpty, open & wanted != open {
            let choices = conjunctions.compactMap { Choice($0.tests, $0.cases, open: open, wanted: wanted) }
            guard let best = choices.max(by: { $0.rank < $1.rank }) else { return nil }
            open = open.subtracting(best.cases)
            steps.append(best.step)
        }
        // The first request is of the kind that FileMaker's start asks for, an omit after all records and a find after
        // none: it was chosen last, while there were still both kinds of cases, and left only those of the start.
        return steps.reversed()
    }

    /// A request that settles open cases, all the same way.
    private struct Choice {
        let step: FindStep
        let cases: CaseSet
        /// The more cases it settles, the better; of equals, the shorter conjunction; then an omit, which so ends up
        /// behind the finds.
        let rank: (settled: Int, brevity: Int, isOmit: Int)

        init?(_ tests: [Int], _ cases: CaseSet, open: CaseSet, wanted: CaseSet) {
            let settled = open & cases
            let isOmit = (settled & wanted).isEmpty
            guard !settled.isEmpty, isOmit || settled & wanted == settled else { return nil }
            self.step = FindStep(tests: tests, isOmit: isOmit)
            self.cases = cases
            self.rank = (settled.count, -tests.count, isOmit ? 1 : 0)
        }
    }

    private func hasOneTestPerField(_ mask: Int) -> Bool {
        let fields = tests(of: mask).map { criteria[$0].field }
        return Set(fields).count == fields.count
    }

    private func tests(of mask: Int) -> [Int] {
        tests.indices.filter { mask >> $0 & 1 == 1 }.map { tests[$0] }
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

    private func result(of steps: [FindStep]) -> CaseSet {
        steps.reduce(steps.first?.isOmit == true ? everything : nothing) { found, step in
            let cases = cases(fulfilling: Self.mask(of: step.tests, among: tests))
            return step.isOmit ? found.subtracting(cases) : found | cases
        }
    }
}

/// A set of combinations of what some tests may say, a bit for each combination.
private struct CaseSet: Hashable {
    private var words: [UInt64]

    init(testCount: Int, where isMember: (Int) -> Bool) {
        let count = 1 << testCount
        words = [UInt64](repeating: 0, count: (count + 63) / 64)
        for combination in 0..<count where isMember(combination) {
            words[combination / 64] |= 1 << UInt64(combination % 64)
        }
    }

    private init(words: [UInt64]) {
        self.words = words
    }

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }
    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    static func & (left: CaseSet, right: CaseSet) -> CaseSet {
        CaseSet(words: zip(left.words, right.words).map { $0 & $1 })
    }

    static func | (left: CaseSet, right: CaseSet) -> CaseSet {
        CaseSet(words: zip(left.words, right.words).map { $0 | $1 })
    }

    func subtracting(_ other: CaseSet) -> CaseSet {
        CaseSet(words: zip(words, other.words).map { $0 & ~$1 })
    }
}
