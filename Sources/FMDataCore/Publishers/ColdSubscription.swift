import NIOConcurrencyHelpers
package import OpenCombine

/// A publisher that works on demand. It describes the work, and each subscription is a ``ColdSubscription``.
///
/// It publishes one value: demand after the first changes nothing. For many values, use ``RelayPublisher``.
package protocol ColdPublisher: Publisher {
    /// What each subscription keeps for the publisher.
    associatedtype Memory = Void

    /// The memory of a new subscription.
    var memory: Memory { get }

    /// Does the work: registers what is under way, so that a cancel reaches it (``ColdSubscription/proceed(with:)``),
    /// and ends by ``ColdSubscription/succeed(with:)`` or ``ColdSubscription/finish(_:)``. Called with the first
    /// demand: at most once, and not after a cancel.
    func begin(_ subscription: ColdSubscription<Self>)
    /// Called when the subscription was cancelled while it was running. What was under way is cancelled already.
    func cancelled(_ subscription: ColdSubscription<Self>)
}

extension ColdPublisher {
    package func cancelled(_ subscription: ColdSubscription<Self>) {}

    package func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        subscriber.receive(subscription: ColdSubscription(self, downstream: subscriber))
    }
}

extension ColdPublisher where Memory == Void {
    package var memory: Void { () }
}

/// A publisher that passes on the values of another one, as far as there is demand. Its subscription subscribes to that
/// publisher.
package protocol RelayPublisher: ColdPublisher {
    associatedtype UpstreamFailure: Error = Failure

    /// The other publisher has ended. Not called after the end of the subscription.
    func upstreamEnded(
        _ completion: Subscribers.Completion<UpstreamFailure>,
        _ subscription: ColdSubscription<Self>
    )
    /// The failure that takes the place of the value that has just come; `nil` passes the value on.
    static func refusal(_ subscription: ColdSubscription<Self>) -> Failure?
    /// Called before a value is passed on.
    static func passes(_ value: Output, _ subscription: ColdSubscription<Self>)
}

extension RelayPublisher {
    package static func refusal(_ subscription: ColdSubscription<Self>) -> Failure? { nil }
    package static func passes(_ value: Output, _ subscription: ColdSubscription<Self>) {}
}

extension RelayPublisher where UpstreamFailure == Failure {
    package func upstreamEnded(_ completion: Subscribers.Completion<Failure>, _ subscription: ColdSubscription<Self>) {
        subscription.finish(completion)
    }
}

