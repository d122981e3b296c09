extension DataAPI.Server {
    /// Begins to observe a call, if its own options or the configuration have observers that are interested in it.
    ///
    /// - Parameter publishesOneValue: whether the call publishes a single value, which is its end.
    func observed<Response>(
        _ request: DataAPIRequest<Response>,
        _ call: CallContext,
        publishesOneValue: Bool
    ) -> ObservedCall? {
        let observers = call.options.observers ?? config.observers
        guard !observers.isEmpty else { return nil }
        let operation = request.operation
        // A logout serves the calls before it, as a login does those after it.
        guard operation != .logOut else { return nil }
        let description = DataAPI.CallDescription(
            operation: operation,
            address: try? origin.get(),
            database: request.path.database,
            layout: request.layout,
            recordId: request.path.recordId,
            tag: call.options.tag,
            isPoll: call.options.pollMeter != nil
        )
        return ObservedCall(description, observers, publishesOneValue: publishesOneValue, now: time.now)
    }
}

extension ObservedCall: PublisherWatch {}
