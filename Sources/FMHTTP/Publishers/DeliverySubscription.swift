internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1
internal import OpenCombine

/// The subscription of ``ResponsePublisher``. It connects the subscriber's demand and cancellation with an exchange,
/// and delivers in order on the chosen threads.
///
/// State is changed under the lock; the subscriber and the exchange are called outside it.
final class DeliverySubscription: Subscription, ResponseSink, Deliverer, @unchecked Sendable {
    // Sendable because `machine`, `receiver`, `exchange` and `eventLoop` are read and changed under `lock` only, and
    // `receiver` is called by one deliverer at a time (`machine` ensures that).

    /// Limits the parts that wait for a slow subscriber with unlimited demand, to about a megabyte.
    private static let maximumBufferedParts = 16

    private let client: HTTPClient
    private let request: HTTPRequest

    private let lock = NIOLock()
    private var machine = DeliveryStateMachine<HTTPResponsePart>(maximumBuffered: maximumBufferedParts)
    private var receiver: (any ResponseReceiver)?
    private var exchange: Exchange?
    private var eventLoop: (any EventLoop)?

    init(client: HTTPClient, request: HTTPRequest, receiver: any ResponseReceiver) {
        self.client = client
        self.request = request
        self.receiver = receiver
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
        // Outside the lock: the subscriber may be deinitialized here, which may run any code.
        withExtendedLifetime(receiver) {}
    }

    private func start() {
        do throws(HTTPClientError) {
            let exchange = try client.makeExchange(request, sink: self)
            // Stored before it starts, so that a cancellation from now on reaches it.
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

    func received(_ part: HTTPResponsePart) {
        lock.withLock { machine.received(part) }
    }

    func readCompleted() {
        if lock.withLock({ machine.flush() }) { schedule() }
    }

    var wantsMore: Bool { lock.withLock { machine.wantsMore() } }

    func finished() { end(.finished) }

    func failed(_ error: HTTPClientError) { end(.failure(error)) }

    private func end(_ completion: Subscribers.Completion<HTTPClientError>) {
        let delivers = lock.withLock {
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
        var (action, receiver, exchange) = lock.withLock { lockedNext() }
        while let current = receiver {
            switch action {
            case .value(let value):
                let more = current.receive(value)
                let resumes = lock.withLock {
                    let resumes = machine.delivered(more)
                    (action, receiver, exchange) = lockedNext()
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

    private func lockedNext() -> (
        DeliveryStateMachine<HTTPResponsePart>.NextAction, (any ResponseReceiver)?, Exchange?
    ) {
        let next = (machine.next(), receiver, exchange)
        if case .completion = next.0 { lockedRelease() }
        return next
    }

    private func lockedRelease() {
        receiver = nil
        exchange = nil
    }
}
