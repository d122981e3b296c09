/// A find as alternatives, one of which must hold.
///
/// FileMaker has no "not" inside a request, only omit requests, and an omit request is a conjunction itself. So an
/// alternative consists of tests that must hold together, and of conjunctions ("exclusions") none of which may hold as
/// a whole. Tests are numbered in the order of their first appearance, and all results are sorted by these numbers.
struct FindNormalForm {
    struct Alternative: Hashable {
        /// Tests that must all hold, in ascending order. Empty: all records.
        var tests: [Int] = []
        /// Conjunctions that must not hold.
        var exclusions: Set<[Int]> = []
    }

    /// The tests of the find, and tests derived from them.
    private(set) var formula: FindFormula
    private(set) var alternatives: [Alternative] = []
    /// Limits the work for finds that multiply out.
    private let limit: Int

    /// - Parameter limit: The greatest number of alternatives.
    /// - Throws: `tooComplex` if there are more.
    init(_ formula: FindFormula, limit: Int) throws(DataAPI.FindError) {
        self.formula = formula
        self.limit = limit
        alternatives = absorbed(try alternatives(of: formula.root)).compactMap { simplified($0) }
        alternatives = absorbed(alternatives)
    }

    func criteria(_ numbers: [Int]) -> [FindCriterion] { numbers.map { formula.criteria[$0] } }

    /// Joins the tests of each alternative to one for each field, as a request has one criterion for each.
    mutating func joinTests() throws(DataAPI.FindError) {
        for index in alternatives.indices {
            let (tests, excluded) = try joined(alternatives[index].tests)
            alternatives[index].tests = tests
            alternatives[index].exclusions.formUnion(excluded.map { [$0] })
        }
    }

    /// The tests as one for each field, and tests that must not hold in addition.
    private mutating func joined(_ numbers: [Int]) throws(DataAPI.FindError) -> (tests: [Int], excluded: [Int]) {
        let joined = try FieldConflicts.joined(criteria(numbers))
        return (joined.tests.map { formula.number(of: $0) }.sorted(), joined.excluded.map { formula.number(of: $0) })
    }

    /// An alternative in words, without its values.
    func words(_ tests: [Int], _ exclusions: Set<[Int]>) -> String {
        func all(_ numbers: [Int]) -> String { criteria(numbers).map(\.words).joined(separator: " and ") }
        let excluded = exclusions.sorted { $0.lexicographicallyPrecedes($1) }.prefix(1).map { "not (\(all($0)))" }
        return "\"\(((tests.isEmpty ? [] : [all(tests)]) + excluded).joined(separator: " and "))\""
    }
}

// MARK: - Multiplying out

extension FindNormalForm {
    private mutating func alternatives(of node: FindFormula.Node) throws(DataAPI.FindError) -> [Alternative] {
        switch node {
        case .test(let number): [Alternative(tests: [number])]
        case .or(let parts): try any(parts)
        case .and(let parts): try all(parts)
        case .not(let inner): try alternatives(ofNot: inner)
        }
    }

    private mutating func alternatives(ofNot node: FindFormula.Node) throws(DataAPI.FindError) -> [Alternative] {
        switch node {
        case .test(let number): [Alternative(exclusions: [[number]])]
        case .not(let inner): try alternatives(of: inner)
        case .or(let parts): try all(parts.map { .not($0) })
        case .and(let parts): try alternatives(ofNotAll: parts)
        }
    }

    /// `!(a && b && …)`. Tests stay together as one exclusion, which is one omit request; other parts are negated one
    /// by one.
    private mutating func alternatives(
        ofNotAll parts: [FindFormula.Node]
    ) throws(DataAPI.FindError) -> [Alternative] {
        var tests: [Int] = []
        var others: [FindFormula.Node] = []
        for part in parts {
            if case .test(let number) = part { tests.append(number) } else { others.append(part) }
        }
        var found: [Alternative] = []
        if !tests.isEmpty {
            // !(test && !complement) is !test || complement.
            let joined = try joined(tests)
            found = [Alternative(exclusions: [joined.tests])] + joined.excluded.map { Alternative(tests: [$0]) }
        }
        return try found + any(others.map { .not($0) })
    }

    private mutating func any(_ parts: [FindFormula.Node]) throws(DataAPI.FindError) -> [Alternative] {
        var found: [Alternative] = []
        for part in parts { found += try alternatives(of: part) }
        return try bounded(absorbed(found))
    }

