internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1
internal import OpenCombine

/// The subscription of both publishers: demand and cancellation on one side, an exchange on the other, and delivery in
/// order on the chosen queue in between.
///
/// State is changed under the lock; the subscriber and the exchange are spoken to outside it.
final class DeliverySubscription: Subscription, ResponseSink, Deliverer, @unchecked Sendable {
    // Sendable because `machine`, `receiver`, `exchange` and `eventLoop` are read and changed under `lock` only, `receiver`
    // is called by one deliverer at a time (`machine` sees to that), and `reducer` is used by the exchange only, whose
    // calls come one after the other.

    private let client: HTTPClient
    private let request: HTTPRequest
    private let bodyLimit: Int?
    private var reducer: ResponseReducer

    private let lock = NIOLock()
    private var machine: DeliveryStateMachine<ResponseOutput>
    private var receiver: (any ResponseReceiver)?
    private var exchange: Exchange?
    private var eventLoop: (any EventLoop)?

    init(
        client: HTTPClient,
        request: HTTPRequest,
        bodyLimit: Int?,
        reducer: ResponseReducer,
        receiver: any ResponseReceiver
    ) {
        self.client = client
        self.request = request
        self.bodyLimit = bodyLimit
        self.reducer = reducer
        self.receiver = receiver
        machine = DeliveryStateMachine(maximumBuffered: reducer.maximumBuffered)
    }

    // MARK: From the subscriber

    func request(_ demand: Subscribers.Demand) {
        let (action, exchange) = lock.withLock { (machine.requested(demand), self.exchange) }
        switch action {
        case .start: start()
        case .deliver: schedule()
        case .resume: exchange?.resumeReading()
        case .none: break
        }
    }

    func cancel() {
        let (exchange, receiver) = lock.withLock {
            guard machine.cancelled() else { return (nil as Exchange?, nil as (any ResponseReceiver)?) }
            defer { lockedRelease() }
            return (self.exchange, self.receiver)
        }
        exchange?.cancel()
        // The subscriber may be deinitialised here, which may run anything, so not under the lock.
        withExtendedLifetime(receiver) {}
    }

    private func start() {
        do throws(HTTPClientError) {
            let exchange = try client.makeExchange(request, bodyLimit: bodyLimit, sink: self)
            // Before it starts: a cancellation from now on has something to cancel.
            let isWanted = lock.withLock {
                guard receiver != nil else { return false }
                self.exchange = exchange
                return true
            }
            if isWanted { exchange.start() }
        } catch {
            failed(error)
        }
    }

    // MARK: From the exchange

    func willReceive(on eventLoop: any EventLoop) {
        switch client.configuration.delivery {
        case .background: break
        case .eventLoop: lock.withLock { self.eventLoop = eventLoop }
        }
    }

    func received(_ head: HTTPResponseHead, bodyLength: ResponseParser.BodyLength) {
        if let output = reducer.take(head, bodyLength: bodyLength) { enqueue(output) }
    }

    func received(_ body: ByteBuffer) {
        if let output = reducer.take(body) { enqueue(output) }
    }

    private func enqueue(_ output: ResponseOutput) {
        lock.withLock { machine.received(output) }
    }

    func readCompleted() {
        guard !reducer.isCollecting else { return }
        if lock.withLock({ machine.flush() }) { schedule() }
    }

    var wantsMore: Bool { reducer.isCollecting || lock.withLock { machine.wantsMore() } }

    func finished(_ figures: ExchangeFigures) {
        end(.finished, after: reducer.finish(figures))
    }

    func failed(_ error: HTTPClientError) {
        end(.failure(error), after: nil)
    }

    private func end(_ completion: Subscribers.Completion<HTTPClientError>, after last: ResponseOutput?) {
        let delivers = lock.withLock {
            if let last { machine.received(last) }
            machine.finished(completion)
            exchange = nil
            return machine.flush()
        }
        if delivers { schedule() }
    }

    // MARK: Delivery

    private func schedule() {
        switch client.configuration.delivery {
        case .background:
            client.crew.execute(self)
        case .eventLoop:
            let eventLoop = lock.withLock { self.eventLoop } ?? client.eventLoop
            if eventLoop.inEventLoop { deliver() } else { eventLoop.execute { self.deliver() } }
        }
    }

    func deliver() {
        var (step, receiver, exchange) = lock.withLock { lockedNext() }
        while let current = receiver {
            switch step {
            case .value(let value):
                let more = current.receive(value)
                let resumes = lock.withLock {
                    let resumes = machine.delivered(more)
                    (step, receiver, exchange) = lockedNext()
                    return resumes
                }
                if resumes { exchange?.resumeReading() }
            case .completion(let completion):
                current.receive(completion: completion)
                return
            case .rest:
                return
            }
        }
    }

    private func lockedNext() -> (DeliveryStateMachine<ResponseOutput>.Step, (any ResponseReceiver)?, Exchange?) {
        let next = (machine.next(), receiver, exchange)
        if case .completion = next.0 { lockedRelease() }
        return next
    }

    private func lockedRelease() {
        receiver = nil
        exchange = nil
    }
}
