package import FMData
import NIOConcurrencyHelpers
package import OpenCombine

/// A subscriber that records its events as text. Values are described by a closure.
package final class Recorder<Input>: Subscriber, Cancellable, @unchecked Sendable {
    package typealias Failure = FMRest.APIError

    // `lock` guards every `var` below.
    private let lock = NIOLock()
    private var events: [String] = []
    private var subscription: (any Subscription)?
    private let initialDemand: Subscribers.Demand
    private let describe: (Input) -> String
    private let onValue: (Recorder, Input) -> Subscribers.Demand
    private let onCompletion: (Recorder) -> Void

    package init(
        demand: Subscribers.Demand = .unlimited,
        describe: @escaping (Input) -> String = { "\($0)" },
        onValue: @escaping (Recorder, Input) -> Subscribers.Demand = { _, _ in .none },
        onCompletion: @escaping (Recorder) -> Void = { _ in }
    ) {
        initialDemand = demand
        self.describe = describe
        self.onValue = onValue
        self.onCompletion = onCompletion
    }

    package var history: [String] { lock.withLock { events } }
    package var isEnded: Bool { history.contains { $0.hasPrefix("finished") || $0.hasPrefix("failed") } }

    package func receive(subscription: any Subscription) {
        lock.withLock { self.subscription = subscription }
        if initialDemand > .none { subscription.request(initialDemand) }
    }

    package func receive(_ input: Input) -> Subscribers.Demand {
        lock.withLock { events.append(describe(input)) }
        return onValue(self, input)
    }

    package func receive(completion: Subscribers.Completion<FMRest.APIError>) {
        lock.withLock {
            switch completion {
            case .finished: events.append("finished")
            case .failure(let error):
                events.append("failed \(error.code)" + (error.fileMakerCode.map { " \($0.rawValue)" } ?? ""))
            }
        }
        onCompletion(self)
    }

    package func request(_ demand: Subscribers.Demand) { lock.withLock { subscription }?.request(demand) }

    package func cancel() {
        let subscription = lock.withLock {
            defer { self.subscription = nil }
            return self.subscription
        }
        subscription?.cancel()
    }
}

extension Publisher where Failure == FMRest.APIError {
    /// Subscribes a recorder.
    package func record(
        demand: Subscribers.Demand = .unlimited,
        describe: @escaping (Output) -> String = { "\($0)" }
    ) -> Recorder<Output> {
        let recorder = Recorder<Output>(demand: demand, describe: describe)
        subscribe(recorder)
        return recorder
    }
}
