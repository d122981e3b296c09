import NIOConcurrencyHelpers
import OpenCombine

/// One exchange of the pool with its server, a login or a logout. It subscribes in `start`, reports one result, and can
/// be cancelled before or after the start, from any thread.
///
/// A value that arrives after the cancellation is reported as well: it may be the token of a session that must be
/// logged out.
final class SessionExchange<Output: Sendable>: Subscriber, Cancellable, @unchecked Sendable {
    typealias Input = Output
    typealias Failure = FMRest.APIError

    private enum State {
        case new
        case subscribing
        case running(any Subscription)
        case cancelled
        case over
    }

    // `lock` guards `state` and `report`, which makes this class Sendable.
    private let lock = NIOLock()
    private var state = State.new
    private var report: (@Sendable (Result<Output, FMRest.APIError>?) -> Void)?

    /// `report` is called at most once; with `nil` when the publisher finished without a value.
    init(report: @escaping @Sendable (Result<Output, FMRest.APIError>?) -> Void) {
        self.report = report
    }

    func start(_ publisher: AnyPublisher<Output, FMRest.APIError>) {
        let isNew = lock.withLock {
            guard case .new = state else { return false }
            state = .subscribing
            return true
        }
        if isNew { publisher.subscribe(self) }
    }

    func receive(subscription: any Subscription) {
        let isWanted = lock.withLock {
            guard case .subscribing = state else { return false }
            state = .running(subscription)
            return true
        }
        if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
    }

    func receive(_ input: Output) -> Subscribers.Demand {
        finish()?(.success(input))
        return .none
    }

    func receive(completion: Subscribers.Completion<FMRest.APIError>) {
        switch completion {
        case .finished: finish()?(nil)
        case .failure(let error): finish()?(.failure(error))
        }
    }

    func cancel() {
        let subscription: (any Subscription)? = lock.withLock {
            switch state {
            case .running(let subscription):
                state = .cancelled
                return subscription
            case .new, .subscribing:
                state = .cancelled
                return nil
            case .cancelled, .over:
                return nil
            }
        }
        subscription?.cancel()
    }

    private func finish() -> (@Sendable (Result<Output, FMRest.APIError>?) -> Void)? {
        lock.withLock {
            state = .over
            defer { report = nil }
            return report
        }
    }
}
