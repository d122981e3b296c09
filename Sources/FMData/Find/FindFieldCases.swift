/// What a record may be like, as far as the tests of one field tell: the combinations of answers that can occur.
///
/// Tests of one value depend on each other: nothing is less than 5 and greater than 8. Of numbers, dates and times with a
/// known order the combinations are exact, since the operands cut the order into points and gaps; beside them there is the
/// empty value, and one that cannot be compared. Of other tests what ``FindRelations`` is sure of is left out. Tests that
/// several values may pass depend on each other only as far as one implies the other.
struct FindFieldCases {
    /// A criterion that a request can have for the field, and the cases, as bits, that it finds.
    struct Choice {
        var criterion: FindCriterion
        var cases: UInt64
    }

    /// By number.
    let tests: [Int]
    /// The tests that hold, as bits in the order of ``tests``; then, of patterns that hold together, which of the patterns
    /// that say so.
    private(set) var cases: [UInt64] = []
    /// The tests themselves, then what follows from them: the other comparisons with their operands, words of several
    /// tests in one criterion, empty or not.
    private(set) var choices: [Choice] = []

    static let maximumCount = 64

    /// One case, before those that the tests do not tell apart become one.
    private struct Sample {
        var tests: UInt64 = 0
        var isEmpty = false
        /// The place among the operands; `nil` when it cannot be compared.
        var place: Int?

        /// What the one value's emptiness or place say; `nil` when they say nothing.
        func answer(to test: FindTest, at places: ClosedRange<Int>?) -> Bool? {
            if test == .isEmpty { return isEmpty }
            if test == .isNotEmpty { return !isEmpty }
            if isEmpty, test.impliesNotEmpty { return false }
            return places.map { places in place.map(places.contains) ?? false }
        }
    }

    /// - Parameter unitesPatterns: Whether to look at what patterns say together, which takes more cases.
    /// - Returns: `nil` when there are more cases than bits.
    init?(field: String, tests: [Int], in criteria: [FindCriterion], unitesPatterns: Bool) {
        guard tests.count <= Self.maximumCount else { return nil }
        self.tests = tests
        let own = tests.map { criteria[$0] }
        let hasOneValue = own.allSatisfy { $0.values == .one }
        let order = hasOneValue ? FindOperandOrder(own.map(\.test)) : nil
        var samples = hasOneValue ? Self.places(order) : [Sample()]
        for (index, criterion) in own.enumerated() {
            let bounds = Bounds(of: index, among: own.map(\.test), hasOneValue: hasOneValue)
            let places = order?.places(of: criterion.test)
            samples = samples.flatMap { sample in
                [true, false].compactMap { holds in
                    if hasOneValue {
                        let answer = sample.answer(to: criterion.test, at: places)
                        guard answer == nil || answer == holds else { return nil }
                    }
                    guard bounds.allow(holds, beside: sample.tests) else { return nil }
                    var sample = sample
                    if holds { sample.tests |= 1 << UInt64(index) }
                    return sample
                }
            }
            guard samples.count <= 8 * Self.maximumCount else { return nil }
        }
        let patterns = hasOneValue && unitesPatterns ? Self.unitedPatterns(own.map(\.test)) : []
        samples = Self.distinguish(patterns, in: samples, from: own.count)
        guard samples.count <= 16 * Self.maximumCount else { return nil }
        cases = Array(Set(samples.map(\.tests))).sorted()
        guard cases.count <= Self.maximumCount else { return nil }

        for (index, criterion) in own.enumerated() { add(criterion, samples) { $0.tests >> UInt64(index) & 1 == 1 } }
        guard hasOneValue else { return }
        func addDerived(_ test: FindTest, _ holds: (Sample) -> Bool) {
            add(FindCriterion(field: field, values: .one, test: test), samples, holds)
        }
        for (test, places) in order?.intervals ?? [] {
            addDerived(test) { $0.place.map(places.contains) ?? false }
        }
        for (place, test) in patterns.flatMap(\.alternatives).enumerated() {
            addDerived(test) { $0.tests >> UInt64(own.count + place) & 1 == 1 }
        }
        for (test, all) in Self.unitedWords(own.map(\.test)) { addDerived(test) { $0.tests & all == all } }
        addDerived(.isNotEmpty) { !$0.isEmpty }
        addDerived(.isEmpty) { $0.isEmpty }
    }

    private static func places(_ order: FindOperandOrder?) -> [Sample] {
        [Sample(isEmpty: true), Sample()] + (order.map { $0.places.map { Sample(place: $0) } } ?? [])
    }

    /// What the tests before one say about it, as bits.
    private struct Bounds {
        /// They imply it.
        private var implying: UInt64 = 0
        /// It implies them.
        private var implied: UInt64 = 0
        /// They cannot hold together.
        private var excluded: UInt64 = 0

        init(of index: Int, among tests: [FindTest], hasOneValue: Bool) {
            for (place, other) in tests[..<index].enumerated() {
                let bit = UInt64(1) << UInt64(place)
                if FindRelations.implies(other, tests[index]) { implying |= bit }
                if FindRelations.implies(tests[index], other) { implied |= bit }
                if hasOneValue, FindRelations.excludes(tests[index], other) { excluded |= bit }
            }
        }

        func allow(_ holds: Bool, beside others: UInt64) -> Bool {
            holds ? others & implied == implied && others & excluded == 0 : others & implying == 0
        }
    }

