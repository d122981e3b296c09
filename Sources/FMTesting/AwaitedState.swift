import NIOConcurrencyHelpers

/// State that tasks can wait for.
final class AwaitedState<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let condition: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct Content: Sendable {
        var state: State
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0

        /// Removes those whose condition the state fulfils.
        mutating func takeSatisfied() -> [CheckedContinuation<Void, Never>] {
            guard !waiters.isEmpty else { return [] }
            let satisfied = waiters.filter { $0.value.condition(state) }
            for id in satisfied.keys { waiters[id] = nil }
            return satisfied.values.map(\.continuation)
        }
    }

    private let content: NIOLockedValueBox<Content>

    init(_ state: State) { content = NIOLockedValueBox(Content(state: state)) }

    var value: State { content.withLockedValue(\.state) }

    /// Changes the state under the lock, and wakes those who wait for what it is now.
    func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, satisfied) = content.withLockedValue { (body(&$0.state), $0.takeSatisfied()) }
        for continuation in satisfied { continuation.resume() }
        return result
    }

    /// Returns when the state fulfils the condition, or when the task is cancelled.
    ///
    /// - Parameter condition: called under the lock.
    func wait(until condition: @escaping @Sendable (State) -> Bool) async {
        let id = content.withLockedValue { content in
            content.lastWaiter += 1
            return content.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = content.withLockedValue { content in
                    // A cancellation after this point finds the waiter.
                    if condition(content.state) || Task.isCancelled { return true }
                    content.waiters[id] = Waiter(condition: condition, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            content.withLockedValue { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }
}
