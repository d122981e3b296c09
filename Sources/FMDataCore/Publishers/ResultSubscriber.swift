import NIOConcurrencyHelpers
import OpenCombine

/// Receives what a publisher publishes, and reports it once the publisher has ended, so that its session is free by
/// then. After a cancel nothing is reported.
package final class ResultSubscriber<Input, Failure: Error>: Subscriber, Cancellable {
    typealias Report = (_ values: [Input], _ failure: Failure?) -> Void

    // `lock` guards every `var`; the report is called once, outside of it.
    private let lock = NIOLock()
    private let demand: Subscribers.Demand
    private var values: [Input] = []
    private var subscription: (any Subscription)?
    private var report: Report?

    /// - Parameters:
    ///   - demand: the number of values that are asked for.
    ///   - report: receives all values, and the failure, if any, which came after them.
    init(demand: Subscribers.Demand, report: @escaping Report) {
        self.demand = demand
        self.report = report
    }

    /// A subscriber of one value.
    ///
    /// - Parameter report: receives the value, or `nil` if the publisher finished without one.
    package convenience init(report: @escaping (Result<Input, Failure>?) -> Void) {
        self.init(demand: .max(1)) { values, failure in
            if let failure { report(.failure(failure)) } else { report(values.last.map { .success($0) }) }
        }
    }

    func receive(subscription: any Subscription) {
        let isWanted = lock.withLock {
            guard report != nil, self.subscription == nil else { return false }
            self.subscription = subscription
            return true
        }
        if isWanted { subscription.request(demand) } else { subscription.cancel() }
    }

    func receive(_ value: Input) -> Subscribers.Demand {
        lock.withLock { if report != nil { values.append(value) } }
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        let remains = end()
        switch completion {
        case .finished: remains.report?(remains.values, nil)
        case .failure(let failure): remains.report?(remains.values, failure)
        }
    }

    func cancel() {
        let remains = end()
        remains.subscription?.cancel()
        // Values and captures are released here, outside of the lock, since that may run any code.
        withExtendedLifetime(remains) {}
    }

    private func end() -> (values: [Input], subscription: (any Subscription)?, report: Report?) {
        lock.withLock {
            defer { values = [] }
            return (values, subscription.take(), report.take())
        }
    }
}
