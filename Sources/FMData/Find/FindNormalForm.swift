/// A find as alternatives, one of which must hold.
///
/// FileMaker knows no "not" inside a request, only omit requests, and an omit request is a conjunction itself. So the
/// form is: some tests that hold together, and some conjunctions ("exclusions") none of which may hold as a whole.
/// Tests are named by number in the order of their first appearance; all results are ordered by them.
struct FindNormalForm {
    struct Alternative: Hashable {
        /// Tests that all hold, in ascending order. Empty: all records.
        var tests: [Int] = []
        /// Conjunctions that must not hold.
        var exclusions: Set<[Int]> = []
    }

    /// The tests of the find, and what became of them.
    private(set) var formula: FindFormula
    private(set) var alternatives: [Alternative] = []
    /// Bounds the work for finds that multiply out.
    private let limit: Int

    /// - Parameter limit: The most alternatives.
    /// - Throws: `tooComplex` when there are more.
    init(_ formula: FindFormula, limit: Int) throws(DataAPI.FindError) {
        self.formula = formula
        self.limit = limit
        alternatives = absorbed(try alternatives(of: formula.root)).compactMap { simplified($0) }
        alternatives = absorbed(alternatives)
    }

    mutating func number(of criterion: FindCriterion) -> Int { formula.number(of: criterion) }

    func criteria(_ numbers: [Int]) -> [FindCriterion] { numbers.map { formula.criteria[$0] } }

    /// Tests as conjunctions that a request can hold, sorted; see ``FieldConflicts``.
    mutating func joined(_ numbers: [Int]) -> [(tests: [Int], excluded: [Int])] {
        FieldConflicts.joined(criteria(numbers)).map { joined in
            (joined.tests.map { formula.number(of: $0) }.sorted(), joined.excluded.map { formula.number(of: $0) })
        }
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

    /// `!(a && b && …)`. Tests stay together as one exclusion, which is one omit request; what is no test is negated by
    /// itself.
    private mutating func alternatives(
        ofNotAll parts: [FindFormula.Node]
    ) throws(DataAPI.FindError) -> [Alternative] {
        var tests: [Int] = []
        var others: [FindFormula.Node] = []
        for part in parts {
            if case .test(let number) = part { tests.append(number) } else { others.append(part) }
        }
        var found: [Alternative] = []
        for (tests, excluded) in joined(tests) {
            // !(test && !complement) is !test || complement.
            found.append(Alternative(exclusions: [tests]))
            found += excluded.map { Alternative(tests: [$0]) }
        }
        return try found + any(others.map { .not($0) })
    }

    private mutating func any(_ parts: [FindFormula.Node]) throws(DataAPI.FindError) -> [Alternative] {
        var found: [Alternative] = []
        for part in parts { found += try alternatives(of: part) }
        return try bounded(absorbed(found))
    }

    private mutating func all(_ parts: [FindFormula.Node]) throws(DataAPI.FindError) -> [Alternative] {
        // Parts with one alternative, such as long lists of exclusions, are joined first: they multiply nothing.
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
                // Absorbing may bring the number down to the limit, but hardly from four times as many.
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
    /// The same alternative with fewer tests; `nil` when it contradicts itself.
    func simplified(_ alternative: Alternative) -> Alternative? {
        let criteria = formula.criteria
        func implies(_ one: Int, _ other: Int) -> Bool {
            one == other
                || criteria[one].field == criteria[other].field
                    && FindRelations.implies(criteria[one].test, criteria[other].test)
        }
        func excludes(_ one: Int, _ other: Int) -> Bool {
            criteria[one].field == criteria[other].field && criteria[one].values == .one
                && FindRelations.excludes(criteria[one].test, criteria[other].test)
        }
        var result = Alternative()
        for test in alternative.tests where !result.tests.contains(where: { implies($0, test) }) {
            guard !result.tests.contains(where: { excludes($0, test) }) else { return nil }
            result.tests.removeAll { implies(test, $0) }
            result.tests.append(test)
        }
        for exclusion in alternative.exclusions {
            // An exclusion that contradicts the tests excludes nothing. Of any other, what the tests imply can be left out.
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

    /// Without alternatives that add nothing to another one.
    private func absorbed(_ alternatives: [Alternative]) -> [Alternative] {
        var indices: [[Int]: [Int]] = [:]
        for (index, alternative) in alternatives.enumerated() { indices[alternative.tests, default: []].append(index) }
        // Alternatives that may include one are found by the selections of its tests, unless there are too many.
        let isManifold = alternatives.contains { $0.tests.count > 6 }
        return alternatives.enumerated().filter { index, alternative in
            let candidates =
                isManifold ? Array(alternatives.indices) : alternative.tests.subsets.flatMap { indices[$0] ?? [] }
            return !candidates.contains { other in
                guard other != index, alternatives[other].includes(alternative) else { return false }
                // Of two that are the same the first stays.
                return other < index || !alternative.includes(alternatives[other])
            }
        }
        .map(\.element)
    }
}

extension FindNormalForm.Alternative {
    /// Whether every record of the other one is one of this, whatever the records are.
    fileprivate func includes(_ other: Self) -> Bool {
        tests.count <= other.tests.count && tests.allSatisfy(other.tests.contains)
            && other.excludesAll(of: exclusions)
    }

    /// Whether no record of this one fulfils any of these conjunctions: to exclude `a` excludes `a && b`.
    func excludesAll(of conjunctions: Set<[Int]>) -> Bool {
        conjunctions.isSubset(of: exclusions)
            || conjunctions.allSatisfy { conjunction in
                exclusions.contains { Set($0).isSubset(of: conjunction) }
            }
    }
}

extension Array {
    /// Every selection of elements, in their order: 2 to the power of the count.
    fileprivate var subsets: [[Element]] {
        reduce(into: [[]]) { subsets, element in subsets += subsets.map { $0 + [element] } }
    }
}
