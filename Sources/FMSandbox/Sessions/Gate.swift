import NIOConcurrencyHelpers

/// The order in which tasks enter: one is inside, the others wait in the order of their arrival.
struct GateQueue: Equatable, Sendable {
    private(set) var isBusy = false
    private var waiting: [Int] = []

    /// Returns whether the task may enter at once; otherwise it waits.
    mutating func enter(_ id: Int) -> Bool {
        guard isBusy else {
            isBusy = true
            return true
        }
        waiting.append(id)
        return false
    }

    /// Returns the task that enters after another has left; nil if none waits.
    mutating func leave() -> Int? {
        guard !waiting.isEmpty else {
            isBusy = false
            return nil
        }
        return waiting.removeFirst()
    }
}

/// Runs one task at a time, in the order of arrival. Each session has one.
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
