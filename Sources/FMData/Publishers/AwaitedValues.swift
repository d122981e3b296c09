import NIOConcurrencyHelpers
import OpenCombine

/// The subscriber behind `await`: it asks for a value when somebody waits for one, and resumes whoever waits exactly once, whichever
/// of value, completion and cancellation comes first.
///
/// Cancelling the task that waits cancels the subscription, and is a `CancellationError`. What comes without being asked for is kept.
final class AwaitedValues<Value>: Subscriber, @unchecked Sendable {
    // @unchecked: every `var` is guarded by `lock`, and a value is handed over, not shared.
    typealias Input = Value
    typealias Failure = FMRest.APIError

    private enum State {
        /// The subscription has not come yet.
        case idle
        case subscribed(any Subscription)
        /// With the failure that nobody has been told yet.
        case ended((any Error)?)
    }

    /// Takes a value to the one task that waits for it.
    private struct Handover: @unchecked Sendable {
        // @unchecked: whoever makes one does not use the value again.
        let value: Value?
    }

    private typealias Waiter = CheckedContinuation<Handover, any Error>

    private let wantsOneValue: Bool
    private let lock = NIOLock()
    private var state = State.idle
    private var waiter: Waiter?
    private var arrived: [Value] = []

    /// - Parameter wantsOneValue: whether the first value is the end: then the subscription is cancelled before whoever waits goes
    ///   on, and finds free what it held.
    init(wantsOneValue: Bool = false) {
        self.wantsOneValue = wantsOneValue
    }

    // MARK: For the task

    /// The next value; `nil` when there are no more.
    func next(isolation: isolated (any Actor)? = #isolation) async throws -> Value? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0) }.value
        } onCancel: {
            end(by: CancellationError())
        }
    }

    /// Wants nothing more.
    func cancel() { end(by: nil) }

    private func wait(_ waiter: Waiter) {
        let (answer, subscription): (Result<Handover, any Error>?, (any Subscription)?) = lock.withLock {
            if !arrived.isEmpty { return (.success(Handover(value: arrived.removeFirst())), nil) }
            switch state {
            case .idle:
                self.waiter = waiter
                return (nil, nil)
            case .subscribed(let subscription):
                self.waiter = waiter
                return (nil, subscription)
            case .ended(let error):
                state = .ended(nil)
                return (error.map { .failure($0) } ?? .success(Handover(value: nil)), nil)
            }
        }
        if let answer { waiter.resume(with: answer) }
        subscription?.request(.max(1))
    }

    private func end(by error: (any Error)?) {
        let (waiter, subscription): (Waiter?, (any Subscription)?) = lock.withLock {
            // What came and was not taken is lost, and that is no end of all values.
            if case .ended(nil) = state, !arrived.isEmpty { state = .ended(error) }
            arrived = []
            return lockedEnd(error)
        }
        subscription?.cancel()
        resume(waiter, error)
    }

    // MARK: From the publisher

    func receive(subscription: any Subscription) {
        let (isWanted, isAwaited) = lock.withLock {
            guard case .idle = state else { return (false, false) }
            state = .subscribed(subscription)
            return (true, waiter != nil)
        }
        if !isWanted { return subscription.cancel() }
        if isAwaited { subscription.request(.max(1)) }
    }

    func receive(_ value: Value) -> Subscribers.Demand {
        let (waiter, subscription): (Waiter?, (any Subscription)?) = lock.withLock {
            if case .ended = state { return (nil, nil) }
            if self.waiter == nil { arrived.append(value) }
            return wantsOneValue ? lockedEnd(nil) : (self.waiter.take(), nil)
        }
        subscription?.cancel()
        waiter?.resume(returning: Handover(value: value))
        return .none
    }

    func receive(completion: Subscribers.Completion<FMRest.APIError>) {
        let error: FMRest.APIError? = if case .failure(let error) = completion { error } else { nil }
        let (waiter, _) = lock.withLock { lockedEnd(error) }
        resume(waiter, error)
    }

    // MARK: The end

    private func lockedEnd(_ error: (any Error)?) -> (Waiter?, (any Subscription)?) {
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

    private func resume(_ waiter: Waiter?, _ error: (any Error)?) {
        if let error { waiter?.resume(throwing: error) } else { waiter?.resume(returning: Handover(value: nil)) }
    }
}
