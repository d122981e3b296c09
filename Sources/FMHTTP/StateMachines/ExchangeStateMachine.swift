/// The life of a request across its attempts: waiting, on a connection, perhaps a second time, finished. Its end is
/// reported once.
struct ExchangeStateMachine: Equatable {
    private enum State: Equatable {
        /// → `queued` or `finished`.
        case created
        /// In the pool's queue or on the way to a connection → `running`, `finished`.
        case queued(attempt: Int)
        /// → `queued` for a second attempt, `finished`.
        case running(ConnectionID, attempt: Int)
        case finished
    }

    enum FailureAction: Equatable {
        /// Send it again, on a new connection.
        case retry
        case report
        /// It has ended already.
        case ignore
    }

    enum CancelAction: Equatable {
        case leaveQueue
        case stop(ConnectionID)
        case nothing
    }

    private static let maximumAttempts = 2

    private var state = State.created

    /// The first demand. Returns whether to enter the queue.
    mutating func start() -> Bool {
        guard state == .created else { return false }
        state = .queued(attempt: 1)
        return true
    }

    /// A connection is about to send the request. Returns whether it should.
    mutating func begin(on connection: ConnectionID) -> Bool {
        switch state {
        case .queued(let attempt):
            state = .running(connection, attempt: attempt)
            return true
        case .finished:
            // Cancelled after the pool chose the connection and before its loop ran this.
            return false
        case .created, .running:
            preconditionFailure("the pool gives an exchange to one connection at a time")
        }
    }

    mutating func failed(mayRepeat: Bool) -> FailureAction {
        switch state {
        case .queued(let attempt), .running(_, let attempt):
            guard mayRepeat, attempt < Self.maximumAttempts else {
                state = .finished
                return .report
            }
            state = .queued(attempt: attempt + 1)
            return .retry
        case .created:
            state = .finished
            return .report
        case .finished:
            return .ignore
        }
    }

    /// The response is complete. Returns whether to report that.
    mutating func completed() -> Bool {
        guard state != .finished else { return false }
        state = .finished
        return true
    }

    mutating func cancelled() -> CancelAction {
        defer { state = .finished }
        switch state {
        case .created, .finished: return .nothing
        case .queued: return .leaveQueue
        case .running(let connection, _): return .stop(connection)
        }
    }

    var attempt: Int {
        switch state {
        case .created, .finished: 0
        case .queued(let attempt), .running(_, let attempt): attempt
        }
    }
}
