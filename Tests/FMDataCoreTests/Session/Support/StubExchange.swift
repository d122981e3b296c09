import FMData
import NIOConcurrencyHelpers
import OpenCombine

@testable import FMDataCore

/// One exchange whose answer the test sends. It delivers even after it was cancelled, as an answer under way may.
final class StubExchange<Output: Sendable>: Publisher, Subscription, @unchecked Sendable {
    typealias Failure = FMRest.APIError

    // `lock` guards every `var` below.
    private let lock = NIOLock()
    private var subscriber: AnySubscriber<Output, FMRest.APIError>?
    private var demands: [Subscribers.Demand] = []
    private var cancels = 0

    var isSubscribed: Bool { lock.withLock { subscriber != nil } }
    var isCancelled: Bool { lock.withLock { cancels > 0 } }
    var demand: [Subscribers.Demand] { lock.withLock { demands } }

    func receive<S: Subscriber<Output, FMRest.APIError>>(subscriber: S) {
        lock.withLock { self.subscriber = AnySubscriber(subscriber) }
        subscriber.receive(subscription: self)
    }

    func request(_ demand: Subscribers.Demand) { lock.withLock { demands.append(demand) } }
    func cancel() { lock.withLock { cancels += 1 } }

    @discardableResult
    func send(_ value: Output) -> Subscribers.Demand {
        lock.withLock { subscriber }?.receive(value) ?? .none
    }

    func finish() { end()?.receive(completion: .finished) }
    func fail(_ error: FMRest.APIError) { end()?.receive(completion: .failure(error)) }

    func succeed(_ value: Output) {
        send(value)
        finish()
    }

    private func end() -> AnySubscriber<Output, FMRest.APIError>? {
        lock.withLock {
            defer { subscriber = nil }
            return subscriber
        }
    }
}
