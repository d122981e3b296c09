/// The calls that a find needs: usually one, otherwise several whose answers are combined.
struct FindPlan: Hashable, Sendable {
    /// The requests of one call, in order.
    typealias Call = [FindStep]

    /// The result is the union of the parts; each part is the intersection of its calls. Empty: no record can match.
    var parts: [[Call]]

    var callCount: Int { parts.reduce(0) { $0 + $1.count } }
    /// The requests, if one call is enough.
    var onlyCall: Call? { callCount == 1 ? parts[0][0] : nil }
}

/// One request of a find: criteria that must all hold, and whether it adds or removes records.
struct FindStep: Hashable, Sendable {
    var criteria: [FindCriterion]
    var isOmit: Bool

    var request: FindRequest {
        FindRequest(
            criteria: Dictionary(uniqueKeysWithValues: criteria.map { ($0.field, $0.test.text) }),
            isOmit: isOmit
        )
    }
}

/// Splits a find into calls that are sent one after the other.
///
/// Alternatives are put into as few calls as can hold them in a row. If a single request cannot hold the tests of an
/// alternative, it becomes several calls, and its result is the intersection of their answers.
struct FindSplitting {
    /// Per call, alternatives that form a row.
    private var calls: [[FindSequences.Group]] = []
    private var intersections: [[[FindSequences.NumberedRequest]]] = []
    private let limit: Int

    /// - Parameter limit: The greatest number of requests in one call.
    init(_ alternatives: [FindAlternative], limit: Int) {
        self.limit = limit
        let (simple, others) = (alternatives.filter { isSimple($0) }, alternatives.filter { !isSimple($0) })
        let groups = FindSequences.groups(
            simple.map { FindNormalForm.Alternative(tests: $0.conjunctions[0], exclusions: $0.exclusions) }
        )
        for group in groups { add(group) }
        intersections = others.map(calls)
    }

    /// The parts of the plan: each call alone, and the calls of an intersection together.
    var parts: [[[FindSequences.NumberedRequest]]] {
        // `inARow` never returns nil here: `fits` has checked the groups of each call.
        calls.compactMap { FindSequences.inARow($0) }.map { [$0] } + intersections
    }

    private func isSimple(_ alternative: FindAlternative) -> Bool {
        alternative.conjunctions.count == 1 && alternative.exclusions.count < limit
    }

    private mutating func add(_ group: FindSequences.Group) {
        let roomPerCall = limit - group.exclusions.count
        for start in stride(from: 0, to: group.tests.count, by: roomPerCall) {
            var part = group
            part.tests = Array(group.tests[start..<min(start + roomPerCall, group.tests.count)])
            let home = calls.indices.first { fits(calls[$0] + [part]) }
            if let home {
                calls[home] = FindSequences.inOrder(calls[home] + [part])
            } else {
                calls.append([part])
            }
        }
    }

    private func fits(_ groups: [FindSequences.Group]) -> Bool {
        guard groups.allSatisfy({ !$0.tests.contains([]) }) else { return false }
        return FindSequences.inARow(FindSequences.inOrder(groups)).map { $0.count <= limit } ?? false
    }

    /// Returns calls that each have one of the conjunctions and some of the exclusions.
    private func calls(for alternative: FindAlternative) -> [[FindSequences.NumberedRequest]] {
        let exclusions = FindSequences.inOrder(alternative.exclusions)
        let roomPerCall = max(1, limit - 1)
        let chunks = stride(from: 0, to: exclusions.count, by: roomPerCall).map {
            exclusions[$0..<min($0 + roomPerCall, exclusions.count)]
        }
        let count = max(alternative.conjunctions.count, chunks.count)
        return (0..<count).map { index in
            let tests = alternative.conjunctions[min(index, alternative.conjunctions.count - 1)]
            // If the exclusions fit into one call, every call has them, so that each fetches fewer records.
            let excluded = chunks.count < 2 ? chunks.first : index < chunks.count ? chunks[index] : nil
            return (tests.isEmpty ? [] : [FindSequences.NumberedRequest(tests: tests, isOmit: false)])
                + (excluded ?? []).map { FindSequences.NumberedRequest(tests: $0, isOmit: true) }
        }
    }
}
