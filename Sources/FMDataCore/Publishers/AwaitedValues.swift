import FMHTTP
import OpenCombine

/// The subscriber behind `await`. It asks for a value when a task waits for one, and resumes that task exactly once,
/// whichever of value, completion and cancellation comes first.
///
/// Cancelling the waiting task cancels the subscription and throws a `CancellationError`. Values that come without
/// demand are kept.
final class AwaitedValues<Value>: Subscriber, Sendable {
    typealias Input = Value
    typealias Failure = FMRest.APIError

    private enum State {
        /// The subscription has not come yet.
        case idle
        case subscribed(any Subscription)
        /// Ended, with a failure that has not been thrown yet.
        case ended((any Error)?)
    }

    /// Passes a value to the one task that waits for it.
    private typealias Handover = Crossing<Value?>
    private typealias Waiter = CheckedContinuation<Handover, any Error>

    private struct Reception {
        var state = State.idle
        var waiter: Waiter?
        var arrived: [Value] = []

        mutating func end(_ error: (any Error)?) -> (Waiter?, (any Subscription)?) {
            let subscription: (any Subscription)?
            switch state {
            case .idle: subscription = nil
            case .subscribed(let running): subscription = running
            case .ended: return (nil, nil)
            }
            let waiter = waiter.take()
            state = .ended(waiter == nil ? error : nil)
            return (waiter, subscription)
        }
    }

    private let wantsOneValue: Bool
    private let reception = Guarded(Reception())

    /// - Parameter wantsOneValue: whether the first value is the end. The subscription is then cancelled before the
    ///   waiting task continues, so that what it held is free by then.
    init(wantsOneValue: Bool = false) {
        self.wantsOneValue = wantsOneValue
    }

    // MARK: Calls of the task

    /// The next value; `nil` when there are no more.
    func next(isolation: isolated (any Actor)? = #isolation) async throws -> Value? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0) }.value
        } onCancel: {
            end(by: CancellationError())
        }
    }

    /// Cancels the subscription.
    func cancel() { end(by: nil) }

    private func wait(_ waiter: Waiter) {
        let (answer, subscription): (Result<Handover, any Error>?, (any Subscription)?) = reception.withLock {
            reception in
            if !reception.arrived.isEmpty { return (.success(Handover(reception.arrived.removeFirst())), nil) }
            switch reception.state {
            case .idle:
                reception.waiter = waiter
                return (nil, nil)
            case .subscribed(let subscription):
                reception.waiter = waiter
                return (nil, subscription)
            case .ended(let error):
                reception.state = .ended(nil)
                return (error.map { .failure($0) } ?? .success(Handover(nil)), nil)
            }
        }
        if let answer { waiter.resume(with: answer) }
        subscription?.request(.max(1))
    }

    private func end(by error: (any Error)?) {
        let (waiter, subscription): (Waiter?, (any Subscription)?) = reception.withLock { reception in
            // Values that came and were not taken are dropped, so this must not look like the regular end.
            if case .ended(nil) = reception.state, !reception.arrived.isEmpty { reception.state = .ended(error) }
            reception.arrived = []
            return reception.end(error)
        }
        subscription?.cancel()
        resume(waiter, error)
    }

    // MARK: Calls of the publisher

    func receive(subscription: any Subscription) {
        let (isWanted, isAwaited) = reception.withLock { reception in
            guard case .idle = reception.state else { return (false, false) }
            reception.state = .subscribed(subscription)
            return (true, reception.waiter != nil)
        }
        if !isWanted { return subscription.cancel() }
        if isAwaited { subscription.request(.max(1)) }
    }

    func receive(_ value: Value) -> Subscribers.Demand {
        let (waiter, subscription): (Waiter?, (any Subscription)?) = reception.withLock { reception in
            if case .ended = reception.state { return (nil, nil) }
            if reception.waiter == nil { reception.arrived.append(value) }
            return wantsOneValue ? reception.end(nil) : (reception.waiter.take(), nil)
        }
        subscription?.cancel()
        waiter?.resume(returning: Handover(value))
        return .none
    }

    func receive(completion: Subscribers.Completion<FMRest.APIError>) {
        let error: FMRest.APIError? = if case .failure(let error) = completion { error } else { nil }
        let (waiter, _) = reception.withLock { $0.end(error) }
        resume(waiter, error)
    }

    // MARK: The end

    private func resume(_ waiter: Waiter?, _ error: (any Error)?) {
        if let error { waiter?.resume(throwing: error) } else { waiter?.resume(returning: Handover(nil)) }
    }
}
