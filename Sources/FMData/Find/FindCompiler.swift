/// From a find to the sequence of requests that FileMaker applies one after the other, or to several.
///
/// Three ways lead to a sequence, and the shortest result is taken:
///
/// 1. **By cases**, when there are few tests: all that a record may be like is looked at, and a sequence is built from its
///    end (``FindDecisionList``). What has no sequence is known to have none.
/// 2. **In a row**, for finds of any length whose alternatives exclude more and less of the same.
/// 3. **In layers**, for some alternatives that exclude different records (``FindSequences``).
struct FindCompiler {
    /// The most requests of a call.
    var maximumRequests: Int
    /// The most calls.
    var maximumCalls: Int

    /// - Parameter maximumRequests: Taken to be from 1 to a million, more than any host would be asked.
    init(maximumRequests: Int, maximumCalls: Int) {
        self.maximumRequests = min(max(1, maximumRequests), 1_000_000)
        self.maximumCalls = maximumCalls
    }

    /// Thousands of values in a list and their exclusions, without multiplying out for minutes.
    private var maximumAlternatives: Int { max(5_000, 2 * maximumRequests) }

    /// The calls for a find.
    ///
    /// - Throws: Why it cannot be said, with the smallest example that shows why.
    func plan(_ expression: FindExpression) throws(DataAPI.FindError) -> FindPlan {
        do throws(DataAPI.FindError) {
            return try compile(expression)
        } catch {
            throw FindRefusal(of: expression, error, by: self).error
        }
    }

    /// - Throws: Why the find cannot be said, without an example.
    func compile(_ expression: FindExpression) throws(DataAPI.FindError) -> FindPlan {
        let formula = try FindFormula(expression)
        let cases = FindCases.of(formula)
        if let cases, cases.wanted.isEmpty { return FindPlan(parts: []) }
        if let cases, cases.wanted.count == cases.count { return try everything(formula) }

        var candidates: [[FindStep]] = []
        var isInseparable = false
        if let cases {
            switch FindDecisionList.steps(for: cases, limit: maximumRequests) {
            case .found(let steps): candidates.append(inOrderOfWriting(steps, formula))
            case .inseparable: isInseparable = true
            case .tooLong: break
            }
        }
        var form: FindNormalForm
        do throws(DataAPI.FindError) {
            form = try FindNormalForm(formula, limit: maximumAlternatives)
        } catch {
            // A find with too many alternatives may still have a short sequence, found by cases.
            guard let steps = candidates.first, steps.count <= maximumRequests else { throw error }
            return FindPlan(parts: [[steps]])
        }
        let alternatives = form.sayable()
        guard !alternatives.isEmpty else { return FindPlan(parts: []) }
        if alternatives.contains(where: { $0.conjunctions == [[]] && $0.exclusions.isEmpty }) {
            return try everything(formula)
        }
        let isConflicting = alternatives.contains { $0.conjunctions.count > 1 }
        if !isConflicting {
            let groups = FindSequences.groups(
                alternatives.map { FindNormalForm.Alternative(tests: $0.conjunctions[0], exclusions: $0.exclusions) }
            )
            let sequence =
                FindSequences.inARow(groups) ?? FindSequences.inLayers(groups, of: &form, limit: maximumRequests)
            // Of two sequences of the same length the first is taken: this one is closer to how the find was written.
            if let sequence { candidates.insert(sequence.map(form.step), at: 0) }
        }
        let shortest = candidates.min { $0.count < $1.count }
        if let shortest, shortest.count <= maximumRequests { return FindPlan(parts: [[shortest]]) }

        let split = FindSplitting(alternatives, limit: maximumRequests)
        let plan = FindPlan(parts: split.parts.map { $0.map { $0.map(form.step) } })
        if maximumCalls > 1, plan.callCount <= maximumCalls { return plan }
        throw refusal(isConflicting || isInseparable, requestCount: shortest?.count, callCount: plan.callCount)
    }

