import OpenCombine

/// A publisher that is made when its subscriber first asks for a value: `Deferred`, for one that does something as soon as it
/// is subscribed to. Cancelled before, it makes none.
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