    private mutating func all(_ parts: [FindFormula.Node]) throws(DataAPI.FindError) -> [Alternative] {
        // Parts with one alternative, such as long lists of exclusions, are joined first, because they do not multiply.
        var common = Alternative()
        var factors: [[Alternative]] = []
        for part in parts {
            let alternatives = try alternatives(of: part)
            if let only = alternatives.first, alternatives.count == 1 {
                common.tests += only.tests
                common.exclusions.formUnion(only.exclusions)
            } else {
                factors.append(alternatives)
            }
        }
        common.tests = Set(common.tests).sorted()
        var product = simplified(common).map { [$0] } ?? []
        for factor in factors {
            var next: [Alternative] = []
            for left in product {
                for right in factor {
                    let joined = Alternative(
                        tests: Set(left.tests + right.tests).sorted(),
                        exclusions: left.exclusions.union(right.exclusions)
                    )
                    if let joined = simplified(joined) { next.append(joined) }
                }
                // Absorbing may reduce the number to the limit, but hardly from four times the limit.
                guard next.count <= 4 * limit else { return try bounded(next) }
            }
            product = try bounded(absorbed(next))
        }
        return product
    }

    private func bounded(_ alternatives: [Alternative]) throws(DataAPI.FindError) -> [Alternative] {
        guard alternatives.count <= limit else {
            throw DataAPI.FindError(.tooComplex, "The find multiplies out to more than \(limit) alternatives.")
        }
        return alternatives
    }
}

// MARK: - Simplifying

extension FindNormalForm {
    /// The same alternative with fewer tests; `nil` if it contradicts itself.
    func simplified(_ alternative: Alternative) -> Alternative? {
        let criteria = formula.criteria
        func implies(_ one: Int, _ other: Int) -> Bool {
            one == other
                || criteria[one].field == criteria[other].field
                    && criteria[one].test.implies(criteria[other].test)
        }
        func excludes(_ one: Int, _ other: Int) -> Bool {
            criteria[one].field == criteria[other].field && criteria[one].values == .one
                && criteria[one].test.excludes(criteria[other].test)
        }
        var result = Alternative()
        for test in alternative.tests where !result.tests.contains(where: { implies($0, test) }) {
            guard !result.tests.contains(where: { excludes($0, test) }) else { return nil }
            result.tests.removeAll { implies(test, $0) }
            result.tests.append(test)
        }
        for exclusion in alternative.exclusions {
            // An exclusion that contradicts the tests excludes nothing. From any other, the tests that are implied are
            // dropped.
            if exclusion.contains(where: { one in result.tests.contains { excludes($0, one) } }) { continue }
            let rest = exclusion.filter { one in !result.tests.contains { implies($0, one) } }
            guard !rest.isEmpty else { return nil }
            result.exclusions.insert(rest)
        }
        let exclusions = result.exclusions
        result.exclusions = exclusions.filter { exclusion in
            exclusion.count == 1
                || !exclusions.contains { $0.count < exclusion.count && Set($0).isSubset(of: exclusion) }
        }
        return result
    }

    /// The alternatives without those that add nothing to another one.
    private func absorbed(_ alternatives: [Alternative]) -> [Alternative] {
        var indices: [[Int]: [Int]] = [:]
        for (index, alternative) in alternatives.enumerated() { indices[alternative.tests, default: []].append(index) }
        // Only an alternative whose tests are a subset can include another one. Subsets are enumerated, unless there
        // are too many.
        let isManifold = alternatives.contains { $0.tests.count > 6 }
        return alternatives.enumerated().filter { index, alternative in
            let candidates =
                isManifold ? Array(alternatives.indices) : alternative.tests.subsets.flatMap { indices[$0] ?? [] }
            return !candidates.contains { other in
                guard other != index, alternatives[other].includes(alternative) else { return false }
                // Of two equal alternatives the first stays.
                return other < index || !alternative.includes(alternatives[other])
            }
        }
        .map(\.element)
    }
}

extension FindNormalForm.Alternative {
    /// Whether every possible record of the other alternative also belongs to this one.
    fileprivate func includes(_ other: Self) -> Bool {
        tests.count <= other.tests.count && tests.allSatisfy(other.tests.contains)
            && other.excludesAll(of: exclusions)
    }

