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
struct AfterFailurePublisher<Upstream: Publisher, Next: Publisher>: Publisher where Next.Output == Upstream.Output {
    typealias Output = Upstream.Output
    typealias Failure = Next.Failure

    let upstream: Upstream
    let next: (Upstream.Failure, Bool) -> Next

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    private final class Inner: RelaySubscription<AfterFailurePublisher>, Subscriber, @unchecked Sendable {
        // @unchecked: as the superclass.
        typealias Input = Output
        typealias Failure = Upstream.Failure

        override func begin(_ source: AfterFailurePublisher) { source.upstream.subscribe(self) }

        func receive(completion: Subscribers.Completion<Upstream.Failure>) {
            switch completion {
            case .finished:
                finish(.finished)
            case .failure(let failure):
                guard let (source, hasPublished) = restart() else { return }
                source.next(failure, hasPublished).subscribe(NextSubscriber(inner: self))
            }
        }
    }

    /// Passes the other publisher's values to the same subscription.
    private struct NextSubscriber: Subscriber {
        typealias Input = Output
        typealias Failure = Next.Failure

        let inner: Inner
        var combineIdentifier: CombineIdentifier { inner.combineIdentifier }

        func receive(subscription: any Subscription) { inner.receive(subscription: subscription) }
        func receive(_ input: Output) -> Subscribers.Demand { inner.receive(input) }
        func receive(completion: Subscribers.Completion<Next.Failure>) { inner.finish(completion) }
    }
}
