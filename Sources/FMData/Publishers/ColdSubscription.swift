import NIOConcurrencyHelpers
import OpenCombine

/// The subscription of a publisher that does something when it is asked to: *ready* until the first demand, *running* until it
/// has succeeded, failed or been cancelled, *terminal* ever after.
///
/// A subclass says what there is to do (``begin(_:)``), names what is under way, so that a cancel reaches it
/// (``proceed(with:)``), and ends by ``succeed(with:)`` or ``finish(_:)``. What comes after the end has no effect, whichever
/// thread brings it, and with the end everything is let go: the publisher with what it captured, the subscriber, what was
/// under way. Nobody is called with the lock held.
///
/// For one value: demand after the first changes nothing. What publishes many is a ``RelaySubscription``.
class ColdSubscription<Source: Publisher>: Subscription, @unchecked Sendable {
    typealias Downstream = any Subscriber<Source.Output, Source.Failure>

    // @unchecked: `lock` guards every `var`, here and, unless they say otherwise, in the subclasses.
    final let lock = NIOLock()
    fileprivate final var state = SubscriptionState.ready
    /// What it was made of; `nil` when all is over.
    private(set) final var source: Source?
    fileprivate final var downstream: Downstream?
    private final var work: (any Cancellable)?
    private final var isCancelled = false
    /// What was asked for and has not been published, by something that publishes many values.
    fileprivate(set) final var demand = Subscribers.Demand.none
    /// Who is asked for it.
    fileprivate(set) final var upstream: (any Subscription)?

    /// - Parameter source: the publisher; it is kept until the end.
    init(_ source: Source, downstream: Downstream) {
        self.source = source
        self.downstream = downstream
    }

    // MARK: What a subclass does

    /// The first demand has come. Called once, and not after a cancel.
    func begin(_ source: Source) {}

    /// It was cancelled while it was running, and so was what was under way.
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

    // MARK: While it runs

    /// What is under way from now on, instead of what was. Returns whether it may begin: it may not when all is over.
    final func proceed(with work: any Cancellable) -> Bool {
        lock.withLock {
            guard state == .running else { return false }
            self.work = work
            return true
        }
    }

    final var isRunning: Bool { lock.withLock { state == .running } }

    // MARK: The end

    /// Publishes the value and finishes. Returns whether there was anybody to take it.
    @discardableResult
    final func succeed(with value: Source.Output) -> Bool {
        guard let downstream = end() else { return false }
        publishLast(value, to: downstream)
        return true
    }

    /// Publishes the value and finishes, unless whoever receives it cancels. For whoever ended it.
    final func publishLast(_ value: Source.Output, to downstream: Downstream) {
        _ = downstream.receive(value)
        if !lock.withLock({ isCancelled }) { downstream.receive(completion: .finished) }
    }

    final func finish(_ completion: Subscribers.Completion<Source.Failure>) {
        end()?.receive(completion: completion)
    }

    /// It is over. Returns the subscriber to whoever ended it, who has to tell it how; `nil` when it was over before.
    ///
    /// - Parameter cancelling: whether something is under way that is of no use any more.
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

/// Outside of the generic class, since it is the same for all of them: the compiler then knows its layout.
fileprivate enum SubscriptionState {
    /// Nothing has been asked for. → running, terminal
    case ready
    /// → terminal
    case running
    /// Succeeded, failed or cancelled.
    case terminal
}

/// The subscription of a publisher that passes on what another one publishes, as far as it is asked for.
class RelaySubscription<Source: Publisher>: ColdSubscription<Source>, @unchecked Sendable {
    // @unchecked: as the superclass.

    /// Whether it has passed a value on.
    private(set) final var hasPublished = false
    /// How many values the subscriber is being handed, each inside of the one before.
    private final var deliveries = 0
    /// The end that comes when it has taken them.
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

    /// Ends it from outside, whatever is under way: nothing of that is passed on any more. The subscriber is told at
    /// once, or by the thread that is just handing it a value.
    final func interrupt(with completion: Subscribers.Completion<Source.Failure>) {
        guard let downstream = end(cancelling: true) else { return }
        let isFree = lock.withLock {
            if deliveries > 0 { interruption = (downstream, completion) }
            return deliveries == 0
        }
        if isFree { downstream.receive(completion: completion) }
    }

    /// The publisher has ended, and perhaps another takes its place, which is then asked for what this one still owed.
    /// Returns what to make it of, and whether a value has been passed on; `nil` when all is over.
    final func restart() -> (source: Source, hasPublished: Bool)? {
        lock.withLock {
            upstream = nil
            return source.map { ($0, hasPublished) }
        }
    }
}
