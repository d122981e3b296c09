import OpenCombine

/// Is told of each value of a publisher and how it ends, each time before the subscriber. What comes after the end does
/// not count: a subscriber may cancel when it has its value.
protocol PublisherWatch: AnyObject, Sendable {
    /// - Parameter rows: the number of records in the value.
    func published(rows: Int)
    func ended(_ failure: FMRest.APIError?)
    func cancelled()
}

extension PublisherWatch {
    func ended(_ completion: Subscribers.Completion<FMRest.APIError>) {
        if case .failure(let error) = completion { ended(error) } else { ended(nil) }
    }
}

/// A publisher that is made with the first demand, with what watches it. Its values have no records.
struct WatchedPublisher<Output>: RelayPublisher {
    typealias Failure = FMRest.APIError

    let begin: () -> (publisher: AnyPublisher<Output, FMRest.APIError>, watch: (any PublisherWatch)?)

    struct Memory {
        /// Set before values arrive.
        var watch: (any PublisherWatch)?
    }

    var memory: Memory { Memory() }

    func begin(_ subscription: ColdSubscription<Self>) {
        let (publisher, watch) = begin()
        subscription.withLock { memory in memory.watch = watch }
        // It may have been cancelled when there was no `watch` yet.
        guard subscription.isRunning else {
            watch?.cancelled()
            return
        }
        publisher.subscribe(subscription)
    }

    static func passes(_ value: Output, _ subscription: ColdSubscription<Self>) {
        subscription.memory.watch?.published(rows: 0)
    }

    func upstreamEnded(
        _ completion: Subscribers.Completion<FMRest.APIError>,
        _ subscription: ColdSubscription<Self>
    ) {
        subscription.memory.watch?.ended(completion)
        subscription.finish(completion)
    }

    func cancelled(_ subscription: ColdSubscription<Self>) { subscription.withLock { $0.watch }?.cancelled() }
}
