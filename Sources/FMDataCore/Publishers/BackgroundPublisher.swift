import FMHTTP
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Publishes the values of another publisher, but nothing before the call has returned that subscribes, or that asks
/// first: what arrives until then is delivered on a background thread.
///
/// The steps of a call are operators of OpenCombine, too, and those deliver what another thread has brought on whatever
/// thread is the last to arrive. Everything later is passed on where it arrives, as it is asked for.
struct BackgroundPublisher<Upstream: Publisher>: Publisher {
    typealias Output = Upstream.Output
    typealias Failure = Upstream.Failure

    let upstream: Upstream

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        let subscription = BackgroundSubscription(subscriber)
        subscription.asking { upstream.subscribe(subscription) }
    }
}

private final class BackgroundSubscription<Downstream: Subscriber>: Subscription, Subscriber, DeferredWorker,
    @unchecked Sendable
{
    typealias Input = Downstream.Input
    typealias Failure = Downstream.Failure

    // @unchecked: `lock` guards every `var`. The subscriber is called by the upstream's thread or, as long as
    // `isHeldBack`, by the background thread alone.
    private let lock = NIOLock()
    private var downstream: Downstream?
    private var upstream: (any Subscription)?
    private var hasAsked = false
    /// The number of calls that have to return first, each nested in the one before.
    private var askingCalls = 0
    /// Whether a background thread delivers what was held back.
    private var isDelivering = false
    private var values = CircularBuffer<Input>()
    private var completion: Subscribers.Completion<Failure>?

    init(_ downstream: Downstream) { self.downstream = downstream }

    // MARK: The calls that ask

    /// Runs a call that may deliver at once.
    func asking(_ call: () -> Void) {
        // A background thread may as well deliver it itself.
        if DeliveryThread.isCurrent { return call() }
        lock.withLock { askingCalls += 1 }
        call()
        let delivers = lock.withLock {
            askingCalls -= 1
            guard askingCalls == 0, !isDelivering, !values.isEmpty || completion != nil else { return false }
            isDelivering = true
            return true
        }
        if delivers { goOnInBackground() }
    }

    func request(_ demand: Subscribers.Demand) {
        let (upstream, isFirst) = lock.withLock {
            defer { hasAsked = true }
            return (self.upstream, !hasAsked)
        }
        guard let upstream else { return }
        if isFirst { asking { upstream.request(demand) } } else { upstream.request(demand) }
    }

    func cancel() { lock.withLock { lockedEnd() }.upstream?.cancel() }

    // MARK: From the publisher

    func receive(subscription: any Subscription) {
        let isWanted = lock.withLock {
            guard upstream == nil, downstream != nil else { return false }
            upstream = subscription
            return true
        }
        guard isWanted else { return subscription.cancel() }
        lock.withLock { downstream }?.receive(subscription: self)
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        let downstream: Downstream? = lock.withLock {
            guard isHeldBack else { return self.downstream }
            if self.downstream != nil { values.append(input) }
            return nil
        }
        return downstream?.receive(input) ?? .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        let remains: ReleasedObjects? = lock.withLock {
            guard isHeldBack else { return lockedEnd() }
            self.completion = completion
            return nil
        }
        remains?.downstream?.receive(completion: completion)
    }

    private var isHeldBack: Bool { askingCalls > 0 || isDelivering }

    // MARK: In the background

    private enum Delivery {
        case value(Input, Downstream)
        case end(Subscribers.Completion<Failure>, ReleasedObjects)
    }

    /// Delivers what was held back, and what comes meanwhile.
    func goOn() {
        while let delivery = lock.withLock({ lockedNext() }) {
            switch delivery {
            case .value(let value, let downstream):
                let more = downstream.receive(value)
                if more > .none { lock.withLock { upstream }?.request(more) }
            case .end(let completion, let remains):
                remains.downstream?.receive(completion: completion)
            }
        }
    }

    private func lockedNext() -> Delivery? {
        if let downstream, let value = values.popFirst() { return .value(value, downstream) }
        if let completion { return .end(completion, lockedEnd()) }
        isDelivering = false
        return nil
    }

    // MARK: The end

    /// What is released at the end: not under the lock, since deinitializing it may run any code.
    private struct ReleasedObjects {
        let downstream: Downstream?
        let upstream: (any Subscription)?
        let values: CircularBuffer<Input>
    }

    private func lockedEnd() -> ReleasedObjects {
        defer {
            downstream = nil
            upstream = nil
            values = []
            completion = nil
        }
        return ReleasedObjects(downstream: downstream, upstream: upstream, values: values)
    }
}
