/// The distinguishable kinds of records, as far as the tests of one field show: the possible combinations of test
/// results.
///
/// Tests of one value depend on each other: no value is less than 5 and greater than 8. For numbers, dates and times
/// with a known order the combinations are exact, since the operands divide the order into points and gaps; in addition
/// there are the empty value, and a value that cannot be compared. For other tests, the combinations that
/// ``FindRelations`` rules out are dropped. Tests on fields with several values depend on each other only as far as one
/// implies the other.
struct FindFieldCases {
    /// A criterion that a request can have for the field, and the cases that it finds, as bits.
    struct CriterionCases {
        var criterion: FindCriterion
        var cases: UInt64
    }

    /// The tests, by number.
    let tests: [Int]
    /// Per case, the tests that hold, as bits in the order of ``tests``; then, for patterns that hold together, bits
    /// for the alternatives that say in which way.
    private(set) var cases: [UInt64] = []
    /// The tests themselves, then tests derived from them: the other comparisons with their operands, words of several
    /// tests in one criterion, empty or not.
    private(set) var choices: [CriterionCases] = []

    static let maximumCount = 64

    /// One case, before cases that the tests do not distinguish are merged.
    private struct FieldCase {
        var tests: UInt64 = 0
        var isEmpty = false
        /// The place in the order of the operands; `nil` if the value cannot be compared.
        var place: Int?

        /// The test's result, if the value's emptiness or place determines it; `nil` otherwise.
        func answer(to test: FindTest, at places: ClosedRange<Int>?) -> Bool? {
            if test == .isEmpty { return isEmpty }
            if test == .isNotEmpty { return !isEmpty }
            if isEmpty, test.impliesNotEmpty { return false }
            return places.map { places in place.map(places.contains) ?? false }
        }
    }

    /// - Parameter unitesPatterns: Whether to derive the joint meaning of patterns, which needs more cases.
    /// - Returns: `nil` if there are more cases than bits.
    init?(field: String, tests: [Int], in criteria: [FindCriterion], unitesPatterns: Bool) {
        guard tests.count <= Self.maximumCount else { return nil }
        self.tests = tests
        let own = tests.map { criteria[$0] }
        let hasOneValue = own.allSatisfy { $0.values == .one }
        let order = hasOneValue ? FindOperandOrder(own.map(\.test)) : nil
        var fieldCases = hasOneValue ? Self.places(order) : [FieldCase()]
        for (index, criterion) in own.enumerated() {
            let bounds = Bounds(of: index, among: own.map(\.test), hasOneValue: hasOneValue)
            let places = order?.places(of: criterion.test)
            fieldCases = fieldCases.flatMap { fieldCase in
                [true, false].compactMap { holds in
                    if hasOneValue {
                        let answer = fieldCase.answer(to: criterion.test, at: places)
                        guard answer == nil || answer == holds else { return nil }
                    }
                    guard bounds.allow(holds, beside: fieldCase.tests) else { return nil }
                    var fieldCase = fieldCase
                    if holds { fieldCase.tests |= 1 << UInt64(index) }
                    return fieldCase
                }
            }
            guard fieldCases.count <= 8 * Self.maximumCount else { return nil }
        }
        let patterns = hasOneValue && unitesPatterns ? Self.unitedPatterns(own.map(\.test)) : []
        fieldCases = Self.distinguish(patterns, in: fieldCases, from: own.count)
        guard fieldCases.count <= 16 * Self.maximumCount else { return nil }
        cases = Array(Set(fieldCases.map(\.tests))).sorted()
        guard cases.count <= Self.maximumCount else { return nil }

        for (index, criterion) in own.enumerated() { add(criterion, fieldCases) { $0.tests >> UInt64(index) & 1 == 1 } }
        guard hasOneValue else { return }
        func addDerived(_ test: FindTest, _ holds: (FieldCase) -> Bool) {
            add(FindCriterion(field: field, values: .one, test: test), fieldCases, holds)
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

    private static func places(_ order: FindOperandOrder?) -> [FieldCase] {
        [FieldCase(isEmpty: true), FieldCase()] + (order.map { $0.places.map { FieldCase(place: $0) } } ?? [])
    }

    /// How the earlier tests limit the result of one test, as bits.
    private struct Bounds {
        /// Tests that imply it.
        private var implying: UInt64 = 0
        /// Tests that it implies.
        private var implied: UInt64 = 0
        /// Tests that cannot hold together with it.
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

    /// Adds a choice, unless it separates cases that the tests do not separate, or finds the same as another one.
    private mutating func add(_ criterion: FindCriterion, _ fieldCases: [FieldCase], _ holds: (FieldCase) -> Bool) {
        var found: UInt64 = 0
        var missed: UInt64 = 0
        for fieldCase in fieldCases {
            guard let place = cases.firstIndex(of: fieldCase.tests) else {
                preconditionFailure("the cases are those of the tests")
            }
            let bit = UInt64(1) << UInt64(place)
            if holds(fieldCase) { found |= bit } else { missed |= bit }
        }
        guard found & missed == 0, found != 0, !choices.contains(where: { $0.cases == found }) else { return }
        choices.append(CriterionCases(criterion: criterion, cases: found))
    }

    /// Two or three patterns, as bits, and the tests that express that they hold together.
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

    /// Splits the cases in which patterns hold together, one for each way in which they can.
    private static func distinguish(
        _ patterns: [UnitedPatterns],
        in fieldCases: [FieldCase],
        from first: Int
    ) -> [FieldCase] {
        var fieldCases = fieldCases
        var place = UInt64(first)
        for (tests, alternatives) in patterns {
            guard place + UInt64(alternatives.count) <= 64 else { break }
            fieldCases = fieldCases.flatMap { fieldCase in
                guard fieldCase.tests & tests == tests else { return [fieldCase] }
                return (1..<UInt64(1 << alternatives.count)).map { ways in
                    var fieldCase = fieldCase
                    fieldCase.tests |= ways << place
                    return fieldCase
                }
            }
            place += UInt64(alternatives.count)
        }
        return fieldCases
    }

    /// Word tests that hold together, as one criterion: `=red =fox`.
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

/// The sorted operands of a field's comparisons. They divide the order into places: the gap before the first operand,
/// the first, the gap after it, and so on.
struct FindOperandOrder {
    private let operands: [FindOperand]
    private let keys: [FindOrderKey]
    private let intervalsByTest: [FindTest: ClosedRange<Int>]

    /// `nil` if there are no comparisons, or if some operands have no order between them.
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
            // A range whose start is after its end finds nothing, so it gets a place after the last one.
            byTest[test] = from <= to ? from...to : (last + 1)...(last + 1)
        }
        intervalsByTest = byTest
    }

    var places: ClosedRange<Int> { 0...2 * operands.count }

    func places(of test: FindTest) -> ClosedRange<Int>? { intervalsByTest[test] }

    /// All intervals of places that one criterion can express.
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
