import NIOConcurrencyHelpers

/// The requests that are being answered, so that stopping the server can cancel those that wait.
final class RunningTasks: Sendable {
    /// Starts a task on the threads that the function chooses.
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
        // The task is registered under the lock; otherwise it could finish, and remove itself, before it is in the
        // list.
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

    /// Starts the task on threads that only sandboxes use.
    static let onOwnThreads: Start = { body in
        Task(executorPreference: ThreadPoolExecutor.shared) { await body() }
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
