import NIOConcurrencyHelpers
public import OpenCombine

extension Publisher where Failure == FMRest.APIError, Output: Sendable {
    /// The publisher's first value, for `async` code.
    ///
    ///     let response = try await people.getRecords().returnAs(Person.self).firstValue()
    ///
    /// Subscribes when awaited, asks for one value and then cancels. Cancelling the task cancels the request and throws
    /// ``FMRest/APIError/Code/cancelled``; a publisher that finishes without a value throws
    /// ``FMRest/APIError/Code/noValue``.
    @discardableResult
    public func firstValue(
        isolation: isolated (any Actor)? = #isolation
    ) async throws(FMRest.APIError) -> Output {
        try await first(for: FirstValueWaiter()).get()
    }

    private func first(
        for waiter: FirstValueWaiter<Output>,
        isolation: isolated (any Actor)? = #isolation
    ) async -> FirstValueWaiter<Output>.Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiter.start(continuation)
                subscribe(waiter)
            }
        } onCancel: {
            waiter.cancel()
        }
    }

    /// Does something with the publisher's first value, and cancels the subscription when that has ended: for a value that is
    /// good for as long as somebody is subscribed.
    ///
    /// Throws what ``firstValue(isolation:)`` throws, and what the body does.
    func withFirstValue<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Output) async throws -> Result
    ) async throws -> Result {
        let waiter = FirstValueWaiter<Output>(keepsSubscription: true)
        defer { waiter.letGo() }
        return try await body(try await first(for: waiter).get())
    }

    /// The publisher's first value or its failure, for `async` code that wants both in one value. See
    /// ``firstValue(isolation:)``.
    public func awaitSingleResult(
        isolation: isolated (any Actor)? = #isolation
    ) async -> Result<Output, FMRest.APIError> {
        do {
            return .success(try await firstValue())
        } catch {
            return .failure(error)
        }
    }
}

/// The subscriber behind ``Publisher/firstValue(isolation:)``: resumes its continuation exactly once, whichever of value,
/// completion and cancellation comes first.
private final class FirstValueWaiter<Value: Sendable>: Subscriber, @unchecked Sendable {
    typealias Input = Value
    typealias Failure = FMRest.APIError
    typealias Outcome = Result<Value, FMRest.APIError>

    private enum State {
        case idle
        case waiting(CheckedContinuation<Outcome, Never>, (any Subscription)?)
        /// Cancelled before there was a continuation, or resumed.
        case done(Outcome?)
    }

    // @unchecked: `state` and `kept` are only touched with the lock held.
    private let lock = NIOLock()
    private var state = State.idle
    private let keepsSubscription: Bool
    /// Whose first value was taken, until it is let go.
    private var kept: (any Subscription)?

    /// - Parameter keepsSubscription: whether the subscription goes on after the value until ``letGo()``.
    init(keepsSubscription: Bool = false) {
        self.keepsSubscription = keepsSubscription
    }

    func letGo() {
        let kept = lock.withLock { self.kept.take() }
        kept?.cancel()
    }

    func start(_ continuation: CheckedContinuation<Outcome, Never>) {
        let early: Outcome? = lock.withLock {
            if case .done(let outcome) = state { return outcome }
            state = .waiting(continuation, nil)
            return nil
        }
        if let early { continuation.resume(returning: early) }
    }

    func cancel() {
        finish(.failure(FMRest.APIError(.cancelled, reason: "The task that waited for the value was cancelled.")))
    }

    func receive(subscription: any Subscription) {
        let isWanted = lock.withLock {
            guard case .waiting(let continuation, nil) = state else { return false }
            state = .waiting(continuation, subscription)
            return true
        }
        if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
    }

    func receive(_ value: Value) -> Subscribers.Demand {
        finish(.success(value))
        return .none
    }

    func receive(completion: Subscribers.Completion<FMRest.APIError>) {
        switch completion {
        case .finished: finish(.failure(FMRest.APIError(.noValue, reason: "The publisher finished without a value.")))
        case .failure(let error): finish(.failure(error))
        }
    }

    private func finish(_ outcome: Outcome) {
        let (continuation, subscription) = lock.withLock {
            () -> (CheckedContinuation<Outcome, Never>?, (any Subscription)?) in
            switch state {
            case .idle:
                state = .done(outcome)
                return (nil, nil)
            case .waiting(let continuation, let subscription):
                state = .done(nil)
                guard keepsSubscription, case .success = outcome else { return (continuation, subscription) }
                kept = subscription
                return (continuation, nil)
            case .done:
                return (nil, nil)
            }
        }
        subscription?.cancel()
        continuation?.resume(returning: outcome)
    }
}
