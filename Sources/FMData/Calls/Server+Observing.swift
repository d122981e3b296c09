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
        return OnDemandPublisher {
            // A logout serves the calls before it, as a login does those after it.
            guard let request = try? makeRequest(), request.operation != .logOut,
                let call = ObservedCall(self.description(of: request, calls), observers, now: self.time.now)
            else { return perform(calls.observed(), makeRequest) }
            // Where the server's formats have to be asked for first, the request is written with those.
            let isFinal = !self.config.dateFormats.followsServer || self.formats.known != nil
            return perform(calls.observed(through: call.middleware)) { isFinal ? request : try makeRequest() }
                .handleEvents(
                    receiveOutput: { value in
                        call.published(value)
                        if publishesOneValue { call.ended() }
                    },
                    receiveCompletion: { completion in
                        if case .failure(let error) = completion { call.ended(error) } else { call.ended() }
                    },
                    receiveCancel: { call.ended(isCancelled: true) }
                )
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }

    private func description<Response>(
        of request: DataAPIRequest<Response>,
        _ calls: CallContext
    ) -> DataAPI.CallDescription {
        DataAPI.CallDescription(
            operation: request.operation,
            origin: (try? origin.get()).map { "\($0)" } ?? "",
            database: request.path.database,
            layout: request.layout,
            recordId: request.path.recordId,
            tag: calls.options.tag,
            isPoll: calls.options.pollMeter != nil
        )
    }
}
