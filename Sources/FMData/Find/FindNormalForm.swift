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

    private(set) var criteria: [FindCriterion] = []
    private(set) var alternatives: [Alternative] = []
    private var numbers: [FindCriterion: Int] = [:]

    /// Bounds the work for finds that multiply out.
    static let maximumAlternatives = 1000

    init(_ expression: FindExpression) throws(DataAPI.FindError) {
        // What adds nothing goes first: it may hold tests that cannot be told to FileMaker together.
        for alternative in try absorbed(alternatives(of: expression)) {
            alternatives.append(try oneTestPerField(alternative))
        }
        alternatives = absorbed(alternatives)
    }

    private mutating func number(of criterion: FindCriterion) -> Int {
        if let number = numbers[criterion] { return number }
        numbers[criterion] = criteria.count
        criteria.append(criterion)
        return criteria.count - 1
    }
}

// MARK: - Multiplying out

extension FindNormalForm {
    private mutating func alternatives(of expression: FindExpression) throws(DataAPI.FindError) -> [Alternative] {
        switch expression {
        case .unusable(let error):
            throw error
        case .test(let criterion):
            return [Alternative(tests: [number(of: criterion)])]
        case .or(let parts):
            return try any(parts)
        case .and(let parts):
            return try all(parts)
        case .not(let inner):
            return try alternatives(ofNot: inner)
        }
    }

    private mutating func alternatives(ofNot expression: FindExpression) throws(DataAPI.FindError) -> [Alternative] {
        switch expression {
        case .unusable(let error):
            throw error
        case .test(let criterion):
            return [Alternative(exclusions: [[number(of: criterion)]])]
        case .not(let inner):
            return try alternatives(of: inner)
        case .or(let parts):
            return try all(parts.map { .not($0) })
        case .and(let parts):
            return try alternatives(ofNotAll: parts)
        }
    }

    /// `!(a && b && …)`. Tests stay together as one exclusion, which is one omit request; what is no test is negated by
    /// itself.
    private mutating func alternatives(ofNotAll parts: [FindExpression]) throws(DataAPI.FindError) -> [Alternative] {
        var tests: [FindCriterion] = []
        var others: [FindExpression] = []
        for part in parts {
            if case .test(let criterion) = part { tests.append(criterion) } else { others.append(part) }
        }
        var found: [Alternative] = []
        for joined in FieldConflicts.joined(tests) {
            // !(test && !complement) is !test || complement.
            found.append(Alternative(exclusions: [joined.tests.map { number(of: $0) }.sorted()]))
            found += joined.excluded.map { Alternative(tests: [number(of: $0)]) }
        }
        return try found + any(others.map { .not($0) })
    }

    private mutating func any(_ parts: [FindExpression]) throws(DataAPI.FindError) -> [Alternative] {
        var found: [Alternative] = []
        var seen: Set<Alternative> = []
        for part in parts {
            for alternative in try alternatives(of: part) where seen.insert(alternative).inserted {
                found.append(alternative)
            }
        }
        return try bounded(found)
    }

    private mutating func all(_ parts: [FindExpression]) throws(DataAPI.FindError) -> [Alternative] {
        var product = [Alternative()]
        for part in parts {
            let factors = try alternatives(of: part)
            var next: [Alternative] = []
            var seen: Set<Alternative> = []
            for left in product {
                for right in factors {
                    let joined = Alternative(
                        tests: Set(left.tests + right.tests).sorted(),
                        exclusions: left.exclusions.union(right.exclusions)
                    )
                    if seen.insert(joined).inserted { next.append(joined) }
                }
                _ = try bounded(next)
            }
            product = next
        }
        return product
    }

    private func bounded(_ alternatives: [Alternative]) throws(DataAPI.FindError) -> [Alternative] {
        guard alternatives.count <= Self.maximumAlternatives else {
            throw DataAPI.FindError(
                .tooComplex,
                "The find multiplies out to more than \(Self.maximumAlternatives) alternatives."
            )
        }
        return alternatives
    }
}

// MARK: - Simplifying

