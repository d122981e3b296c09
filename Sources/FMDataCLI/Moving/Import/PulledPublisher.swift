import Foundation
import OpenCombine

/// Publishes what a function returns, one value for each that is asked for, until it returns nil. It has one
/// subscriber.
final class PulledPublisher<Output: Sendable>: Publisher, Subscription, @unchecked Sendable {
    // @unchecked: the state is used under the lock only, and the subscriber is called by one thread at a time.
    typealias Failure = any Error

    fileprivate struct State {
        var subscriber: (any Subscriber<Output, any Error>)?
        var demand = Subscribers.Demand.none
        /// Whether values are being pulled.
        var isPulling = false
        /// Whether the subscriber is being called.
        var isDelivering = false
        /// Whether no more values are wanted.
        var isStopped = false
    }

    private let state = LockedState(State())
    private let pull: @Sendable () async throws -> Output?

    init(_ pull: @escaping @Sendable () async throws -> Output?) { self.pull = pull }

    func receive<Downstream: Subscriber<Output, any Error>>(subscriber: Downstream) {
        state.change { $0.subscriber = subscriber }
        subscriber.receive(subscription: self)
    }

    func request(_ demand: Subscribers.Demand) {
        let begins = state.change { state in
            state.demand += demand
            guard !state.isPulling, state.subscriber != nil else { return false }
            state.isPulling = true
            return true
        }
        if begins { Task { await pullValues() } }
    }

    func cancel() { state.change { $0.subscriber = nil } }

    /// Ends the values, as if there were no more of them.
    func stop() {
        let subscriber = state.change { state -> (any Subscriber<Output, any Error>)? in
            state.isStopped = true
            return state.isDelivering ? nil : state.end()
        }
        subscriber?.receive(completion: .finished)
    }

    private func pullValues() async {
        while state.change({ $0.goesOn() }) {
            do {
                guard let value = try await pull() else { return end(with: .finished) }
                deliver(value)
            } catch {
                return end(with: .failure(error))
            }
        }
    }

    private func deliver(_ value: Output) {
        let subscriber = state.change { state -> (any Subscriber<Output, any Error>)? in
            state.isDelivering = state.subscriber != nil
            return state.subscriber
        }
        guard let subscriber else { return }
        let demand = subscriber.receive(value)
        let stopped = state.change { state -> (any Subscriber<Output, any Error>)? in
            state.isDelivering = false
            state.demand += demand
            return state.isStopped ? state.end() : nil
        }
        stopped?.receive(completion: .finished)
    }

    private func end(with completion: Subscribers.Completion<any Error>) {
        state.change { $0.end() }?.receive(completion: completion)
    }
}

extension PulledPublisher.State {
    /// Whether another value is pulled. Counts it.
    fileprivate mutating func goesOn() -> Bool {
        isPulling = demand > .none && subscriber != nil && !isStopped
        if isPulling { demand -= 1 }
        return isPulling
    }

    fileprivate mutating func end() -> (any Subscriber<Output, any Error>)? {
        defer { subscriber = nil }
        return subscriber
    }
}

/// A state under a lock that need not be `Sendable`.
private final class LockedState<State>: @unchecked Sendable {
    // @unchecked: the state is used under the lock only.
    private let lock = NSLock()
    private var state: State

    init(_ state: State) { self.state = state }

    func change<Result>(_ body: (inout State) -> Result) -> Result { lock.withLock { body(&state) } }
}
