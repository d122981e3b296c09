import NIOConcurrencyHelpers
import OpenCombine

/// The subscription of a publisher that works on demand: *ready* until the first demand, *running* until it has
/// succeeded, failed or been cancelled, then *terminal*.
///
/// A subclass does the work (``begin(_:)``), registers what is under way, so that a cancel reaches it
/// (``proceed(with:)``), and ends by ``succeed(with:)`` or ``finish(_:)``. Calls after the end have no effect, on any
/// thread. The end releases everything: the publisher with its captures, the subscriber, what was under way. No other
/// object is called with the lock held.
///
/// It publishes one value: demand after the first changes nothing. For many values, use ``RelaySubscription``.
class ColdSubscription<Source: Publisher>: Subscription, @unchecked Sendable {
    typealias Downstream = any Subscriber<Source.Output, Source.Failure>

    // @unchecked: `lock` guards every `var`, here and, unless noted otherwise, in the subclasses.
    final let lock = NIOLock()
    fileprivate final var state = SubscriptionState.ready
    /// The publisher; `nil` after the end.
    private(set) final var source: Source?
    fileprivate final var downstream: Downstream?
    private final var work: (any Cancellable)?
    private final var isCancelled = false
    /// The demand that is not satisfied yet, for a subscription of many values.
    fileprivate(set) final var demand = Subscribers.Demand.none
    /// The subscription that the demand is passed to.
    fileprivate(set) final var upstream: (any Subscription)?

    /// - Parameter source: the publisher; it is kept until the end.
    init(_ source: Source, downstream: Downstream) {
        self.source = source
        self.downstream = downstream
    }

    // MARK: Overridden by a subclass

    /// Called with the first demand: at most once, and not after a cancel.
    func begin(_ source: Source) {}

    /// Called when the subscription was cancelled while it was running. What was under way is cancelled already.
    func cancelled() {}

    // MARK: From downstream

    final func request(_ demand: Subscribers.Demand) {
        precondition(demand > .none, "A subscriber asks for at least one value")
        let (source, upstream): (Source?, (any Subscription)?) = lock.withLock {
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
        if let source { begin(source) }
        upstream?.request(demand)
    }

    final func cancel() {
        lock.withLock { isCancelled = true }
        let (last, downstream) = terminate(cancelling: true)
        if last == .running { cancelled() }
        // The subscriber may be deinitialised here, which may run anything, so not under the lock.
        withExtendedLifetime(downstream) {}
    }

    // MARK: While it is running

    /// Registers what is under way from now on, in place of what was. Returns whether it may begin: `false` after the
    /// end.
    final func proceed(with work: any Cancellable) -> Bool {
        lock.withLock {
            guard state == .running else { return false }
            self.work = work
            return true
        }
    }

    final var isRunning: Bool { lock.withLock { state == .running } }

    // MARK: The end

    /// Publishes the value and finishes. Returns whether there was a subscriber to receive it.
    @discardableResult
    final func succeed(with value: Source.Output) -> Bool {
        guard let downstream = end() else { return false }
        publishLast(value, to: downstream)
        return true
    }

    /// Publishes the value and finishes, unless the subscriber cancels while it receives the value. For the caller of
    /// `end`.
    final func publishLast(_ value: Source.Output, to downstream: Downstream) {
        _ = downstream.receive(value)
        if !lock.withLock({ isCancelled }) { downstream.receive(completion: .finished) }
    }

    final func finish(_ completion: Subscribers.Completion<Source.Failure>) {
        end()?.receive(completion: completion)
    }

    /// Ends the subscription. Returns the subscriber, which the caller has to complete; `nil` if it had ended before.
    ///
    /// - Parameter cancelling: whether to cancel what is under way.
    final func end(cancelling: Bool = false) -> Downstream? {
        terminate(cancelling: cancelling).downstream
    }

    private func terminate(cancelling: Bool) -> (last: SubscriptionState, downstream: Downstream?) {
        let (last, downstream, remains) = lock.withLock {
            defer {
                state = .terminal
                source = nil
                self.downstream = nil
                work = nil
                upstream = nil
            }
            return (state, self.downstream, (source, work, upstream))
        }
        if cancelling {
            remains.1?.cancel()
            remains.2?.cancel()
        }
        return (last, downstream)
    }
}

/// Outside of the generic class, so that the compiler knows its layout, which is the same for all specializations.
fileprivate enum SubscriptionState {
    /// No demand yet. → running, terminal
    case ready
    /// → terminal
    case running
    /// Succeeded, failed or cancelled.
    case terminal
}

/// The subscription of a publisher that passes on the values of another one, as far as there is demand.
class RelaySubscription<Source: Publisher>: ColdSubscription<Source>, @unchecked Sendable {
    // @unchecked: as the superclass.

    /// Whether a value has been passed on.
    private(set) final var hasPublished = false
    /// The number of values that the subscriber is receiving, each nested in the delivery of the one before.
    private final var deliveries = 0
    /// The completion that is sent when the subscriber has received them.
    private final var interruption: (Downstream, Subscribers.Completion<Source.Failure>)?

    final func receive(subscription: any Subscription) {
        let demand: Subscribers.Demand? = lock.withLock {
            guard state == .running, upstream == nil else { return nil }
            upstream = subscription
            return self.demand
        }
        if let demand { subscription.request(demand) } else { subscription.cancel() }
    }

    func receive(_ input: Source.Output) -> Subscribers.Demand {
        let downstream: Downstream? = lock.withLock {
            demand -= 1
            guard let downstream = self.downstream else { return nil }
            hasPublished = true
            deliveries += 1
            return downstream
        }
        guard let downstream else { return .none }
        let more = downstream.receive(input)
        let last = lock.withLock {
            demand += more
            deliveries -= 1
            return deliveries == 0 ? interruption.take() : nil
        }
        guard let (downstream, completion) = last else { return more }
        downstream.receive(completion: completion)
        return .none
    }

    /// Ends the subscription from outside and cancels what is under way; no more values are passed on. The subscriber
    /// is completed at once or, if a thread is just delivering a value to it, by that thread.
    final func interrupt(with completion: Subscribers.Completion<Source.Failure>) {
        guard let downstream = end(cancelling: true) else { return }
        let isFree = lock.withLock {
            if deliveries > 0 { interruption = (downstream, completion) }
            return deliveries == 0
        }
        if isFree { downstream.receive(completion: completion) }
    }

    /// The publisher has ended, and another may take its place, which then gets the unsatisfied demand. Returns the
    /// source and whether a value has been passed on; `nil` after the end.
    final func restart() -> (source: Source, hasPublished: Bool)? {
        lock.withLock {
            upstream = nil
            return source.map { ($0, hasPublished) }
        }
    }
}