extension FindNormalForm {
    /// Without alternatives that contradict themselves or add nothing to another one, and without exclusions that add
    /// nothing to a wider one.
    private func absorbed(_ alternatives: [Alternative]) -> [Alternative] {
        var kept: [Alternative] = []
        for var alternative in alternatives {
            let tests = Set(alternative.tests)
            guard !alternative.exclusions.contains(where: tests.isSuperset) else { continue }
            alternative.exclusions = alternative.exclusions.filter { exclusion in
                !alternative.exclusions.contains { $0.count < exclusion.count && Set($0).isSubset(of: exclusion) }
            }
            guard !kept.contains(where: { $0.includes(alternative) }) else { continue }
            kept.removeAll { alternative.includes($0) }
            kept.append(alternative)
        }
        return kept
    }

    /// Resolves tests of one field that must hold together.
    private mutating func oneTestPerField(_ alternative: Alternative) throws(DataAPI.FindError) -> Alternative {
        let joined = FieldConflicts.joined(alternative.tests.map { criteria[$0] })
        guard joined.count <= 1 else {
            throw DataAPI.FindError(
                .sameField,
                "Two conditions on the field \(joined[1].tests[0].field) cannot hold together in one request."
            )
        }
        var resolved = Alternative(exclusions: alternative.exclusions)
        for criterion in joined.first?.tests ?? [] { resolved.tests.append(number(of: criterion)) }
        for criterion in joined.first?.excluded ?? [] { resolved.exclusions.insert([number(of: criterion)]) }
        resolved.tests.sort()
        return resolved
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

// MARK: - One criterion per field

/// What to do with tests of the same field that must hold together, as a request has one criterion per field.
enum FieldConflicts {
    /// A conjunction with one test per field, and tests that must not hold beside it.
    struct Joined {
        var tests: [FindCriterion] = []
        var excluded: [FindCriterion] = []
    }

    /// The tests as one such conjunction where that says exactly the same, as several where it cannot be said in one.
    static func joined(_ tests: [FindCriterion]) -> [Joined] {
        var fields: [String] = []
        var testsByField: [String: [FindCriterion]] = [:]
        for test in tests {
            if testsByField[test.field] == nil { fields.append(test.field) }
            if testsByField[test.field]?.contains(test) != true { testsByField[test.field, default: []].append(test) }
        }
        var groups: [Joined] = tests.isEmpty ? [] : [Joined()]
        for field in fields {
            let ofField = withoutImplied(testsByField[field] ?? [])
            if let (test, excluded) = united(ofField) {
                groups[0].tests.append(test)
                groups[0].excluded += excluded
            } else {
                for (index, test) in ofField.enumerated() {
                    if index == groups.count { groups.append(Joined()) }
                    groups[index].tests.append(test)
                }
            }
        }
        return groups
    }

    /// "Not empty" says nothing new beside a test that no empty value passes.
    private static func withoutImplied(_ tests: [FindCriterion]) -> [FindCriterion] {
        let others = tests.filter { $0.test != .isNotEmpty }
        return others.contains(where: \.test.impliesNotEmpty) ? others : tests
    }

    /// Comparisons of numbers, dates or times on a field with one value: two bounds become a range; beside any other
    /// test, "at most 65" is "not more than 65", since a value that passed the test can be compared.
    private static func united(_ tests: [FindCriterion]) -> (FindCriterion, excluded: [FindCriterion])? {
        guard var first = tests.first else { return nil }
        var others = tests.dropFirst()
        if others.isEmpty { return (first, []) }
        guard first.isOwnField, tests.allSatisfy({ $0.test.complements != nil }) else { return nil }
        if let (range, rest) = range(in: tests) {
            first.test = range
            others = rest
        }
        let excluded = others.flatMap { $0.test.complements ?? [] }
        return (first, excluded.map { FindCriterion(field: first.field, test: $0) })
    }

    private static func range(in tests: [FindCriterion]) -> (FindTest, rest: ArraySlice<FindCriterion>)? {
        for (lowerIndex, lower) in tests.enumerated() {
            guard case .compares(.greaterOrEqual, let least) = lower.test else { continue }
            for (upperIndex, upper) in tests.enumerated() {
                guard case .compares(.lessOrEqual, let most) = upper.test else { continue }
                let rest = tests.indices.filter { $0 != lowerIndex && $0 != upperIndex }.map { tests[$0] }
                return (.range(least, most), rest[...])
            }
        }
        return nil
    }
}
