import OpenCombine

extension DataAPI.Server {
    /// Observes a call that the server's configuration or its own options have observers for.
    ///
    /// - Parameters:
    ///   - calls: the options of the call.
    ///   - makeRequest: makes the request, once for each subscription.
    ///   - perform: performs the call with other options.
    /// - Returns: `nil` if nothing observes the call.
    func observing<Response, Value>(
        _ calls: CallContext,
        _ makeRequest: @escaping () throws -> DataAPIRequest<Response>,
        _ perform:
            @escaping (CallContext, @escaping () throws -> DataAPIRequest<Response>) -> AnyPublisher<
                Value, FMRest.APIError
            >
    ) -> AnyPublisher<Value, FMRest.APIError>? {
        let observers = calls.options.observers ?? config.observers
        guard !observers.isEmpty else { return nil }
        return Deferred { () -> AnyPublisher<Value, FMRest.APIError> in
            let request = Result { try makeRequest() }
            guard case .success(let made) = request,
                let call = ObservedCall(self.description(of: made, calls), observers, now: self.time.now)
            else { return perform(calls.observed()) { try request.get() } }
            return perform(calls.observed(through: call.middleware)) { made }
                .handleEvents(
                    receiveOutput: { call.published($0) },
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
