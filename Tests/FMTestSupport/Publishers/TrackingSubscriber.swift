internal import NIOConcurrencyHelpers
public import OpenCombine
internal import Testing

/// A subscriber that records all its events, requests exactly the demand the test specifies, and can be waited for.
///
///     let subscriber = TrackingSubscriber<Int, Never>(initialDemand: .max(1))
///     publisher.subscribe(subscriber)
///     await subscriber.valueCount(atLeast: 1)
///     subscriber.request(.max(2))
///     #expect(await subscriber.completion() == .finished)
public final class TrackingSubscriber<Input: Sendable, Failure: Error>: Subscriber, Cancellable, @unchecked Sendable {
    // Sendable because all mutable state is read and changed under `lock` only.

    /// An event that the publisher has sent.
    public enum Event {
        case subscription
        case value(Input)
        case completion(Subscribers.Completion<Failure>)
    }

    private let events = Watched<[Event]>([])
    private let lock = NIOLock()
    private var subscription: (any Subscription)?
    private var cancelsOnSubscription = false
    private let initialDemand: Subscribers.Demand
    private let demandAfterValue: @Sendable (Input) -> Subscribers.Demand
    private let onEvent: @Sendable (Event) -> Void

    /// - Parameters:
    ///   - initialDemand: Requested when the subscription arrives.
    ///   - demandAfterValue: Returned from `receive(_:)`.
    ///   - onEvent: Called after an event was recorded and waiting tasks were resumed, on the thread of the event.
    public init(
        initialDemand: Subscribers.Demand = .unlimited,
        demandAfterValue: @escaping @Sendable (Input) -> Subscribers.Demand = { _ in .none },
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.initialDemand = initialDemand
        self.demandAfterValue = demandAfterValue
        self.onEvent = onEvent
    }

    /// All events so far, in order.
    public var history: [Event] { events.value }

    /// The values received so far, in order.
    public var values: [Input] {
        history.compactMap { event in
            guard case .value(let value) = event else { return nil }
            return value
        }
    }

    /// The completion; `nil` if there has been none yet.
    public var completionIfAny: Subscribers.Completion<Failure>? { Self.completion(in: history) }

    // MARK: Acting

    /// Requests more values; without a subscription this does nothing.
    public func request(_ demand: Subscribers.Demand) {
        lock.withLock { subscription }?.request(demand)
    }

    /// Cancels the subscription, or the one that arrives later.
    public func cancel() {
        let subscription = lock.withLock {
            cancelsOnSubscription = true
            defer { self.subscription = nil }
            return self.subscription
        }
        subscription?.cancel()
    }

    // MARK: Waiting

    /// Returns when the history satisfies the condition; if it never does, the time limit ends the test.
    public func wait(until condition: @escaping @Sendable ([Event]) -> Bool) async {
        await events.wait(until: condition)
    }

    /// Returns when at least this many values have been received.
    public func valueCount(atLeast count: Int) async {
        await wait { events in
            events.count { event in
                guard case .value = event else { return false }
                return true
            } >= count
        }
    }

    /// Returns the completion when it has been received.
    @discardableResult
    public func completion() async -> Subscribers.Completion<Failure> {
        await wait { Self.completion(in: $0) != nil }
        if let completion = completionIfAny { return completion }
        Issue.record("no completion came before the test was ended")
        return .finished
    }

    private static func completion(in history: [Event]) -> Subscribers.Completion<Failure>? {
        guard case .completion(let completion)? = history.last else { return nil }
        return completion
    }

    // MARK: Subscriber

    /// Records the subscription, and requests the initial demand or cancels it.
    public func receive(subscription: any Subscription) {
        let isCancelled = lock.withLock {
            if !cancelsOnSubscription { self.subscription = subscription }
            return cancelsOnSubscription
        }
        record(.subscription)
        if isCancelled { return subscription.cancel() }
        if initialDemand > .none { subscription.request(initialDemand) }
    }

    /// Records a value, and returns the further demand.
    public func receive(_ input: Input) -> Subscribers.Demand {
        record(.value(input))
        return demandAfterValue(input)
    }

    /// Records the completion, and releases the subscription.
    public func receive(completion: Subscribers.Completion<Failure>) {
        lock.withLock { subscription = nil }
        record(.completion(completion))
    }

    private func record(_ event: Event) {
        // First, since `onEvent` may block.
        events.change { $0.append(event) }
        onEvent(event)
    }
}

extension TrackingSubscriber.Event: Sendable where Input: Sendable {}
extension TrackingSubscriber.Event: Equatable where Input: Equatable, Failure: Equatable {}

extension Publisher where Output: Sendable {
    /// Subscribes with unlimited demand and returns the result: all values, or the error.
    public func outcome() async -> Result<[Output], Failure> {
        let subscriber = TrackingSubscriber<Output, Failure>()
        subscribe(subscriber)
        switch await subscriber.completion() {
        case .finished: return .success(subscriber.values)
        case .failure(let error): return .failure(error)
        }
    }
}
