import NIOConcurrencyHelpers

/// A count on which tasks can wait until it is high enough.
final class WatchedCount: Sendable {
    private struct Watcher {
        var count: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var count = 0
        var watchers: [Int: Watcher] = [:]
        var nextId = 0
    }

    private let state = NIOLockedValueBox(State())

    func change(by difference: Int) {
        let satisfied = state.withLockedValue { state in
            state.count += difference
            let count = state.count
            let satisfied = state.watchers.filter { $0.value.count <= count }
            for id in satisfied.keys { state.watchers[id] = nil }
            return satisfied.values.map(\.continuation)
        }
        for continuation in satisfied { continuation.resume() }
    }

    /// Returns once the count is at least `count`, or the task is cancelled.
    func until(_ count: Int) async {
        let id = state.withLockedValue { state in
            state.nextId += 1
            return state.nextId
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLockedValue { state in
                    // If the task is cancelled after this check, the handler finds the watcher.
                    if state.count >= count || Task.isCancelled { return true }
                    state.watchers[id] = Watcher(count: count, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLockedValue { $0.watchers.removeValue(forKey: id) }?.continuation.resume()
        }
    }
}
