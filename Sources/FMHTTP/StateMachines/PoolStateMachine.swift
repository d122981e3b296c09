internal import NIOCore

/// The connections of one origin and the requests that wait for them.
///
/// - The connection parked last is used first, so unneeded ones grow old and are closed.
/// - Every waiting request causes an attempt to connect, up to the maximum, but takes the first connection that is
///   free; the connection that comes too late is parked for the next request.
/// - A request that must not run twice takes no connection that has been idle for long, since the server may just be
///   closing it. A second attempt takes only a new connection.
/// - When an attempt to connect fails and no other connection could serve the waiting requests, they all fail with its
///   reason.
/// - After the first failure the next request tries again at once; after further ones in a row it waits first, each
///   time longer. So within about a second a server that is down is reported, and one that is up again is found.
///
/// Pure: it names connections and requests by id; time and jitter are passed in.
struct PoolStateMachine: Equatable {
    struct Settings: Sendable, Equatable {
        var maximumConnections = 8
        var idleLifetime: TimeAmount = .seconds(60)
        /// The longest idle time of a connection for a request that must not run twice.
        var recentReuse: TimeAmount = .seconds(2)
        var firstBackoff: TimeAmount = .milliseconds(100)
        var maximumBackoff: TimeAmount = .seconds(1)
    }

    /// The connections that a request may take.
    enum Reuse: Equatable {
        /// Safe to repeat: any.
        case any
        /// Not safe to repeat: new ones and those used a moment ago.
        case recent
        /// A second attempt: new ones.
        case never
    }

    struct QueueDeadline: Equatable {
        var deadline: NIODeadline
        /// The code of the limit that ends then: `queueTimeout`, `connectTimeout` or `totalTimeout`.
        var code: HTTPClientError.Code

        /// The earlier of two deadlines, or the only one; the first if both are at the same time.
        static func earliest(_ a: Self?, _ b: Self?) -> Self? {
            guard let a, let b else { return a ?? b }
            return b.deadline < a.deadline ? b : a
        }
    }

    enum FailureReason: Equatable {
        case deadline(HTTPClientError.Code)
        /// The error is the attempt's, which the owner has stored.
        case connectFailed
        case shutdown
    }

    struct Assignment: Equatable {
        var request: RequestID
        var connection: ConnectionID
    }

    struct FailedRequest: Equatable {
        var id: RequestID
        var reason: FailureReason
    }

    /// Everything that the owner must do after an event.
    struct Actions: Equatable {
        var run: Assignment?
        var connect: [ConnectionID] = []
        var close: [ConnectionID] = []
        /// Abandon these attempts to connect; each must be reported by `connectFailed`.
        var abandon: [ConnectionID] = []
        var fail: [FailedRequest] = []
        /// When to call `timePassed`. Calling it earlier or more often does no harm.
        var wakeAt: NIODeadline?
        /// Shut down, and no connection is left.
        var isDrained = false
    }

    private struct IdleConnection: Equatable {
        let id: ConnectionID
        let parkedAt: NIODeadline
        let expiresAt: NIODeadline
    }

    private enum Lifecycle: Equatable {
        /// → `draining`.
        case running
        /// No new requests; running ones may end → `drained`.
        case draining
        case drained
    }

    private let settings: Settings
    private var lifecycle = Lifecycle.running
    private var idle: [IdleConnection] = []
    private var connecting: Set<ConnectionID> = []
    private var leased: Set<ConnectionID> = []
    /// Closing but not closed yet. They count for `drained` only.
    private var closing: Set<ConnectionID> = []
    private var queue = RequestQueue()
    /// How many times in a row connecting failed. Attempts under way at the same time count as one.
    private var failedRounds = 0
    /// The newest attempt of the last failed round.
    private var lastOfRound = 0
    private var nextAttempt: NIODeadline?
    private var wakeAt: NIODeadline?
    private var lastConnection = 0

    init(settings: Settings) { self.settings = settings }

    var counts: PoolCounts {
        PoolCounts(
            idle: idle.count,
            connecting: connecting.count,
            leased: leased.count,
            closing: closing.count,
            waiting: queue.count
        )
    }

    private var openCount: Int { idle.count + connecting.count + leased.count }

    // MARK: Requests

