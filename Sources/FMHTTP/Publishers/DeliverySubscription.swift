internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1
internal import OpenCombine

/// The subscription of both publishers: demand and cancellation on one side, an exchange on the other, and delivery in
/// order on the chosen queue in between.
///
/// State is changed under the lock; the subscriber and the exchange are spoken to outside it.
final class DeliverySubscription<Downstream: Subscriber, Reducer: ResponseReducer>: Subscription, ResponseSink,
    Deliverer, @unchecked Sendable
where Downstream.Input == Reducer.Output, Downstream.Failure == HTTPClientError {
    // Sendable because `machine`, `downstream`, `exchange` and `queue` are read and changed under `lock` only,
    // `downstream` is called by one deliverer at a time (`machine` sees to that), and `reducer` is used by the exchange
    // only, whose calls come one after the other.

    private let client: HTTPClient
    private let request: HTTPRequest
    private let bodyLimit: Int?
    private var reducer: Reducer

    private let lock = NIOLock()
    private var machine: DeliveryStateMachine<Reducer.Output>
    private var downstream: Downstream?
    private var exchange: Exchange?
    private var queue: DeliveryQueue?

    init(client: HTTPClient, request: HTTPRequest, bodyLimit: Int?, reducer: Reducer, downstream: Downstream) {
        self.client = client
        self.request = request
        self.bodyLimit = bodyLimit
        self.reducer = reducer
        self.downstream = downstream
        machine = DeliveryStateMachine(maximumBuffered: Reducer.maximumBuffered ?? .max)
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
        do throws(HTTPClientError) {
            let exchange = try client.makeExchange(request, bodyLimit: bodyLimit, sink: self)
            // Before it starts: a cancellation from now on has something to cancel.
            let isWanted = lock.withLock {
                guard downstream != nil else { return false }
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
        case .eventLoop: lock.withLock { queue = .eventLoop(eventLoop) }
        }
    }

    func received(_ head: HTTPResponseHead, bodyLength: ResponseParser.BodyLength) {
        enqueue(reducer.take(head, bodyLength: bodyLength))
    }

    func received(_ body: ByteBuffer) {
        enqueue(reducer.take(body))
    }

    private func enqueue(_ output: Reducer.Output?) {
        if let output { lock.withLock { machine.received(output) } }
    }

    func readCompleted() {
        guard Reducer.maximumBuffered != nil else { return }
        if lock.withLock({ machine.flush() }) { schedule() }
    }

    var wantsMore: Bool { Reducer.maximumBuffered == nil || lock.withLock { machine.wantsMore() } }

    func finished(_ figures: ExchangeFigures) {
        end(.finished, after: reducer.finish(figures))
    }

    func failed(_ error: HTTPClientError) {
        end(.failure(error), after: nil)
    }

    private func end(_ completion: Subscribers.Completion<HTTPClientError>, after last: Reducer.Output?) {
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
            case .value(let value):
                guard let downstream else { return }
                let more = downstream.receive(value)
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
