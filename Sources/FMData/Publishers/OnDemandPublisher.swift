import OpenCombine

/// A publisher that is made with the first demand. Unlike `Deferred`, it suits publishers that start working when they
/// are subscribed to. If it is cancelled before any demand, none is made.
struct OnDemandPublisher<Output, Failure: Error>: RelayPublisher {
    let make: () -> AnyPublisher<Output, Failure>

    func begin(_ subscription: ColdSubscription<Self>) { make().subscribe(subscription) }
}