    private func refusal(_ isConflicting: Bool, requestCount: Int?, callCount: Int) -> DataAPI.FindError {
        let (code, reason): (DataAPI.FindError.Code, String) =
            if isConflicting {
                (.sameField, "One call cannot say the find, as a request has one criterion for each field.")
            } else if let requestCount {
                (
                    .tooManyRequests,
                    "The find takes \(requestCount) requests, and maximumRequests is \(maximumRequests)."
                )
            } else {
                (
                    .tooComplex,
                    "No sequence of up to \(maximumRequests) requests was found that says what the find says."
                )
            }
        let help =
            maximumCalls > 1
            ? "It takes \(callCount) calls, and \(maximumCalls) are allowed."
            : "\(callCount) calls can ask for it, whose answers are put together: calls(upTo: \(callCount)) of a found set allows "
                + "them, or maximumCalls of a FindQuery."
        return DataAPI.FindError(code, "\(reason) \(help)")
    }

    /// FileMaker has no request for all records, but every record's field is empty or not.
    private func everything(_ formula: FindFormula) throws(DataAPI.FindError) -> FindPlan {
        guard var criterion = formula.criteria.first(where: { !$0.field.contains("::") }) else {
            throw DataAPI.FindError(.matchesEverything, "Every record matches; get a range of records instead.")
        }
        let steps = [FindTest.isEmpty, .isNotEmpty].map { test in
            criterion.test = test
            return FindStep(criteria: [criterion], isOmit: false)
        }
        return FindPlan(parts: [[steps]])
    }

    /// Neighbours of one kind may change places; they come in the order of their tests.
    private func inOrderOfWriting(_ steps: [FindStep], _ formula: FindFormula) -> [FindStep] {
        let places = Dictionary(uniqueKeysWithValues: zip(formula.criteria, 0...))
        func place(_ step: FindStep) -> [Int] { step.criteria.map { places[$0] ?? places.count }.sorted() }
        var ordered: [FindStep] = []
        var rest = steps[...]
        while let first = rest.first {
            let run = rest.prefix { $0.isOmit == first.isOmit }
            ordered += run.map { (place($0), $0) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
            rest = rest.dropFirst(run.count)
        }
        return ordered
    }
}

/// An alternative as requests can say it.
struct FindAlternative {
    /// Conjunctions that must hold together: one, where a request can hold all tests.
    var conjunctions: [[Int]]
    var exclusions: Set<[Int]>
}

extension FindNormalForm {
    /// The alternatives with their tests joined, one per field, as far as that goes.
    mutating func sayable() -> [FindAlternative] {
        alternatives.flatMap { alternative in
            withoutConflictingPatterns(alternative.tests).map { tests in
                let joined = joined(tests)
                return FindAlternative(
                    conjunctions: joined.isEmpty ? [[]] : joined.map(\.tests),
                    exclusions: alternative.exclusions.union(joined.flatMap(\.excluded).map { [$0] })
                )
            }
        }
    }

    /// Patterns on one value that must hold together, as alternatives with one pattern.
    private mutating func withoutConflictingPatterns(_ tests: [Int]) -> [[Int]] {
        var patternsByField: [String: [Int]] = [:]
        for number in tests {
            let criterion = formula.criteria[number]
            guard criterion.values == .one, FindGlob(criterion.test) != nil else { continue }
            patternsByField[criterion.field, default: []].append(number)
        }
        var alternatives = [tests]
        for (field, patterns) in patternsByField.sorted(by: { $0.key < $1.key }) where patterns.count > 1 {
            guard let common = FindGlob.alternatives(to: patterns.map { formula.criteria[$0].test }) else { continue }
            let numbers = common.map { number(of: FindCriterion(field: field, values: .one, test: $0)) }
            alternatives = alternatives.flatMap { tests in
                numbers.map { number in tests.filter { !patterns.contains($0) } + [number] }
            }
        }
        return alternatives
    }

    func step(_ step: FindSequences.Step) -> FindStep {
        FindStep(criteria: criteria(step.tests), isOmit: step.isOmit)
    }
}
