import OpenCombine

extension DataAPI.Server {
    /// Sends a request, and sends it again as the call's policy says. Without a policy it is sent once.
    ///
    /// - Parameters:
    ///   - call: the call's context. The call begins with the first attempt, and all attempts share its time.
    ///   - attempt: makes one attempt, on the thread on which the pause ends.
    func retrying<Response, Value>(
        _ request: DataAPIRequest<Response>,
        in call: CallContext,
        _ attempt: @escaping () -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        retrying(
            in: call,
            isRepeatable: { request.isRepeatable(after: $0) },
            log: { self.callLog(of: request.within(call.next(at: self.time.now()))) },
            attempt
        )
    }

    /// The same for an operation that only reads.
    func retrying<Value>(
        in call: CallContext,
        isRepeatable: @escaping (FMRest.APIError) -> Bool = { _ in true },
        log: @escaping () -> CallLog? = { nil },
        _ attempt: @escaping () -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        guard let policy = call.options.retryPolicy else { return attempt() }
        return RetryPublisher(
            attempt: attempt,
            policy: policy,
            budget: policy.budget ?? retryBudget,
            time: time,
            random: random,
            end: { call.clock?.deadline(from: $0) },
            isRepeatable: isRepeatable,
            log: log
        )
        .eraseToAnyPublisher()
    }
}
