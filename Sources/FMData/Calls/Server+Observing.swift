import OpenCombine

extension DataAPI.Server {
    /// Observes a call that the server's configuration or its own options have observers for.
    ///
    /// - Parameters:
    ///   - calls: the options of the call.
    ///   - makeRequest: makes the request.
    ///   - publishesOneValue: whether the call publishes a single value, which is its end: the subscriber may cancel
    ///     when it has it.
    ///   - perform: performs the call with other options.
    /// - Returns: `nil` if nothing observes the call.
    func observing<Response, Value>(
        _ calls: CallContext,
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>,
        publishesOneValue: Bool,
        _ perform:
            @escaping (CallContext, @escaping () throws -> DataAPIRequest<Response>) -> AnyPublisher<
                Value, FMRest.APIError
            >
    ) -> AnyPublisher<Value, FMRest.APIError>? {
        let observers = calls.options.observers ?? config.observers
        guard calls.observation == nil, !observers.isEmpty else { return nil }
        return ObservedPublisher(publishesOneValue: publishesOneValue) {
            // A logout serves the calls before it, as a login does those after it.
            guard let request = try? makeRequest(), request.operation != .logOut,
                let call = ObservedCall(self.description(of: request, calls), observers, now: self.time.now)
            else { return (perform(calls.observed(as: CallObserving()), makeRequest), nil) }
            // Where the server's formats have to be asked for first, the request is written with those.
            let isFinal = !self.config.dateFormats.followsServer || self.formats.known != nil
            let publisher = perform(calls.observed(as: call.observation)) { isFinal ? request : try makeRequest() }
            return (publisher, call)
        }
        .eraseToAnyPublisher()
    }

    private func description<Response>(
        of request: DataAPIRequest<Response>,
        _ calls: CallContext
    ) -> DataAPI.CallDescription {
        DataAPI.CallDescription(
            operation: request.operation,
            address: try? origin.get(),
            database: request.path.database,
            layout: request.layout,
            recordId: request.path.recordId,
            tag: calls.options.tag,
            isPoll: calls.options.pollMeter != nil
        )
    }
}

/// A call that tells its observers what it publishes, and how it ends.
private struct ObservedPublisher<Output>: RelayPublisher {
    typealias Failure = FMRest.APIError

    let publishesOneValue: Bool
    /// Begins the call; without observers if none is interested in it.
    let begin: () -> (AnyPublisher<Output, FMRest.APIError>, ObservedCall?)

    /// Set before the call begins.
    struct Memory {
        let publishesOneValue: Bool
        var call: ObservedCall?
    }

    var memory: Memory { Memory(publishesOneValue: publishesOneValue) }

    func begin(_ subscription: ColdSubscription<Self>) {
        let (publisher, call) = begin()
        subscription.withLock { _, memory in memory.call = call }
        publisher.subscribe(subscription)
    }

    static func passes(_ value: Output, _ subscription: ColdSubscription<Self>) {
        let memory = subscription.memory
        memory.call?.published(value)
        if memory.publishesOneValue { memory.call?.ended() }
    }

    func upstreamEnded(
        _ completion: Subscribers.Completion<FMRest.APIError>,
        _ subscription: ColdSubscription<Self>
    ) {
        let call = subscription.memory.call
        if case .failure(let error) = completion { call?.ended(error) } else { call?.ended() }
        subscription.finish(completion)
    }

    func cancelled(_ subscription: ColdSubscription<Self>) {
        subscription.withLock { $1.call }?.ended(isCancelled: true)
    }
}
