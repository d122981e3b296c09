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
private final class BroadcastSubscription<Value: Sendable>: Subscription, Sendable {
    private struct State {
        var downstream: (any Subscriber<Value, Never>)?
        var leave: (@Sendable () -> Void)?
        var waiting: [Value] = []
        var demand = Subscribers.Demand.none
        /// Whether the subscriber has received its subscription, so that it may be called.
        var hasBegun = false
        var isFinished = false
        var isAwaitingTurn = false

        var isDeliverable: Bool { waiting.isEmpty ? isFinished : demand > .none }

        mutating func end() -> ((any Subscriber<Value, Never>)?, (@Sendable () -> Void)?) {
            waiting = []
            return (downstream.take(), leave.take())
        }
    }

    /// The subscriber is called on it only, after its subscription.
    private let turns = DispatchQueue(label: "FMWebhooks.Broadcast")
    private let queueing: Broadcast<Value>.Queueing
    private let state: Guarded<State>

    init(
        _ downstream: any Subscriber<Value, Never>,
        _ queueing: @escaping Broadcast<Value>.Queueing,
        leave: @escaping @Sendable () -> Void
    ) {
        self.queueing = queueing
        state = Guarded(State(downstream: downstream, leave: leave))
    }

    func begin() {
        state.withLock { $0.downstream }?.receive(subscription: self)
        change { $0.hasBegun = true }
    }

    func offer(_ value: Value) {
        change { state in
            if state.downstream != nil { queueing(&state.waiting, value) }
        }
    }

    /// Finishes after the waiting values have been delivered, as there is demand for them.
    func finish() { change { $0.isFinished = true } }

    func request(_ demand: Subscribers.Demand) {
        precondition(demand > .none, "A subscriber asks for at least one value")
        change { $0.demand += demand }
    }

    func cancel() {
        let (downstream, leave) = state.withLock { $0.end() }
        leave?()
        // Outside the lock: the subscriber may be deinitialized here, which may run any code.
        withExtendedLifetime(downstream) {}
    }

    /// Changes the state, and asks for a turn if there is something to deliver then.
    private func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            guard state.hasBegun, !state.isAwaitingTurn, state.downstream != nil, state.isDeliverable else { return }
            state.isAwaitingTurn = true
            turns.async { self.takeTurn() }
        }
    }

    private func takeTurn() {
        while let (downstream, value) = next() {
            guard let value else { return downstream.receive(completion: .finished) }
            let more = downstream.receive(value)
            state.withLock { $0.demand += more }
        }
    }

    /// The subscriber and its next value, or `nil` for the value to finish; `nil` when there is nothing to deliver.
    private func next() -> (any Subscriber<Value, Never>, Value?)? {
        let (next, leave) = state.withLock {
            state -> ((any Subscriber<Value, Never>, Value?)?, (@Sendable () -> Void)?) in
            guard let downstream = state.downstream, state.isDeliverable else {
                state.isAwaitingTurn = false
                return (nil, nil)
            }
            guard !state.waiting.isEmpty else { return ((downstream, nil), state.end().1) }
            state.demand -= 1
            return ((downstream, state.waiting.removeFirst()), nil)
        }
        leave?()
        return next
    }
}
