package import OpenCombine

extension Publisher where Failure == AttemptFailure {
    /// Makes a second attempt, in another session, if the server refused the first attempt's session before a value was
    /// published. The completion is then that of the second attempt. Any other failure of the first attempt is passed
    /// on.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether the attempt may be repeated even if the server may have carried it out. If so, a
    ///     session that was found broken counts as refused as well.
    ///   - isReplayable: whether the attempt can be made a second time at all.
    ///   - second: makes the second attempt, given the failure of the first.
    func renewOnce<Second: Publisher>(
        isRepeatable: Bool,
        isReplayable: Bool,
        with second: @escaping (AttemptFailure) -> Second
    ) -> AfterFailurePublisher<Self, AnyPublisher<Output, FMRest.APIError>>
    where Second.Output == Output, Second.Failure == AttemptFailure {
        afterFailure { failure, hasPublished in
            guard failure.callsForAnotherSession(isRepeatable: isRepeatable), !hasPublished else {
                return Fail(error: failure.error).eraseToAnyPublisher()
            }
            guard isReplayable else {
                return Fail(error: failure.error.ofWorkThatCannotBeReplayed).eraseToAnyPublisher()
            }
            return second(failure).mapError(\.errorOfSecond).eraseToAnyPublisher()
        }
    }
}

extension AttemptFailure {
    /// Whether another session may help: the server did not know the token, so nothing was carried out, or it found the
    /// session broken and the request may be carried out twice.
    fileprivate func callsForAnotherSession(isRepeatable: Bool) -> Bool {
        guard let lease else { return false }
        return error.meansTokenRefused || isRepeatable && error.meansSessionBroken(lease)
    }

    /// The error of a failed second attempt: `tokensRefused` if its session was refused as well although it was fresh.
    fileprivate var errorOfSecond: FMRest.APIError {
        guard let lease, !lease.hasWorked, error.fileMakerCode?.meansSessionLost == true else { return error }
        return error.ofFreshToken
    }
}

extension SessionOutcome {
    /// What the end of a request says about its session.
    init(of end: AttemptEnd, in lease: SessionLease) {
        self =
            switch end {
            case .finished: .used
            case .failed(let error) where error.meansTokenRefused: .refused
            case .failed(let error) where error.meansSessionBroken(lease): .broken
            case .failed(let error) where error.meansHostFull: .hostFull
            case .failed(let error): error.provesToken ? .used : .unused
            // `first()` and the like cancel after one value; the server accepted the token even so.
            case .cancelled(let hasPublished): hasPublished ? .used : .unused
            }
    }
}

extension Publisher {
    /// Continues with another publisher when this one fails.
    ///
    /// Published values stay published, and the remaining demand is passed to the other publisher. Nothing happens
    /// before demand. Cancelling cancels the publisher that is under way, also between the failure and the subscription
    /// to the other. (OpenCombine's `catch` loses that cancel, and ends the program when a publisher fails before it
    /// has sent a subscription.)
    ///
    /// - Parameter next: makes the other publisher, from the failure and whether a value was published before.
    package func afterFailure<Next: Publisher>(
        _ next: @escaping (_ failure: Failure, _ hasPublished: Bool) -> Next
    ) -> AfterFailurePublisher<Self, Next> {
        AfterFailurePublisher(upstream: self, next: next)
    }
}

/// See ``OpenCombine/Publisher/afterFailure(_:)``.
package struct AfterFailurePublisher<Upstream: Publisher, Next: Publisher>: RelayPublisher
where Next.Output == Upstream.Output {
    package typealias Output = Upstream.Output
    package typealias Failure = Next.Failure
    package typealias UpstreamFailure = Upstream.Failure

    let upstream: Upstream
    let next: (Upstream.Failure, Bool) -> Next

    package func begin(_ subscription: ColdSubscription<Self>) { upstream.subscribe(subscription) }

    package func upstreamEnded(
        _ completion: Subscribers.Completion<Upstream.Failure>,
        _ subscription: ColdSubscription<Self>
    ) {
        switch completion {
        case .finished:
            subscription.finish(.finished)
        case .failure(let failure):
            guard let hasPublished = subscription.restart() else { return }
            next(failure, hasPublished).subscribe(NextSubscriber(subscription: subscription))
        }
    }

    /// Passes the other publisher's values to the same subscription.
    private struct NextSubscriber: Subscriber {
        typealias Input = Output
        typealias Failure = Next.Failure

        let subscription: ColdSubscription<AfterFailurePublisher>
        var combineIdentifier: CombineIdentifier { subscription.combineIdentifier }

        func receive(subscription: any Subscription) { self.subscription.receive(subscription: subscription) }
        func receive(_ input: Output) -> Subscribers.Demand { subscription.receive(input) }
        func receive(completion: Subscribers.Completion<Next.Failure>) { subscription.finish(completion) }
    }
}
