import Dispatch
import FMData
import NIOConcurrencyHelpers
import OpenCombine

/// Publishes values to its current subscribers. A slow subscriber receives fewer values instead of having a growing
/// queue: values that wait for its demand are merged.
///
/// Each subscriber is called on a queue of its own, one value after the other, so one that blocks delays no other.
/// ``send(_:)`` and ``finish()`` call no subscriber themselves, so they may be called with a lock held.
final class Broadcast<Value: Sendable>: Sendable {
    /// Appends a value to the waiting ones, or merges it with one of them.
    typealias Queueing = @Sendable (_ waiting: inout [Value], _ value: Value) -> Void

    private struct State: Sendable {
        var listeners: [Int: BroadcastSubscription<Value>] = [:]
        var nextID = 0
        /// The current value, which a new subscriber receives at once.
        var present: Value?
        var isFinished = false
    }

    private let queueing: Queueing
    private let state: NIOLockedValueBox<State>

    /// - Parameter present: the current value of a state, which new subscribers receive at once; `nil` for events.
    init(present: Value? = nil, queueing: @escaping Queueing) {
        self.queueing = queueing
        state = NIOLockedValueBox(State(present: present))
    }

    func send(_ value: Value) {
        let listeners = state.withLockedValue { state -> [BroadcastSubscription<Value>] in
            if state.present != nil { state.present = value }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.offer(value) }
    }

    func finish() {
        let listeners = state.withLockedValue { state in
            defer { state.listeners = [:] }
            state.isFinished = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    /// Publishes the values, on the main actor if it is subscribed there.
    var publisher: AnyPublisher<Value, Never> { BroadcastPublisher(broadcast: self).whereSubscribed() }

    /// Calls a closure with each value.
    func listen(_ body: @escaping @Sendable (Value) -> Void) {
        BroadcastPublisher(broadcast: self)
            .subscribe(Subscribers.Sink(receiveCompletion: { _ in }, receiveValue: body))
    }

    fileprivate func add(_ downstream: any Subscriber<Value, Never>) {
        let listener = state.withLockedValue { state in
            let id = state.nextID
            state.nextID += 1
            let listener = BroadcastSubscription(downstream, queueing) { [weak self] in
                self?.state.withLockedValue { _ = $0.listeners.removeValue(forKey: id) }
            }
            if let present = state.present { listener.offer(present) }
            if state.isFinished { listener.finish() } else { state.listeners[id] = listener }
            return listener
        }
        listener.begin()
    }
}

private struct BroadcastPublisher<Value: Sendable>: Publisher {
    typealias Output = Value
    typealias Failure = Never

    let broadcast: Broadcast<Value>

    func receive<Downstream: Subscriber<Value, Never>>(subscriber: Downstream) {
        broadcast.add(subscriber)
    }
}

/// The subscription of one subscriber: its waiting values and its demand.
private final class BroadcastSubscription<Value: Sendable>: Subscription, @unchecked Sendable {
    // @unchecked: `lock` guards every `var`; the subscriber is called on `turns` only, after its subscription.
    private let lock = NIOLock()
    private let turns = DispatchQueue(label: "FMWebhooks.Broadcast")
    private let queueing: Broadcast<Value>.Queueing
    private var downstream: (any Subscriber<Value, Never>)?
    private var leave: (@Sendable () -> Void)?
    private var waiting: [Value] = []
    private var demand = Subscribers.Demand.none
    /// Whether the subscriber has received its subscription, so that it may be called.
    private var hasBegun = false
    private var isFinished = false
    private var isAwaitingTurn = false

    init(
        _ downstream: any Subscriber<Value, Never>,
        _ queueing: @escaping Broadcast<Value>.Queueing,
        leave: @escaping @Sendable () -> Void
    ) {
        self.downstream = downstream
        self.queueing = queueing
        self.leave = leave
    }

    func begin() {
        lock.withLock { downstream }?.receive(subscription: self)
        lock.withLock {
            hasBegun = true
            lockedAskForTurn()
        }
    }

    func offer(_ value: Value) {
        lock.withLock {
            guard downstream != nil else { return }
            queueing(&waiting, value)
            lockedAskForTurn()
        }
    }

    /// Finishes after the waiting values have been delivered, as there is demand for them.
    func finish() {
        lock.withLock {
            isFinished = true
            lockedAskForTurn()
        }
    }

    func request(_ demand: Subscribers.Demand) {
        precondition(demand > .none, "A subscriber asks for at least one value")
        lock.withLock {
            self.demand += demand
            lockedAskForTurn()
        }
    }

    func cancel() {
        let (downstream, leave) = lock.withLock { lockedEnd() }
        leave?()
        // Outside the lock: the subscriber may be deinitialized here, which may run any code.
        withExtendedLifetime(downstream) {}
    }

    private func lockedEnd() -> ((any Subscriber<Value, Never>)?, (@Sendable () -> Void)?) {
        waiting = []
        return (downstream.take(), leave.take())
    }

    private func lockedAskForTurn() {
        guard hasBegun, !isAwaitingTurn, downstream != nil, isDeliverable else { return }
        isAwaitingTurn = true
        turns.async { self.takeTurn() }
    }

    private var isDeliverable: Bool { waiting.isEmpty ? isFinished : demand > .none }

    private func takeTurn() {
        while let (downstream, value) = next() {
            guard let value else { return downstream.receive(completion: .finished) }
            let more = downstream.receive(value)
            lock.withLock { demand += more }
        }
    }

    /// The subscriber and its next value, or `nil` for the value to finish; `nil` when there is nothing to deliver.
    private func next() -> (any Subscriber<Value, Never>, Value?)? {
        let (next, leave) = lock.withLock {
            () -> ((any Subscriber<Value, Never>, Value?)?, (@Sendable () -> Void)?) in
            guard let downstream, isDeliverable else {
                isAwaitingTurn = false
                return (nil, nil)
            }
            guard !waiting.isEmpty else { return ((downstream, nil), lockedEnd().1) }
            demand -= 1
            return ((downstream, waiting.removeFirst()), nil)
        }
        leave?()
        return next
    }
}
