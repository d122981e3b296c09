import NIOConcurrencyHelpers

/// The requests that are being answered, so that stopping can interrupt those that wait.
final class RunningTasks: Sendable {
    /// Begins a task, on threads of its choice.
    typealias Start = @Sendable (_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never>

    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var nextId = 0
        var isStopped = false
    }

    private let start: Start
    private let state = NIOLockedValueBox(State())

    init(start: @escaping Start = RunningTasks.onOwnThreads) { self.start = start }

    func run(_ body: @escaping @Sendable () async -> Void) {
        // Registered under the lock: the task cannot finish, and try to leave, before it is on the list.
        state.withLockedValue { state in
            guard !state.isStopped else { return }
            let id = state.nextId
            state.nextId += 1
            state.tasks[id] = start {
                await body()
                self.remove(id)
            }
        }
    }

    /// On threads that sandboxes share and nobody else uses.
    static let onOwnThreads: Start = { body in
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *) {
            return Task(executorPreference: ThreadPoolExecutor.shared) { await body() }
        }
        return Task { await body() }
    }

    private func remove(_ id: Int) { state.withLockedValue { $0.tasks[id] = nil } }

    func stop() {
        let tasks = state.withLockedValue { state in
            state.isStopped = true
            return state.tasks.values.map(\.self)
        }
        for task in tasks { task.cancel() }
    }
}