/// The subscription of a publisher that works on demand: *ready* until the first demand, *running* until it has
/// succeeded, failed or been cancelled, then *terminal*.
///
/// Calls after the end have no effect, on any thread. The end releases everything but the memory: the publisher with
/// its captures, the subscriber, what was under way. No other object is called with the lock held.
package final class ColdSubscription<Source: ColdPublisher>: Subscription, @unchecked Sendable {
    typealias Downstream = any Subscriber<Source.Output, Source.Failure>

    // @unchecked: `lock` guards every `var`. Of `memory`, the publisher says what is constant, or used by its steps
    // alone, which run one after the other.
    private let lock = NIOLock()
    private var state = SubscriptionState.ready
    /// Whether a value has been passed on.
    private var hasPassedOn = false
    private var isCancelled = false
    /// The number of values that the subscriber is receiving, each nested in the delivery of the one before.
    private var deliveries = 0
    /// The demand that is not satisfied yet, for a publisher of many values.
    private var demand = Subscribers.Demand.none
    /// The subscription that the demand is passed to.
    private var upstream: (any Subscription)?
    private var work: (any Cancellable)?
    private var downstream: Downstream?
    /// Completes the subscriber when it has received the values that are being delivered.
    private var interruption: (() -> Void)?
    /// The publisher; `nil` after the end. It is boxed, since each access to an `Optional<Source>` would ask the
    /// runtime for that type and copy the publisher.
    private var source: Box<Source>?
    /// What the publisher keeps here; use ``withLock(_:)`` unless it is constant or its users take turns.
    package var memory: Source.Memory

    /// - Parameter source: the publisher; it is kept until the end.
    init(_ source: Source, downstream: Downstream) {
        memory = source.memory
        self.source = Box(source)
        self.downstream = downstream
    }

    // MARK: From downstream

    package func request(_ demand: Subscribers.Demand) {
        precondition(demand > .none, "A subscriber asks for at least one value")
        let (source, upstream): (Box<Source>?, (any Subscription)?) = locked {
            switch state {
            case .ready:
                state = .running
                self.demand = demand
                return (self.source, nil)
            case .running:
                self.demand += demand
                return (nil, self.upstream)
            case .terminal:
                return (nil, nil)
            }
        }
        source?.value.begin(self)
        upstream?.request(demand)
    }

    package func cancel() {
        locked { isCancelled = true }
        let (last, remains) = terminate(cancelling: true)
        if last == .running { remains.source?.value.cancelled(self) }
        // The subscriber may be deinitialised here, which may run anything, so not under the lock.
        withExtendedLifetime(remains) {}
    }

    // MARK: While it is running

    /// Registers what is under way from now on, in place of what was. Returns whether it may begin: `false` after the
    /// end.
    package func proceed(with work: any Cancellable) -> Bool {
        let (isWanted, old): (Bool, (any Cancellable)?) = locked {
            guard state == .running else { return (false, nil) }
            defer { self.work = work }
            return (true, self.work)
        }
        withExtendedLifetime(old) {}
        return isWanted
    }

    package var isRunning: Bool { locked { state == .running } }

    /// Whether a value has been passed on.
    var hasPublished: Bool { locked { hasPassedOn } }

    /// Reads or changes the memory.
    package func withLock<Result>(_ body: (inout Source.Memory) -> Result) -> Result {
        locked { body(&memory) }
    }

    /// Reads or changes the memory, with the publisher, unless the subscription has ended; then it returns `nil`.
    package func unlessEnded<Result>(_ body: (_ source: Source, _ memory: inout Source.Memory) -> Result) -> Result? {
        locked { source.map { body($0.value, &memory) } }
    }

    /// `NIOLock.withLock`, but inlined: a call of it asks the runtime for the type of the result, which depends on
    /// `Source`, and that takes longer than the lock.
    @inline(__always)
    private func locked<Result>(_ body: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    // MARK: The end

    /// Publishes the value and finishes. Returns whether there was a subscriber to receive it.
    @discardableResult
    package func succeed(with value: Source.Output) -> Bool {
        guard let downstream = end() else { return false }
        publishLast(value, to: downstream)
        return true
    }

    /// Publishes the value and finishes, unless the subscriber cancels while it receives the value. For the caller of
    /// `end`.
    func publishLast(_ value: Source.Output, to downstream: Downstream) {
        _ = downstream.receive(value)
        if !locked({ isCancelled }) { downstream.receive(completion: .finished) }
    }

    package func finish(_ completion: Subscribers.Completion<Source.Failure>) {
        end()?.receive(completion: completion)
    }

    /// Ends the subscription. Returns the subscriber, which the caller has to complete; `nil` if it had ended before.
    ///
    /// - Parameter cancelling: whether to cancel what is under way.
    func end(cancelling: Bool = false) -> Downstream? {
        terminate(cancelling: cancelling).remains.downstream
    }

    /// Ends the subscription from outside and cancels what is under way; no more values are passed on. The subscriber
    /// is completed at once or, if a thread is just delivering a value to it, by that thread.
    ///
    /// - Parameter first: called before the subscriber is completed, unless the subscription had ended before.
    func interrupt(with completion: Subscribers.Completion<Source.Failure>, _ first: () -> Void = {}) {
        guard let downstream = end(cancelling: true) else { return }
        first()
        let isFree = locked {
            if deliveries > 0 { interruption = { downstream.receive(completion: completion) } }
            return deliveries == 0
        }
        if isFree { downstream.receive(completion: completion) }
    }

    private typealias ReleasedObjects = (
        source: Box<Source>?, downstream: Downstream?, work: (any Cancellable)?, upstream: (any Subscription)?
    )

    private func terminate(cancelling: Bool) -> (last: SubscriptionState, remains: ReleasedObjects) {
        let (last, remains): (SubscriptionState, ReleasedObjects) = locked {
            defer {
                state = .terminal
                source = nil
                downstream = nil
                work = nil
                upstream = nil
            }
            return (state, (source, downstream, work, upstream))
        }
        if cancelling {
            remains.work?.cancel()
            remains.upstream?.cancel()
        }
        return (last, remains)
    }
}

private final class Box<Value> {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// Outside of the generic class, so that the compiler knows its layout, which is the same for all specializations.
private enum SubscriptionState {
    /// No demand yet. → running, terminal
    case ready
    /// → terminal
    case running
    /// Succeeded, failed or cancelled.
    case terminal
}

extension ColdSubscription: Subscriber where Source: RelayPublisher {
    package typealias Input = Source.Output
    package typealias Failure = Source.UpstreamFailure

    package func receive(subscription: any Subscription) {
        let demand: Subscribers.Demand? = locked {
            guard state == .running, upstream == nil else { return nil }
            upstream = subscription
            return self.demand
        }
        if let demand { subscription.request(demand) } else { subscription.cancel() }
    }

    package func receive(_ input: Source.Output) -> Subscribers.Demand {
        if let failure = Source.refusal(self) {
            end(cancelling: true)?.receive(completion: .failure(failure))
            return .none
        }
        let downstream: Downstream? = locked {
            demand -= 1
            guard let downstream = self.downstream else { return nil }
            hasPassedOn = true
            deliveries += 1
            return downstream
        }
        guard let downstream else { return .none }
        Source.passes(input, self)
        let more = downstream.receive(input)
        let interruption = locked {
            demand += more
            deliveries -= 1
            return deliveries == 0 ? self.interruption.take() : nil
        }
        guard let interruption else { return more }
        interruption()
        return .none
    }

    package func receive(completion: Subscribers.Completion<Source.UpstreamFailure>) {
        guard let source = locked({ source }) else { return }
        source.value.upstreamEnded(completion, self)
    }

    /// The publisher has ended, and another may take its place, which then gets the unsatisfied demand. Returns whether
    /// a value has been passed on; `nil` after the end.
    func restart() -> Bool? {
        let (isRunning, hasPublished, old): (Bool, Bool, (any Subscription)?) = locked {
            (state == .running, hasPassedOn, upstream.take())
        }
        withExtendedLifetime(old) {}
        return isRunning ? hasPublished : nil
    }
}

/// A publisher that is made with the first demand. Unlike `Deferred`, it suits publishers that start working when they
/// are subscribed to. If it is cancelled before any demand, none is made.
package struct OnDemandPublisher<Output, Failure: Error>: RelayPublisher {
    let make: () -> AnyPublisher<Output, Failure>

    package init(make: @escaping () -> AnyPublisher<Output, Failure>) {
        self.make = make
    }

    package func begin(_ subscription: ColdSubscription<Self>) { make().subscribe(subscription) }
}
