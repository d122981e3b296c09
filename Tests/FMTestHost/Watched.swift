internal import NIOConcurrencyHelpers

/// A value that many threads change, and that tests can wait for.
public final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        var condition: @Sendable (Value) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var nextId = 0
    }

    private let state: NIOLockedValueBox<State>

    /// Creates a watched value.
    public init(_ value: Value) { state = NIOLockedValueBox(State(value: value)) }

    /// The current value.
    public var value: Value { state.withLockedValue { $0.value } }

    /// Changes the value, and then resumes the tasks whose condition holds.
    public func change(_ body: (inout Value) -> Void) {
        let satisfied = state.withLockedValue { state in
            body(&state.value)
            let value = state.value
            let satisfied = state.waiters.filter { $0.value.condition(value) }
            for id in satisfied.keys { state.waiters[id] = nil }
            return satisfied.values.map(\.continuation)
        }
        for continuation in satisfied { continuation.resume() }
    }

    /// Returns when the condition holds, or when the task is cancelled: a test that exceeds its time limit is
    /// cancelled, and would otherwise keep the whole run from ending.
    public func wait(until condition: @escaping @Sendable (Value) -> Bool) async {
        let id = state.withLockedValue { state in
            state.nextId += 1
            return state.nextId
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLockedValue { state in
                    // A cancellation after this point finds the waiter.
                    if condition(state.value) || Task.isCancelled { return true }
                    state.waiters[id] = Waiter(condition: condition, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLockedValue { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }
}
