/// All distinguishable kinds of records, as far as the tests of a find show: the combined cases of all fields.
struct FindCases {
    let count: Int
    /// The cases that the find wants.
    private(set) var wanted: CaseSet
    /// Per field, the criteria that a request may have, and the cases that they find.
    private(set) var choices: [[(criterion: FindCriterion, cases: CaseSet)]] = []
    private let ownCriteria: Set<FindCriterion>
    private var casesByTest: [CaseSet]

    static let maximumCount = 1 << 13

    /// The cases for the tests of a find; `nil` if there are too many, even if patterns are treated separately.
    static func of(_ formula: FindFormula) -> FindCases? {
        FindCases(formula, unitesPatterns: true) ?? FindCases(formula, unitesPatterns: false)
    }

    private init?(_ formula: FindFormula, unitesPatterns: Bool) {
        var testsByField: [String: [Int]] = [:]
        var names: [String] = []
        for (number, criterion) in formula.criteria.enumerated() {
            if testsByField[criterion.field] == nil { names.append(criterion.field) }
            testsByField[criterion.field, default: []].append(number)
        }
        var fields: [FindFieldCases] = []
        var count = 1
        for name in names {
            guard
                let field = FindFieldCases(
                    field: name,
                    tests: testsByField[name] ?? [],
                    in: formula.criteria,
                    unitesPatterns: unitesPatterns
                )
            else {
                return nil
            }
            fields.append(field)
            count *= field.cases.count
            guard count <= Self.maximumCount else { return nil }
        }
        self.count = count
        ownCriteria = Set(formula.criteria)
        wanted = CaseSet(count: count)
        casesByTest = Array(repeating: CaseSet(count: count), count: formula.criteria.count)
        var stride = 1
        for field in fields {
            let (size, step) = (field.cases.count, stride)
            func expanded(_ cases: UInt64) -> CaseSet {
                CaseSet(count: count) { cases >> UInt64($0 / step % size) & 1 == 1 }
            }
            for (index, number) in field.tests.enumerated() {
                let holding = field.cases.indices.reduce(0 as UInt64) { found, place in
                    field.cases[place] >> UInt64(index) & 1 == 1 ? found | 1 << UInt64(place) : found
                }
                casesByTest[number] = expanded(holding)
            }
            choices.append(field.choices.map { ($0.criterion, expanded($0.cases)) })
            stride *= size
        }
        wanted = cases(for: formula.root)
    }

    /// Whether the test is one of the find's own, instead of one derived from them.
    func isOwn(_ criterion: FindCriterion) -> Bool { ownCriteria.contains(criterion) }

    private func cases(for node: FindFormula.Node) -> CaseSet {
        switch node {
        case .test(let number): return casesByTest[number]
        case .not(let inner): return CaseSet(count: count) { _ in true }.subtracting(cases(for: inner))
        case .or(let parts): return parts.reduce(into: CaseSet(count: count)) { $0.formUnion(cases(for: $1)) }
        case .and(let parts):
            return parts.reduce(into: CaseSet(count: count) { _ in true }) { $0.formIntersection(cases(for: $1)) }
        }
    }
}

/// A set of cases, with one bit for each.
struct CaseSet: Hashable {
    private var words: [UInt64]

    init(count: Int) {
        words = [UInt64](repeating: 0, count: (count + 63) / 64)
    }

    init(count: Int, where isMember: (Int) -> Bool) {
        self.init(count: count)
        for position in 0..<count where isMember(position) { words[position / 64] |= 1 << UInt64(position % 64) }
    }

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }
    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    mutating func formUnion(_ other: CaseSet) {
        for index in words.indices { words[index] |= other.words[index] }
    }

    mutating func formIntersection(_ other: CaseSet) {
        for index in words.indices { words[index] &= other.words[index] }
    }

    mutating func subtract(_ other: CaseSet) {
        for index in words.indices { words[index] &= ~other.words[index] }
    }

    func intersection(_ other: CaseSet) -> CaseSet {
        var result = self
        result.formIntersection(other)
        return result
    }

    func subtracting(_ other: CaseSet) -> CaseSet {
        var result = self
        result.subtract(other)
        return result
    }

    func isDisjoint(with other: CaseSet) -> Bool {
        for index in words.indices where words[index] & other.words[index] != 0 { return false }
        return true
    }

    func isSubset(of other: CaseSet) -> Bool {
        for index in words.indices where words[index] & ~other.words[index] != 0 { return false }
        return true
    }
}
