import NIOConcurrencyHelpers

/// Answers that are ready and wait until a test releases them; see ``Sandbox/Fault/holdAnswer``.
final class HeldAnswers: Sendable {
    private struct State {
        /// The held answers, oldest first.
        var answers: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var nextId = 0
        /// Answers whose task was cancelled before they could be held.
        var cancelled: Set<Int> = []
    }

    private let state = NIOLockedValueBox(State())
    private let held = WatchedCount()

    var count: Int { state.withLockedValue { $0.answers.count } }

    /// Returns once the answer is released. Throws if its task is cancelled.
    func hold() async throws {
        let id = state.withLockedValue { state in
            state.nextId += 1
            return state.nextId
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isHeld = state.withLockedValue { state in
                    guard state.cancelled.remove(id) == nil else { return false }
                    state.answers.append((id, continuation))
                    return true
                }
                guard isHeld else { return continuation.resume(throwing: CancellationError()) }
                held.change(by: 1)
            }
        } onCancel: {
            let answer = state.withLockedValue { state -> CheckedContinuation<Void, any Error>? in
                guard let index = state.answers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.answers.remove(at: index).continuation
            }
            guard let answer else { return }
            held.change(by: -1)
            answer.resume(throwing: CancellationError())
        }
    }

    /// Releases the oldest answers, or all of them if the count is nil.
    func release(_ count: Int? = nil) {
        let released = state.withLockedValue { state in
            let count = min(max(0, count ?? state.answers.count), state.answers.count)
            defer { state.answers.removeFirst(count) }
            return state.answers.prefix(count)
        }
        held.change(by: -released.count)
        for answer in released { answer.continuation.resume() }
    }

    /// Returns once at least `count` answers are held.
    func untilHeld(_ count: Int) async { await held.until(count) }
}
