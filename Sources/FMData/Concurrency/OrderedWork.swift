import NIOConcurrencyHelpers

/// Asynchronous work that is done in the order in which it was given, one piece after the other.
struct OrderedWork: Sendable {
    private let state = NIOLockedValueBox<Task<Void, Never>?>(nil)

    /// The piece that was given last; `nil` if there was none.
    var last: Task<Void, Never>? { state.withLockedValue { $0 } }

    func add(_ work: @escaping @Sendable () async -> Void) {
        state.withLockedValue { last in
            last = Task { [before = last] in
                await before?.value
                await work()
            }
        }
    }
}
