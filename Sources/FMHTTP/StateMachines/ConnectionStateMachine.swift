/// The life of a connection: which exchange runs on it, and whether another may follow. The exchange's own machine is
/// nested.
struct ConnectionStateMachine: Equatable {
    typealias Failure = RequestStateMachine.Failure

    private enum State: Equatable {
        /// Open, nothing running → `running`, `closed`.
        case idle
        /// → `idle` or `closed`.
        case running(RequestStateMachine)
        /// Closed, or about to be; it never starts an exchange again.
        case closed
    }

    enum StartAction: Equatable {
        case send
        /// The connection is closed. Nothing was sent.
        case refuse
    }

    enum EndAction: Equatable {
        /// Ready for the next exchange, for as long as the server announced (`nil`: it did not).
        case park(lifetime: Int?)
        case close
    }

    enum CloseAction: Equatable {
        /// Nothing was running.
        case none
        case fail(Failure)
    }

    private var state = State.idle
    private var keepsAlive = true
    /// The idle lifetime that the server announced last, in seconds.
    private(set) var lifetime: Int?
    /// The number of exchanges that ended normally. A connection that has served none cannot be stale.
    private(set) var servedCount = 0

    var phase: RequestStateMachine.Phase? { exchange?.phase }

    private var exchange: RequestStateMachine? {
        switch state {
        case .running(let exchange): exchange
        case .idle, .closed: nil
        }
    }

    mutating func start(bodyLength: Int, maximumBodyBytes: Int, closesAfterwards: Bool) -> StartAction {
        switch state {
        case .idle:
            keepsAlive = !closesAfterwards
            lifetime = nil
            state = .running(RequestStateMachine(bodyLength: bodyLength, maximumBodyBytes: maximumBodyBytes))
            return .send
        case .closed:
            return .refuse
        case .running:
            preconditionFailure("the pool gives a connection to one exchange at a time")
        }
    }

    // MARK: Events of the exchange; they occur only while one runs

    mutating func becameWritable() -> Bool { withExchange(else: false) { $0.becameWritable() } }

    mutating func chunkOffered(count: Int, isWritable: Bool) -> RequestStateMachine.ChunkAction {
        withExchange(else: .ignore) { $0.chunkOffered(count: count, isWritable: isWritable) }
    }

    mutating func sourceEnded() -> Failure? { withExchange(else: nil) { $0.sourceEnded() } }

    mutating func headReceived(
        _ persistence: ResponseParser.Persistence,
        bodyLength: ResponseParser.BodyLength
    ) -> Failure? {
        keepsAlive = keepsAlive && persistence.keepsAlive
        lifetime = persistence.timeout
        return withExchange(else: nil) { $0.headReceived(bodyLength: bodyLength) }
    }

    mutating func bodyReceived(count: Int) -> Failure? { withExchange(else: nil) { $0.bodyReceived(count: count) } }

    /// The response is complete.
    ///
    /// - Parameter hasLeftover: Whether bytes follow that belong to no response. The connection is out of step then and
    ///   is not used again.
    mutating func endReceived(hasLeftover: Bool) -> EndAction {
        let isSent =
            switch withExchange(else: .succeed(isSent: false), { $0.endReceived() }) {
            case .succeed(let isSent): isSent
            }
        servedCount += 1
        guard keepsAlive, isSent, !hasLeftover, lifetime != 0 else {
            state = .closed
            return .close
        }
        state = .idle
        return .park(lifetime: lifetime)
    }

    mutating func readCompleted(subscriberWantsMore: Bool) -> Bool {
        switch state {
        // An idle connection is read too, to notice its close or unexpected bytes.
        case .idle: true
        case .running: withExchange(else: true) { $0.readCompleted(subscriberWantsMore: subscriberWantsMore) }
        case .closed: false
        }
    }

    mutating func demanded() -> Bool { withExchange(else: false) { $0.demanded() } }

    // MARK: Ends

    /// The exchange cannot continue: cancelled, timed out, malformed. The connection cannot be used afterwards.
    mutating func abandon() {
        state = .closed
    }

    /// The channel was closed, by either side. `hasBegun`: a byte of the response had arrived.
    mutating func closed(hasBegun: Bool, detail: String?) -> CloseAction {
        let exchange = self.exchange
        state = .closed
        guard let exchange else { return .none }
        switch exchange.outcome {
        case .answered, .notSent:
            return .fail(Failure(code: .truncatedBody, outcome: .answered, detail: detail))
        case .unknown where hasBegun:
            return .fail(Failure(code: .truncatedBody, outcome: .unknown, detail: detail))
        case .unknown:
            return .fail(Failure(code: .connectionClosed, outcome: .unknown, detail: detail))
        }
    }

    /// What is known of the request on the server if the exchange ends now.
    var outcome: HTTPClientError.Outcome { exchange?.outcome ?? .notSent }

    private mutating func withExchange<Result>(
        else idle: Result,
        _ body: (inout RequestStateMachine) -> Result
    ) -> Result {
        switch state {
        case .running(var exchange):
            let result = body(&exchange)
            state = .running(exchange)
            return result
        case .idle, .closed:
            return idle
        }
    }
}