    mutating func submitted(
        _ id: RequestID,
        reuse: Reuse,
        deadline: QueueDeadline?,
        now: NIODeadline
    ) -> Actions {
        var actions = Actions()
        guard lifecycle == .running else {
            actions.fail.append(FailedRequest(id: id, reason: .shutdown))
            return actions
        }
        if let connection = takeIdle(reuse, now: now, &actions) {
            leased.insert(connection)
            actions.run = Assignment(request: id, connection: connection)
            return actions
        }
        queue.append(RequestQueue.Entry(id: id, reuse: reuse, deadline: deadline))
        // After a restart or a short network failure the server usually answers at once, so a single failure does not
        // make new requests wait.
        if failedRounds == 1 { nextAttempt = nil }
        connectAsNeeded(now: now, &actions)
        if let deadline { wake(at: deadline.deadline, &actions) }
        return actions
    }

    /// The request no longer waits. The attempt it caused continues; its connection is kept for the next request.
    mutating func cancelled(_ id: RequestID) {
        queue.remove(id)
    }

    private mutating func takeIdle(_ reuse: Reuse, now: NIODeadline, _ actions: inout Actions) -> ConnectionID? {
        while let candidate = idle.last, candidate.expiresAt <= now {
            idle.removeLast()
            close(candidate.id, &actions)
        }
        guard let candidate = idle.last else { return nil }
        switch reuse {
        case .any: break
        case .recent: guard now - candidate.parkedAt <= settings.recentReuse else { return nil }
        case .never: return nil
        }
        idle.removeLast()
        return candidate.id
    }

    // MARK: Connections

    mutating func connected(_ id: ConnectionID, now: NIODeadline) -> Actions {
        var actions = Actions()
        guard connecting.remove(id) != nil else { return actions }
        failedRounds = 0
        nextAttempt = nil
        guard lifecycle == .running else {
            close(id, &actions)
            return actions
        }
        if let next = queue.popFirst() {
            leased.insert(id)
            actions.run = Assignment(request: next.id, connection: id)
        } else {
            park(id, lifetime: nil, now: now, &actions)
        }
        // Requests that still wait may have been delayed by the back-off that has just ended.
        connectAsNeeded(now: now, &actions)
        return actions
    }

    /// - Parameter jitter: A random number in 0..<1. Half of the back-off is fixed, half is random, so clients that
    ///   failed together do not retry together.
    mutating func connectFailed(_ id: ConnectionID, now: NIODeadline, jitter: Double) -> Actions {
        var actions = Actions()
        guard connecting.remove(id) != nil else { return actions }
        if id.number > lastOfRound {
            if let nextAttempt, now > nextAttempt.advanced(by: settings.maximumBackoff) { failedRounds = 0 }
            failedRounds += 1
            lastOfRound = lastConnection
            nextAttempt = now.advanced(by: backoff(jitter: jitter))
        }
        if connecting.isEmpty {
            // An idle connection cannot serve a waiting request, which would have taken it; a busy one cannot serve a
            // second attempt, which needs a new connection.
            let nothingRuns = leased.isEmpty
            let hopeless = queue.removeAll { nothingRuns || $0.reuse == .never }
            for entry in hopeless { actions.fail.append(FailedRequest(id: entry.id, reason: .connectFailed)) }
        }
        connectAsNeeded(now: now, &actions)
        drainIfDone(&actions)
        return actions
    }

    /// An exchange has ended and left its connection usable.
    ///
    /// - Parameter lifetime: The seconds for which the server keeps an idle connection, if it announced them.
    mutating func released(_ id: ConnectionID, lifetime: Int?, now: NIODeadline) -> Actions {
        var actions = Actions()
        guard leased.contains(id) else { return actions }
        guard lifecycle == .running else {
            leased.remove(id)
            close(id, &actions)
            return actions
        }
        if let next = queue.popFirst(where: { $0.reuse != .never }) {
            actions.run = Assignment(request: next.id, connection: id)
            return actions
        }
        leased.remove(id)
        park(id, lifetime: lifetime, now: now, &actions)
        connectAsNeeded(now: now, &actions)
        return actions
    }

    /// A leased connection comes back unused: its request was cancelled on the way to it. Its idle time is no longer
    /// known, so it counts as old.
    mutating func returned(_ id: ConnectionID, lifetime: Int?, now: NIODeadline) -> Actions {
        var actions = Actions()
        guard leased.remove(id) != nil else { return actions }
        guard lifecycle == .running else {
            close(id, &actions)
            return actions
        }
        if let next = queue.popFirst(where: { $0.reuse == .any }) {
            leased.insert(id)
            actions.run = Assignment(request: next.id, connection: id)
            return actions
        }
        let expiresAt = now.advanced(by: span(lifetime: lifetime))
        idle.insert(IdleConnection(id: id, parkedAt: .distantPast, expiresAt: expiresAt), at: 0)
        wake(at: expiresAt, &actions)
        connectAsNeeded(now: now, &actions)
        return actions
    }

