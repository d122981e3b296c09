internal import NIOConcurrencyHelpers
internal import NIOCore

/// The connections of one origin: `PoolStateMachine` with a lock around it, tables from ids to objects, and one timer.
///
/// Every event is handled in this order: *lock, change, collect, unlock, act*, because actions may call the pool again
/// at once.
final class ConnectionPool: @unchecked Sendable {
    // Sendable because all mutable state is read and changed under `lock` only.

    let origin: Origin
    private let factory: ConnectionFactory
    private let runtime: Runtime

    private let lock = NIOLock()
    private var machine: PoolStateMachine
    private var waiting: [RequestID: Exchange] = [:]
    private var connections: [ConnectionID: HTTP1Connection] = [:]
    private var attempts: [ConnectionID: ConnectionAttempt] = [:]
    /// The error of the last attempt; reset when an attempt succeeds.
    private var connectError: HTTPClientError?
    private var hasAnswered = false
    private var timer: Timer?
    private var lastTimer = 0
    private var drained: [EventLoopPromise<Void>] = []
    private var isShutDown = false

    init(
        origin: Origin,
        settings: PoolStateMachine.Settings,
        factory: ConnectionFactory,
        runtime: Runtime
    ) {
        self.origin = origin
        self.factory = factory
        self.runtime = runtime
        machine = PoolStateMachine(settings: settings)
    }

    // MARK: Events

    func submit(_ exchange: Exchange, reuse: PoolStateMachine.Reuse) {
        handle(submitted: exchange) {
            machine.submitted(exchange.id, reuse: reuse, deadline: exchange.queueDeadline, now: runtime.now)
        }
    }

    func cancel(_ exchange: Exchange) {
        lock.withLock {
            machine.cancelled(exchange.id)
            _ = waiting.removeValue(forKey: exchange.id)
        }
    }

    func released(_ connection: HTTP1Connection, lifetime: Int?) {
        handle { machine.released(connection.id, lifetime: lifetime, now: runtime.now) }
    }

    func returned(_ connection: HTTP1Connection, lifetime: Int?) {
        handle { machine.returned(connection.id, lifetime: lifetime, now: runtime.now) }
    }

    func closed(_ id: ConnectionID) {
        handle {
            connections.removeValue(forKey: id)
            return machine.closed(id, now: runtime.now)
        }
    }

    /// Called when the head of a response has arrived on a connection.
    func answered() {
        lock.withLock { hasAnswered = true }
    }

    /// Whether no response has ever come from the origin.
    var isUnanswered: Bool { lock.withLock { !hasAnswered } }

    private func connected(_ connection: HTTP1Connection) {
        handle {
            connections[connection.id] = connection
            attempts[connection.id] = nil
            connectError = nil
            return machine.connected(connection.id, now: runtime.now)
        }
    }

    private func connectFailed(_ id: ConnectionID, _ error: HTTPClientError) {
        handle {
            attempts[id] = nil
            connectError = error
            return machine.connectFailed(id, now: runtime.now, jitter: runtime.random())
        }
    }

    private func fired(_ number: Int) {
        handle {
            if timer?.number == number { timer = nil }
            return machine.timePassed(now: runtime.now)
        }
    }

    // MARK: Shutdown

    /// Fails waiting requests, lets running ones end, and succeeds the promise when no connection is left.
    func shutDown(_ promise: EventLoopPromise<Void>?) {
        handle {
            isShutDown = true
            timer?.scheduled?.cancel()
            timer = nil
            if let promise { drained.append(promise) }
            return machine.shutDown()
        }
    }

    /// Closes the connections whose requests still run.
    func closeAll() {
        handle { machine.closeAll() }
    }

    /// The connections and waiting requests, for tests.
    var counts: PoolCounts { lock.withLock { machine.counts } }

    // MARK: Acting

    private struct Timer {
        let number: Int
        let deadline: NIODeadline
        /// `nil` while a thread is about to schedule it.
        var scheduled: Scheduled<Void>?
    }

    /// Actions with the objects of their ids, collected under the lock and used outside.
    private struct Work {
        var run: (HTTP1Connection, Exchange)?
        var connect: [(ConnectionID, ConnectionAttempt)] = []
        var close: [HTTP1Connection] = []
        var abandon: [ConnectionAttempt] = []
        var fail: [(Exchange, HTTPClientError)] = []
        var wakeAt: NIODeadline?
        var drained: [EventLoopPromise<Void>] = []
    }

