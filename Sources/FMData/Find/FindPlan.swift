/// What to ask the host for a find: usually one call, and otherwise several whose answers are put together.
struct FindPlan: Hashable, Sendable {
    /// The requests of one call, in order.
    typealias Call = [FindStep]

    /// The records that belong to any of these: to each, those that all its calls find. None: no record can match.
    var parts: [[Call]]

    var callCount: Int { parts.reduce(0) { $0 + $1.count } }
    /// The requests, when one call does.
    var onlyCall: Call? { callCount == 1 ? parts[0][0] : nil }
}

/// One request of a find: criteria that all must hold, and whether it takes away or adds.
struct FindStep: Hashable, Sendable {
    var criteria: [FindCriterion]
    var isOmit: Bool

    var request: DataAPI.FindRequest {
        DataAPI.FindRequest(
            criteria: Dictionary(uniqueKeysWithValues: criteria.map { ($0.field, $0.test.text) }),
            isOmit: isOmit
        )
    }
}

/// A find cut into calls that one host can be asked one after the other.
///
/// Alternatives go into as few calls as take them in a row. One whose tests a single request cannot hold together becomes
/// several calls, of whose answers it is what they have in common.
struct FindSplitting {
    /// Alternatives that go in a row.
    private var calls: [[FindSequences.Group]] = []
    private var intersections: [[[FindSequences.Step]]] = []
    private let limit: Int

    /// - Parameter limit: The most requests of one call.
    init(_ alternatives: [FindAlternative], limit: Int) {
        self.limit = limit
        let (simple, others) = (alternatives.filter { isSimple($0) }, alternatives.filter { !isSimple($0) })
        let groups = FindSequences.groups(
            simple.map { FindNormalForm.Alternative(tests: $0.conjunctions[0], exclusions: $0.exclusions) }
        )
        for group in groups { add(group) }
        intersections = others.map(calls)
    }

    /// The calls, those of a part that must be intersected together.
    var parts: [[[FindSequences.Step]]] {
        // Never nil: `fits` has made sure that the groups of each call go in a row.
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

    /// Each call has one of the conjunctions and some of the exclusions.
    private func calls(for alternative: FindAlternative) -> [[FindSequences.Step]] {
        let exclusions = FindSequences.inOrder(alternative.exclusions)
        let roomPerCall = max(1, limit - 1)
        let chunks = stride(from: 0, to: exclusions.count, by: roomPerCall).map {
            exclusions[$0..<min($0 + roomPerCall, exclusions.count)]
        }
        let count = max(alternative.conjunctions.count, chunks.count)
        return (0..<count).map { index in
            let tests = alternative.conjunctions[min(index, alternative.conjunctions.count - 1)]
            // Exclusions that fit into one call are in every call, so that each fetches fewer records.
            let excluded = chunks.count < 2 ? chunks.first : index < chunks.count ? chunks[index] : nil
            return (tests.isEmpty ? [] : [FindSequences.Step(tests: tests, isOmit: false)])
                + (excluded ?? []).map { FindSequences.Step(tests: $0, isOmit: true) }
        }
    }
}
