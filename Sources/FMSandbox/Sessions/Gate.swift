import NIOConcurrencyHelpers

/// Who may enter and who waits, in the order they came.
struct GateQueue: Equatable, Sendable {
    private(set) var isBusy = false
    private var waiting: [Int] = []

    /// Whether this one may enter at once; otherwise it waits for its turn.
    mutating func enter(_ id: Int) -> Bool {
        guard isBusy else {
            isBusy = true
            return true
        }
        waiting.append(id)
        return false
    }

    /// Who enters now that the one inside has left; nil if nobody waits.
    mutating func leave() -> Int? {
        guard !waiting.isEmpty else {
            isBusy = false
            return nil
        }
        return waiting.removeFirst()
    }
}

/// Lets one task in at a time, in the order they came: a session is one queue.
final class Gate: Sendable {
    private struct State {
        var queue = GateQueue()
        var nextId = 0
        var continuations: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = NIOLockedValueBox(State())

    var isBusy: Bool { state.withLockedValue { $0.queue.isBusy } }

    func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLockedValue { state in
                state.nextId += 1
                if state.queue.enter(state.nextId) { return true }
                state.continuations[state.nextId] = continuation
                return false
            }
            if mayEnter { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLockedValue { state in
            state.queue.leave().flatMap { state.continuations.removeValue(forKey: $0) }
        }
        next?.resume()
    }
}
