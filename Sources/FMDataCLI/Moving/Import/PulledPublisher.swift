import FMData
import OpenCombine

/// Publishes what a function returns, one value for each that is asked for, until it returns nil. It has one
/// subscriber.
final class PulledPublisher<Output: Sendable>: Publisher, Subscription, Sendable {
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

    private let state = Guarded(State())
    private let pull: @Sendable () async throws -> Output?

    init(_ pull: @escaping @Sendable () async throws -> Output?) { self.pull = pull }

    func receive<Downstream: Subscriber<Output, any Error>>(subscriber: Downstream) {
        state.withLock { $0.subscriber = subscriber }
        subscriber.receive(subscription: self)
    }

    func request(_ demand: Subscribers.Demand) {
        let begins = state.withLock { state in
            state.demand += demand
            guard !state.isPulling, state.subscriber != nil else { return false }
            state.isPulling = true
            return true
        }
        if begins { Task { await pullValues() } }
    }

    func cancel() { state.withLock { $0.subscriber = nil } }

    /// Ends the values, as if there were no more of them.
    func stop() {
        let subscriber = state.withLock { state -> (any Subscriber<Output, any Error>)? in
            state.isStopped = true
            return state.isDelivering ? nil : state.end()
        }
        subscriber?.receive(completion: .finished)
    }

    private func pullValues() async {
        while state.withLock({ $0.goesOn() }) {
            do {
                guard let value = try await pull() else { return end(with: .finished) }
                deliver(value)
            } catch {
                return end(with: .failure(error))
            }
        }
    }

    private func deliver(_ value: Output) {
        let subscriber = state.withLock { state -> (any Subscriber<Output, any Error>)? in
            state.isDelivering = state.subscriber != nil
            return state.subscriber
        }
        guard let subscriber else { return }
        let demand = subscriber.receive(value)
        let stopped = state.withLock { state -> (any Subscriber<Output, any Error>)? in
            state.isDelivering = false
            state.demand += demand
            return state.isStopped ? state.end() : nil
        }
        stopped?.receive(completion: .finished)
    }

    private func end(with completion: Subscribers.Completion<any Error>) {
        state.withLock { $0.end() }?.receive(completion: completion)
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
