import OpenCombine

/// A publisher that is made with the first demand. Unlike `Deferred`, it suits publishers that start working when they
/// are subscribed to. If it is cancelled before any demand, none is made.
struct OnDemandPublisher<Output, Failure: Error>: Publisher {
    let make: () -> AnyPublisher<Output, Failure>

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    private final class Inner: RelaySubscription<OnDemandPublisher>, Subscriber, @unchecked Sendable {
        // @unchecked: as the superclass.
        typealias Input = Output

        override func begin(_ source: OnDemandPublisher) { source.make().subscribe(self) }

        func receive(completion: Subscribers.Completion<Failure>) { finish(completion) }
    }
}
