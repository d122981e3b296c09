import NIOConcurrencyHelpers

/// Asynchronous work that is done in the order in which it was given, one piece after the other.
struct OrderedWork: Sendable {
    typealias StartTask = @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>

    let startTask: StartTask
    private let state = NIOLockedValueBox<Task<Void, Never>?>(nil)

    /// - Parameter startTask: A simulation runs tasks on a thread of its own world.
    init(startTask: @escaping StartTask = { body in Task { await body() } }) { self.startTask = startTask }

    /// The piece that was given last; `nil` if there was none.
    var last: Task<Void, Never>? { state.withLockedValue { $0 } }

    func add(_ work: @escaping @Sendable () async -> Void) {
        state.withLockedValue { last in
            last = startTask { [before = last] in
                await before?.value
                await work()
            }
        }
    }
}
