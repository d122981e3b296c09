/// Compiles a find into one sequence of requests that FileMaker applies in order, or into several sequences.
///
/// Three methods give a sequence, and the shortest result is used:
///
/// 1. **By cases**, for few tests: all possible kinds of records are enumerated, and a sequence is built from its end
///    (``FindDecisionList``). If this method finds no sequence, none exists.
/// 2. **In a row**, for finds of any length whose alternatives exclude more and less of the same.
/// 3. **In layers**, for a few alternatives that exclude different records (``FindSequences``).
struct FindCompiler {
    /// The greatest number of requests in a call.
    var maximumRequests: Int
    /// The greatest number of calls.
    var maximumCalls: Int

    /// - Parameter maximumRequests: Limited to 1 … 1,000,000, more than any host is sent.
    init(maximumRequests: Int, maximumCalls: Int) {
        self.maximumRequests = min(max(1, maximumRequests), 1_000_000)
        self.maximumCalls = maximumCalls
    }

    /// The limit allows thousands of values in a list with their exclusions, but stops before the work takes minutes.
    private var maximumAlternatives: Int { max(5_000, 2 * maximumRequests) }

    /// Returns the calls for a find.
    ///
    /// - Throws: The reason why it cannot be expressed, with the smallest example.
    func plan(_ expression: FindExpression) throws(DataAPI.FindError) -> FindPlan {
        do throws(DataAPI.FindError) {
            return try compile(expression)
        } catch {
            throw FindRefusal(of: expression, error, by: self).error
        }
    }

    /// - Throws: The reason why the find cannot be expressed, without an example.
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
            // Of two sequences of the same length the first is used, so this one, which is closer to the written find,
            // goes first.
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

    /// FileMaker has no request for all records. But every record's field is empty or not empty, so two requests cover
    /// all.
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

    /// Sorts adjacent steps of the same kind, which may be reordered, by the order of their tests in the find.
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

/// An alternative in the form in which requests can express it.
struct FindAlternative {
    /// Conjunctions that must hold together; only one if a request can hold all tests.
    var conjunctions: [[Int]]
    var exclusions: Set<[Int]>
}

extension FindNormalForm {
    /// The alternatives with their tests joined to one per field, as far as possible.
    mutating func sayable() -> [FindAlternative] {
        alternatives.flatMap { alternative in
            withoutConflictingPatterns(alternative.tests).map { tests in
                let conjunctions = conjunctions(of: tests)
                return FindAlternative(
                    conjunctions: conjunctions.isEmpty ? [[]] : conjunctions.map(\.tests),
                    exclusions: alternative.exclusions.union(conjunctions.flatMap(\.excluded).map { [$0] })
                )
            }
        }
    }

    /// Replaces patterns on one value that must hold together by alternatives with one pattern each.
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

    func step(_ step: FindSequences.NumberedRequest) -> FindStep {
        FindStep(criteria: criteria(step.tests), isOmit: step.isOmit)
    }
}