    /// Adds a choice, unless it tells samples apart that the tests do not, or finds what another one does.
    private mutating func add(_ criterion: FindCriterion, _ samples: [Sample], _ holds: (Sample) -> Bool) {
        var found: UInt64 = 0
        var missed: UInt64 = 0
        for sample in samples {
            let bit = UInt64(1) << UInt64(cases.firstIndex(of: sample.tests)!)
            if holds(sample) { found |= bit } else { missed |= bit }
        }
        guard found & missed == 0, found != 0, !choices.contains(where: { $0.cases == found }) else { return }
        choices.append(Choice(criterion: criterion, cases: found))
    }

    /// Two or three patterns, as bits, and what says that they hold together.
    private typealias UnitedPatterns = (tests: UInt64, alternatives: [FindTest])

    private static func unitedPatterns(_ tests: [FindTest]) -> [UnitedPatterns] {
        let indices = tests.indices.filter { FindGlob(tests[$0]) != nil }
        guard (2...4).contains(indices.count) else { return [] }
        return (1..<1 << indices.count).compactMap { (subset: Int) -> UnitedPatterns? in
            let chosen = indices.indices.filter { subset >> $0 & 1 == 1 }.map { indices[$0] }
            let isRedundant = chosen.contains { one in
                chosen.contains { $0 != one && FindRelations.implies(tests[$0], tests[one]) }
            }
            guard (2...3).contains(chosen.count), !isRedundant else { return nil }
            guard let common = FindGlob.alternatives(to: chosen.map { tests[$0] }), (1...3).contains(common.count)
            else {
                return nil
            }
            return (chosen.reduce(0) { $0 | 1 << UInt64($1) }, common)
        }
    }

    /// The samples in which patterns hold together, once for each way to do so.
    private static func distinguish(_ patterns: [UnitedPatterns], in samples: [Sample], from first: Int) -> [Sample] {
        var samples = samples
        var place = UInt64(first)
        for (tests, alternatives) in patterns {
            guard place + UInt64(alternatives.count) <= 64 else { break }
            samples = samples.flatMap { sample in
                guard sample.tests & tests == tests else { return [sample] }
                return (1..<UInt64(1 << alternatives.count)).map { ways in
                    var sample = sample
                    sample.tests |= ways << place
                    return sample
                }
            }
            place += UInt64(alternatives.count)
        }
        return samples
    }

    /// Tests of words that hold together are one criterion: `=red =fox`.
    private static func unitedWords(_ tests: [FindTest]) -> [(FindTest, UInt64)] {
        let indices = tests.indices.filter { tests[$0].pieces != nil }
        guard (2...5).contains(indices.count) else { return [] }
        return (1..<1 << indices.count).compactMap { (subset: Int) -> (FindTest, UInt64)? in
            let chosen = indices.indices.filter { subset >> $0 & 1 == 1 }.map { indices[$0] }
            guard chosen.count > 1, let united = FindTest.words(uniting: chosen.map({ tests[$0] })) else { return nil }
            return (united, chosen.reduce(0) { $0 | 1 << UInt64($1) })
        }
    }
}

/// The operands of a field's comparisons in their order, which they cut into places: a gap before the first, the first,
/// the gap behind it, and so on.
struct FindOperandOrder {
    private let operands: [FindOperand]
    private let keys: [FindOrderKey]
    private let intervalsByTest: [FindTest: ClosedRange<Int>]

    /// `nil` when there are no comparisons, or when some operands have no order between them.
    init?(_ tests: [FindTest]) {
        let intervals = tests.compactMap { test in FindInterval(test).map { (test, $0) } }
        var sorted: [(key: FindOrderKey, operand: FindOperand)] = []
        for bound in intervals.flatMap({ [$0.1.lower, $0.1.upper].compactMap(\.self) }) {
            guard let key = FindOrderKey(bound.operand) else { return nil }
            var position = 0
            var isNew = true
            for other in sorted {
                guard let order = key.compared(to: other.key) else { return nil }
                if order == 0 { isNew = false }
                if order > 0 { position += 1 }
            }
            if isNew { sorted.insert((key, bound.operand), at: position) }
        }
        guard !sorted.isEmpty else { return nil }
        operands = sorted.map(\.operand)
        keys = sorted.map(\.key)
        let (keys, last) = (keys, 2 * sorted.count)
        func place(_ bound: FindInterval.Bound?, gap: Int) -> Int? {
            guard let bound, let key = FindOrderKey(bound.operand) else { return nil }
            return keys.firstIndex { $0.compared(to: key) == 0 }.map { 2 * $0 + 1 + (bound.isIncluded ? 0 : gap) }
        }
        var byTest: [FindTest: ClosedRange<Int>] = [:]
        for (test, interval) in intervals {
            let (from, to) = (place(interval.lower, gap: 1) ?? 0, place(interval.upper, gap: -1) ?? last)
            // A range whose beginning is behind its end finds nothing, which a place behind the last one says.
            byTest[test] = from <= to ? from...to : (last + 1)...(last + 1)
        }
        intervalsByTest = byTest
    }

    var places: ClosedRange<Int> { 0...2 * operands.count }

    func places(of test: FindTest) -> ClosedRange<Int>? { intervalsByTest[test] }

    /// All that one criterion can say about the operands.
    var intervals: [(FindTest, ClosedRange<Int>)] {
        operands.indices.flatMap { index -> [(FindTest, ClosedRange<Int>)] in
            let (operand, place) = (operands[index], 2 * index + 1)
            let comparisons: [(FindTest, ClosedRange<Int>)] = [
                (.equals(operand), place...place), (.compares(.less, operand), 0...place - 1),
                (.compares(.lessOrEqual, operand), 0...place),
                (.compares(.greater, operand), place + 1...places.upperBound),
                (.compares(.greaterOrEqual, operand), place...places.upperBound),
            ]
            return comparisons
                + operands.indices.dropFirst(index + 1).map { other in
                    (.range(operand, operands[other]), place...2 * other + 1)
                }
        }
    }
}