    /// Whether no record of this one fulfils any of these conjunctions: excluding `a` also excludes `a && b`.
    func excludesAll(of conjunctions: Set<[Int]>) -> Bool {
        conjunctions.isSubset(of: exclusions)
            || conjunctions.allSatisfy { conjunction in
                exclusions.contains { Set($0).isSubset(of: conjunction) }
            }
    }
}

extension Array {
    /// All subsets of the elements, in their order: 2 to the power of the count.
    fileprivate var subsets: [[Element]] {
        reduce(into: [[]]) { subsets, element in subsets += subsets.map { $0 + [element] } }
    }
}

/// Joins tests of the same field that must hold together, because a request has one criterion per field.
enum FieldConflicts {
    /// One test for each field, and tests that must not hold in addition: together they mean what the tests mean.
    ///
    /// - Throws: `sameField` if there is none.
    static func joined(
        _ tests: [FindCriterion]
    ) throws(DataAPI.FindError) -> (tests: [FindCriterion], excluded: [FindCriterion]) {
        var fields: [String] = []
        var testsByField: [String: [FindCriterion]] = [:]
        for test in tests {
            if testsByField[test.field] == nil { fields.append(test.field) }
            testsByField[test.field, default: []].append(test)
        }
        var joined: (tests: [FindCriterion], excluded: [FindCriterion]) = ([], [])
        for field in fields {
            let ofField = withoutImplied(testsByField[field] ?? [])
            guard let (test, excluded) = united(ofField) else { throw refusal(ofField[0], ofField[1]) }
            joined.tests.append(test)
            joined.excluded += excluded
        }
        return joined
    }

    private static func refusal(_ one: FindCriterion, _ other: FindCriterion) -> DataAPI.FindError {
        let several =
            one.values == .any
            ? " Different values of \(one.field) may fulfil its conditions; isIn(_:) asks for one between two." : ""
        return DataAPI.FindError(
            .sameField,
            """
            FileMaker cannot find by \"\(one.words)\" and \"\(other.words)\" together, as a request has one criterion for \
            each field. Find by the one that matches fewer records, and filter those by the other.\(several)
            """
        )
    }

    /// The tests without those that others imply, such as "not empty" beside a test that no empty value passes.
    private static func withoutImplied(_ tests: [FindCriterion]) -> [FindCriterion] {
        var kept: [FindCriterion] = []
        for test in tests where !kept.contains(where: { $0.test.implies(test.test) }) {
            kept.removeAll { test.test.implies($0.test) }
            kept.append(test)
        }
        return kept
    }

    /// Joins tests of a field with one value; `nil` if they cannot be joined. Words are searched in any order, so all
    /// of them are one criterion. Two bounds of numbers, dates or times become a range. Beside any other test, "at most
    /// 65" becomes "not more than 65", since a value that passed the other test can be compared.
    private static func united(_ tests: [FindCriterion]) -> (FindCriterion, excluded: [FindCriterion])? {
        guard var first = tests.first else { return nil }
        var others = tests.dropFirst()
        if others.isEmpty { return (first, []) }
        guard tests.allSatisfy({ $0.values == .one }) else { return nil }
        if let words = FindTest.words(uniting: tests.map(\.test)) {
            first.test = words
            return (first, [])
        }
        guard tests.allSatisfy(\.test.isOrdered) else { return nil }
        if let (range, rest) = range(in: tests) {
            first.test = range
            others = rest
        }
        let excluded = others.flatMap { $0.test.complements ?? [] }
        return (first, excluded.map { FindCriterion(field: first.field, values: .one, test: $0) })
    }

    private static func range(in tests: [FindCriterion]) -> (FindTest, rest: ArraySlice<FindCriterion>)? {
        for (lowerIndex, lower) in tests.enumerated() {
            guard case .compares(.greaterOrEqual, let least) = lower.test else { continue }
            for (upperIndex, upper) in tests.enumerated() {
                guard case .compares(.lessOrEqual, let most) = upper.test,
                    let order = FindOrderKey.compare(least, most), order <= 0
                else {
                    continue
                }
                let rest = tests.indices.filter { $0 != lowerIndex && $0 != upperIndex }.map { tests[$0] }
                return (.range(least, most), rest[...])
            }
        }
        return nil
    }
}
