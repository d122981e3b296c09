import OpenCombine

extension Publisher {
    /// Continues with another publisher when this one fails.
    ///
    /// Published values stay published, and the remaining demand is passed to the other publisher. Nothing happens
    /// before demand. Cancelling cancels the publisher that is under way, also between the failure and the subscription
    /// to the other. (OpenCombine's `catch` loses that cancel, and ends the program when a publisher fails before it
    /// has sent a subscription.)
    ///
    /// - Parameter next: makes the other publisher, from the failure and whether a value was published before.
    func afterFailure<Next: Publisher>(
        _ next: @escaping (_ failure: Failure, _ hasPublished: Bool) -> Next
    ) -> AfterFailurePublisher<Self, Next> {
        AfterFailurePublisher(upstream: self, next: next)
    }
}

/// See ``OpenCombine/Publisher/afterFailure(_:)``.
struct AfterFailurePublisher<Upstream: Publisher, Next: Publisher>: RelayPublisher
where Next.Output == Upstream.Output {
    typealias Output = Upstream.Output
    typealias Failure = Next.Failure
    typealias UpstreamFailure = Upstream.Failure

    let upstream: Upstream
    let next: (Upstream.Failure, Bool) -> Next

    func begin(_ subscription: ColdSubscription<Self>) { upstream.subscribe(subscription) }

    func upstreamEnded(
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
