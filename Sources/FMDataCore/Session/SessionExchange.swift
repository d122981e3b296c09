package import OpenCombine

/// One exchange of the pool with its server, a login or a logout. It subscribes in `start`, reports one result, and can
/// be cancelled before or after the start, from any thread.
///
/// A value that arrives after the cancellation is reported as well: it may be the token of a session that must be
/// logged out.
package final class SessionExchange<Output: Sendable>: Subscriber, Cancellable, Sendable {
    package typealias Input = Output
    package typealias Failure = FMRest.APIError

    private enum State {
        case new
        case subscribing
        case running(any Subscription)
        case cancelled
        case over
    }

    package typealias Report = @Sendable (Result<Output, FMRest.APIError>?) -> Void

    private struct Progress {
        var state = State.new
        var report: Report?
    }

    private let progress: Guarded<Progress>

    /// `report` is called at most once; with `nil` when the publisher finished without a value.
    package init(report: @escaping Report) {
        progress = Guarded(Progress(report: report))
    }

    package func start(_ publisher: AnyPublisher<Output, FMRest.APIError>) {
        let isNew = progress.withLock { progress in
            guard case .new = progress.state else { return false }
            progress.state = .subscribing
            return true
        }
        if isNew { publisher.subscribe(self) }
    }

    package func receive(subscription: any Subscription) {
        let isWanted = progress.withLock { progress in
            guard case .subscribing = progress.state else { return false }
            progress.state = .running(subscription)
            return true
        }
        if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
    }

    package func receive(_ input: Output) -> Subscribers.Demand {
        finish()?(.success(input))
        return .none
    }

    package func receive(completion: Subscribers.Completion<FMRest.APIError>) {
        switch completion {
        case .finished: finish()?(nil)
        case .failure(let error): finish()?(.failure(error))
        }
    }

    package func cancel() {
        let subscription: (any Subscription)? = progress.withLock { progress in
            switch progress.state {
            case .running(let subscription):
                progress.state = .cancelled
                return subscription
            case .new, .subscribing:
                progress.state = .cancelled
                return nil
            case .cancelled, .over:
                return nil
            }
        }
        subscription?.cancel()
    }

    private func finish() -> Report? {
        progress.withLock { progress in
            progress.state = .over
            return progress.report.take()
        }
    }
}