    /// The connection was closed, in whatever state.
    mutating func closed(_ id: ConnectionID, now: NIODeadline) -> Actions {
        var actions = Actions()
        leased.remove(id)
        closing.remove(id)
        idle.removeAll { $0.id == id }
        connectAsNeeded(now: now, &actions)
        drainIfDone(&actions)
        return actions
    }

    private mutating func park(_ id: ConnectionID, lifetime: Int?, now: NIODeadline, _ actions: inout Actions) {
        let expiresAt = now.advanced(by: span(lifetime: lifetime))
        idle.append(IdleConnection(id: id, parkedAt: now, expiresAt: expiresAt))
        wake(at: expiresAt, &actions)
    }

    /// How long to keep an idle connection.
    private func span(lifetime: Int?) -> TimeAmount {
        guard let lifetime else { return settings.idleLifetime }
        // The server counts from the sending of its answer, and its FIN takes time to arrive: close before it does.
        let announced = TimeAmount.seconds(Int64(clamping: min(lifetime, 1_000_000)))
        return min(settings.idleLifetime, lifetime > 1 ? announced - .seconds(1) : .milliseconds(500))
    }

    private mutating func close(_ id: ConnectionID, _ actions: inout Actions) {
        closing.insert(id)
        actions.close.append(id)
    }

    /// Starts one attempt per waiting request, as far as the maximum and the back-off allow.
    private mutating func connectAsNeeded(now: NIODeadline, _ actions: inout Actions) {
        guard lifecycle == .running, queue.count > connecting.count else { return }
        if let nextAttempt, now < nextAttempt {
            wake(at: nextAttempt, &actions)
            return
        }
        while queue.count > connecting.count {
            if openCount >= settings.maximumConnections {
                // No idle connection suits a waiting request, or it would have taken it; so close the oldest.
                guard !idle.isEmpty else { return }
                close(idle.removeFirst().id, &actions)
            }
            lastConnection += 1
            let id = ConnectionID(number: lastConnection)
            connecting.insert(id)
            actions.connect.append(id)
        }
    }

    private func backoff(jitter: Double) -> TimeAmount {
        let doublings = min(failedRounds - 1, 20)
        let full = min(settings.maximumBackoff.nanoseconds, settings.firstBackoff.nanoseconds << doublings)
        return .nanoseconds(full / 2 + Int64(Double(full / 2) * jitter))
    }

    // MARK: Time

    mutating func timePassed(now: NIODeadline) -> Actions {
        var actions = Actions()
        wakeAt = nil
        for entry in queue.removeAll(where: { ($0.deadline?.deadline ?? .distantFuture) <= now }) {
            guard let deadline = entry.deadline else { preconditionFailure("only entries with a deadline were taken") }
            actions.fail.append(FailedRequest(id: entry.id, reason: .deadline(deadline.code)))
        }
        for connection in idle where connection.expiresAt <= now { close(connection.id, &actions) }
        idle.removeAll { $0.expiresAt <= now }
        connectAsNeeded(now: now, &actions)
        let next = [queue.earliestDeadline, idle.map(\.expiresAt).min()].compactMap { $0 }.min()
        if let next { wake(at: next, &actions) }
        return actions
    }

    private mutating func wake(at deadline: NIODeadline, _ actions: inout Actions) {
        guard lifecycle == .running, deadline < wakeAt ?? .distantFuture else { return }
        wakeAt = deadline
        actions.wakeAt = deadline
    }

    // MARK: Shutdown

    /// Rejects new requests, fails waiting ones, closes idle connections, abandons attempts to connect; running
    /// requests continue.
    mutating func shutDown() -> Actions {
        var actions = Actions()
        guard lifecycle == .running else {
            actions.isDrained = lifecycle == .drained
            return actions
        }
        lifecycle = .draining
        for entry in queue.removeAll() { actions.fail.append(FailedRequest(id: entry.id, reason: .shutdown)) }
        for connection in idle { close(connection.id, &actions) }
        idle.removeAll()
        actions.abandon = connecting.sorted { $0.number < $1.number }
        drainIfDone(&actions)
        return actions
    }

    /// The grace period of a shutdown has ended: closes the connections of running requests too.
    mutating func closeAll() -> Actions {
        var actions = Actions()
        for id in leased.sorted(by: { $0.number < $1.number }) { close(id, &actions) }
        leased.removeAll()
        return actions
    }

    private mutating func drainIfDone(_ actions: inout Actions) {
        guard lifecycle == .draining, openCount == 0, closing.isEmpty else { return }
        lifecycle = .drained
        actions.isDrained = true
    }
}
