internal import NIOConcurrencyHelpers
internal import NIOCore

/// Receives a response as it arrives. All calls come one after the other: on the connection's event loop, except that
/// `failed` may come from any thread when the request never reached a connection.
protocol ResponseSink: AnyObject, Sendable {
    /// The exchange has a connection; all later calls come on this loop.
    func willReceive(on eventLoop: any EventLoop)
    func received(_ part: HTTPResponsePart)
    /// All parts of one read have been passed.
    func readCompleted()
    /// Whether to read on. After `false`, the sink must call ``Exchange/resumeReading()`` later.
    var wantsMore: Bool { get }
    /// The last call is one of these two.
    func finished()
    func failed(_ error: HTTPClientError)
}

/// One request, from the first demand to the end.
///
/// 1. The subscription makes it and calls `start`; it enters the pool of its origin.
/// 2. The pool finds a connection, at once or later, and calls `HTTP1Connection.run`.
/// 3. On the connection's loop the handler calls `begin`, which returns `nil` after a cancellation, and writes the
///    request.
/// 4. The handler passes the parts of the response to the `sink` and at the end calls `completed` or `failed`.
/// 5. If the connection proved stale, `failed` returns to step 1, once, for a new connection.
///
/// Only two calls go the other way: `resumeReading` (demand) and `cancel`. Both may come from any thread, at any time;
/// after `cancel` the sink receives no more calls and is released.
final class Exchange: @unchecked Sendable {
    // Sendable because `machine`, `sink` and `connection` are read and changed under `lock` only; the rest is constant.

    let id: RequestID
    let framing: RequestFraming
    let isSafeToRepeat: Bool
    private let isReplayable: Bool
    private let willBeSent: (@Sendable () -> Void)?
    let limits: ExchangeLimits
    /// The deadline for waiting for a connection, and its error code.
    let queueDeadline: PoolStateMachine.QueueDeadline?

    private let pool: ConnectionPool
    private let log: RequestLog?
    private let lock = NIOLock()
    private var machine = ExchangeStateMachine()
    private var sink: (any ResponseSink)?
    private var connection: HTTP1Connection?

    init(
        id: RequestID,
        request: HTTPRequest,
        framing: RequestFraming,
        limits: ExchangeLimits,
        queueDeadline: PoolStateMachine.QueueDeadline?,
        pool: ConnectionPool,
        log: RequestLog?,
        sink: any ResponseSink
    ) {
        self.id = id
        self.framing = framing
        isSafeToRepeat = request.isSafeToRepeat
        isReplayable = request.body.isReplayable
        willBeSent = request.willBeSent
        self.limits = limits
        self.queueDeadline = queueDeadline
        self.pool = pool
        self.log = log
        self.sink = sink
    }

    func start() {
        guard lock.withLock({ machine.start() }) else { return }
        pool.submit(self, reuse: isSafeToRepeat ? .any : .recent)
    }

    func cancel() {
        let (action, connection, sink) = lock.withLock { (machine.cancelled(), self.connection, lockedRelease()) }
        switch action {
        case .leaveQueue: pool.cancel(self)
        case .stop: connection?.cancel(self)
        case .nothing: return
        }
        log?.cancelled()
        // Released here, after the lock: the sink may hold the last reference to an object whose `deinit` calls this
        // exchange.
        withExtendedLifetime(sink) {}
    }

    func resumeReading() {
        lock.withLock { connection }?.resumeReading(self)
    }

    // MARK: From the connection, on its loop

    /// Returns the sink if the request is to be sent; `nil` after a cancellation.
    func begin(on connection: HTTP1Connection) -> (any ResponseSink)? {
        let (sink, attempt): ((any ResponseSink)?, Int) = lock.withLock {
            guard machine.begin(on: connection.id) else { return (nil, 0) }
            self.connection = connection
            return (self.sink, machine.attempt)
        }
        guard let sink else { return nil }
        log?.sending(attempt: attempt, on: connection.id)
        willBeSent?()
        sink.willReceive(on: connection.eventLoop)
        return sink
    }

    func completed(_ figures: ExchangeFigures) {
        let sink = lock.withLock { machine.completed() ? lockedRelease() : nil }
        guard let sink else { return }
        log?.finished(figures)
        sink.finished()
    }

    /// - Parameter wasStale: The connection had served before and was closed without a byte of an answer, so the server
    ///   very likely closed it before it saw the request.
    func failed(_ error: HTTPClientError, wasStale: Bool = false) {
        let mayRepeat = isReplayable && (error.outcome == .notSent || (wasStale && isSafeToRepeat))
        end(error, mayRepeat: mayRepeat)
    }

    // MARK: From the pool, on any thread

    /// Called when the connection was found closed before it took anything of the request or of its body's stream.
    func foundConnectionClosed(_ error: HTTPClientError) {
        end(error, mayRepeat: true)
    }

    /// Called when the request will not get a connection.
    func refused(_ error: HTTPClientError) {
        end(error, mayRepeat: false)
    }

    private func end(_ error: HTTPClientError, mayRepeat: Bool) {
        let (action, sink): (ExchangeStateMachine.FailureAction, (any ResponseSink)?) = lock.withLock {
            connection = nil
            let action = machine.failed(mayRepeat: mayRepeat)
            return (action, action == .report ? lockedRelease() : nil)
        }
        switch action {
        case .retry:
            log?.retrying(error)
            pool.submit(self, reuse: .never)
        case .report:
            log?.failed(error)
            sink?.failed(error)
        case .ignore:
            break
        }
    }

    private func lockedRelease() -> (any ResponseSink)? {
        defer {
            sink = nil
            connection = nil
        }
        return sink
    }
}
