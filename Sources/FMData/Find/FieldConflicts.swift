/// Joins tests of the same field that must hold together, because a request has one criterion per field.
enum FieldConflicts {
    /// A conjunction with one test per field, and tests that must not hold in addition.
    struct Joined {
        var tests: [FindCriterion] = []
        var excluded: [FindCriterion] = []
    }

    /// The tests as one such conjunction if it has exactly the same meaning; otherwise as several.
    static func joined(_ tests: [FindCriterion]) -> [Joined] {
        var fields: [String] = []
        var testsByField: [String: [FindCriterion]] = [:]
        for test in tests {
            if testsByField[test.field] == nil { fields.append(test.field) }
            testsByField[test.field, default: []].append(test)
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

    /// The tests without those that others imply, such as "not empty" beside a test that no empty value passes.
    private static func withoutImplied(_ tests: [FindCriterion]) -> [FindCriterion] {
        var kept: [FindCriterion] = []
        for test in tests where !kept.contains(where: { FindRelations.implies($0.test, test.test) }) {
            kept.removeAll { FindRelations.implies(test.test, $0.test) }
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
                guard case .compares(.lessOrEqual, let most) = upper.test else { continue }
                let rest = tests.indices.filter { $0 != lowerIndex && $0 != upperIndex }.map { tests[$0] }
                return (.range(least, most), rest[...])
            }
        }
        return nil
    }
}
