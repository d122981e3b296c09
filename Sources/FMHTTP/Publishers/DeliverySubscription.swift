internal import Dispatch
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import OpenCombine

/// What both response subscriptions share: demand and cancellation on one side, an exchange on the other, and delivery
/// in order on the chosen queue. A subclass turns the parts of a response into elements.
///
/// State is changed under the lock; the subscriber and the exchange are spoken to outside it.
class DeliverySubscription<Downstream: Subscriber>: Subscription, Deliverer, @unchecked Sendable
where Downstream.Failure == HTTPClientError {
    // Sendable because everything that varies is read and changed under `lock` only, and because `downstream` is called
    // by one deliverer at a time, which `machine` sees to.

    private let client: HTTPClient
    private let request: HTTPRequest
    private let bodyLimit: Int?

    private let lock = NIOLock()
    private var machine: DeliveryStateMachine<Downstream.Input>
    private var downstream: Downstream?
    private var exchange: Exchange?
    private var queue: DeliveryQueue?

    init(client: HTTPClient, request: HTTPRequest, bodyLimit: Int?, maximumBuffered: Int, downstream: Downstream) {
        self.client = client
        self.request = request
        self.bodyLimit = bodyLimit
        self.downstream = downstream
        machine = DeliveryStateMachine(maximumBuffered: maximumBuffered)
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
        let (exchange, downstream) = lock.withLock {
            guard machine.cancelled() else { return (nil as Exchange?, nil as Downstream?) }
            defer { lockedRelease() }
            return (self.exchange, self.downstream)
        }
        exchange?.cancel()
        // The subscriber may be deinitialised here, which may run anything, so not under the lock.
        withExtendedLifetime(downstream) {}
    }

    private func start() {
        guard let sink = self as? any ResponseSink else { preconditionFailure("every subclass is a sink") }
        do throws(HTTPClientError) {
            let exchange = try client.makeExchange(request, bodyLimit: bodyLimit, sink: sink)
            // Before it starts: a cancellation from now on has something to cancel.
            let isWanted = lock.withLock {
                guard downstream != nil else { return false }
                self.exchange = exchange
                return true
            }
            if isWanted { exchange.start() }
        } catch {
            end(.failure(error))
        }
    }

    // MARK: From the exchange

    func willReceive(on eventLoop: any EventLoop) {
        switch client.configuration.delivery {
        case .background: break
        case .eventLoop: lock.withLock { queue = .eventLoop(eventLoop) }
        }
    }

    func enqueue(_ element: Downstream.Input) {
        lock.withLock { machine.received(element) }
    }

    func flush() {
        if lock.withLock({ machine.flush() }) { schedule() }
    }

    var hasRoom: Bool { lock.withLock { machine.wantsMore() } }

    func end(_ completion: Subscribers.Completion<HTTPClientError>) {
        let delivers = lock.withLock {
            machine.finished(completion)
            exchange = nil
            return machine.flush()
        }
        if delivers { schedule() }
    }

    // MARK: Delivery

    private func schedule() {
        let queue = lock.withLock {
            if let queue = self.queue { return queue }
            let queue = client.makeDeliveryQueue()
            self.queue = queue
            return queue
        }
        queue.execute(self)
    }

    func deliver() {
        while true {
            let (step, downstream, exchange) = lock.withLock {
                let result = (machine.next(), self.downstream, self.exchange)
                if case .completion = result.0 { lockedRelease() }
                return result
            }
            switch step {
            case .value(let element):
                guard let downstream else { return }
                let more = downstream.receive(element)
                if lock.withLock({ machine.delivered(more) }) { exchange?.resumeReading() }
            case .completion(let completion):
                downstream?.receive(completion: completion)
                return
            case .rest:
                return
            }
        }
    }

    private func lockedRelease() {
        downstream = nil
        exchange = nil
    }
}
