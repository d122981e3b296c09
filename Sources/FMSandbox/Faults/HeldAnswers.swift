import NIOConcurrencyHelpers

/// Answers that are ready and wait for the test to let them go; see ``Sandbox/Fault/holdAnswer``.
final class HeldAnswers: Sendable {
    private struct Watcher {
        var count: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        /// In the order in which they were held.
        var answers: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var nextId = 0
        /// Answers whose task was cancelled before they were held.
        var cancelled: Set<Int> = []
        var watchers: [Watcher] = []

        mutating func takeSatisfiedWatchers() -> [Watcher] {
            let satisfied = watchers.filter { $0.count <= answers.count }
            watchers.removeAll { $0.count <= answers.count }
            return satisfied
        }
    }

    private let state = NIOLockedValueBox(State())

    var count: Int { state.withLockedValue { $0.answers.count } }

    /// Returns when the answer is released, or throws when its task is cancelled.
    func hold() async throws {
        let id = state.withLockedValue { state in
            state.nextId += 1
            return state.nextId
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let watchers = state.withLockedValue { state -> [Watcher]? in
                    guard state.cancelled.remove(id) == nil else { return nil }
                    state.answers.append((id, continuation))
                    return state.takeSatisfiedWatchers()
                }
                guard let watchers else { return continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.continuation.resume() }
            }
        } onCancel: {
            let answer = state.withLockedValue { state -> CheckedContinuation<Void, any Error>? in
                guard let index = state.answers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.answers.remove(at: index).continuation
            }
            answer?.resume(throwing: CancellationError())
        }
    }

    /// Lets the oldest answers go, or all of them.
    func release(_ count: Int? = nil) {
        let released = state.withLockedValue { state in
            let count = min(max(0, count ?? state.answers.count), state.answers.count)
            defer { state.answers.removeFirst(count) }
            return state.answers.prefix(count)
        }
        for answer in released { answer.continuation.resume() }
    }

    /// Returns once at least `count` answers are held.
    func untilHeld(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let satisfied = state.withLockedValue { state in
                state.watchers.append(Watcher(count: count, continuation: continuation))
                return state.takeSatisfiedWatchers()
            }
            for watcher in satisfied { watcher.continuation.resume() }
        }
    }
}