    private func handle(submitted: Exchange? = nil, _ event: () -> PoolStateMachine.Actions) {
        let work = lock.withLock { lockedCollect(event(), submitted) }
        perform(work)
    }

    private func lockedCollect(_ actions: PoolStateMachine.Actions, _ submitted: Exchange?) -> Work {
        var work = Work()
        if let run = actions.run, let connection = connections[run.connection] {
            // Nearly always a connection is free for the submitted request, which then need not be stored.
            let exchange = submitted?.id == run.request ? submitted : waiting.removeValue(forKey: run.request)
            work.run = exchange.map { (connection, $0) }
        } else if let submitted {
            waiting[submitted.id] = submitted
        }
        for id in actions.connect {
            let attempt = ConnectionAttempt(
                on: runtime.eventLoopGroup.next(),
                limit: factory.limit(wantedBy: submitted?.limits)
            )
            attempts[id] = attempt
            work.connect.append((id, attempt))
        }
        work.close = actions.close.compactMap { connections[$0] }
        work.abandon = actions.abandon.compactMap { attempts[$0] }
        for failed in actions.fail {
            guard let exchange = waiting.removeValue(forKey: failed.id) else { continue }
            work.fail.append((exchange, lockedError(failed.reason)))
        }
        work.wakeAt = actions.wakeAt
        if actions.isDrained {
            work.drained = drained
            drained = []
        }
        return work
    }

    private func lockedError(_ reason: PoolStateMachine.FailureReason) -> HTTPClientError {
        switch reason {
        case .deadline(let code):
            // If the server cannot be reached, the error says so, even if this request waited for a busy connection.
            HTTPClientError(
                code,
                .notSent,
                origin: origin,
                detail: connectError.map { "the last attempt to connect: \($0.code.explanation)" }
                    ?? (code == .connectTimeout && attempts.isEmpty ? "all connections were busy" : nil)
            )
        case .shutdown: HTTPClientError(.shutdown, .notSent, origin: origin)
        case .connectFailed: connectError ?? HTTPClientError(.connectFailed, .notSent, origin: origin)
        }
    }

    private func perform(_ work: Work) {
        if let (connection, exchange) = work.run { connection.run(exchange) }
        // Connections that make room for others are closed first.
        for connection in work.close { connection.close() }
        for (id, attempt) in work.connect { connect(id, attempt) }
        for attempt in work.abandon { attempt.abandon(HTTPClientError(.shutdown, .notSent, origin: origin)) }
        for (exchange, error) in work.fail { exchange.refused(error) }
        if let wakeAt = work.wakeAt { wake(at: wakeAt) }
        for promise in work.drained { promise.succeed() }
    }

    private func connect(_ id: ConnectionID, _ attempt: ConnectionAttempt) {
        attempt.ready.futureResult.whenComplete { result in
            switch result {
            case .success(let connection): self.connected(connection)
            case .failure(let error):
                self.connectFailed(id, (error as? HTTPClientError) ?? .connecting(error, origin: self.origin))
            }
        }
        factory.begin(attempt, id, to: origin, pool: self)
    }

    private func wake(at deadline: NIODeadline) {
        // The timer gets its number before it is scheduled, since it may fire before this thread continues; a replaced
        // timer may still fire, too.
        let (number, superseded): (Int?, Scheduled<Void>?) = lock.withLock {
            // Another thread may have set an earlier timer meanwhile; when that fires, the machine asks for this one
            // again.
            if isShutDown || (timer.map { $0.deadline <= deadline } ?? false) { return (nil, nil) }
            lastTimer += 1
            defer { timer = Timer(number: lastTimer, deadline: deadline) }
            return (lastTimer, timer?.scheduled)
        }
        superseded?.cancel()
        guard let number else { return }
        // Weak: a timer must not keep the pool of a deallocated client alive.
        let scheduled = runtime.eventLoopGroup.next().scheduleTask(deadline: deadline) { [weak self] in
            self?.fired(number) ?? ()
        }
        let isWanted = lock.withLock {
            if timer?.number == number { timer?.scheduled = scheduled }
            return timer?.number == number
        }
        if !isWanted { scheduled.cancel() }
    }
}
