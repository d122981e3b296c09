import OpenCombine

extension AnyPublisher where Failure == FMRest.APIError {
    /// Publishes the given value.
    static func of(_ value: Output) -> Self {
        Just(value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
    }

    /// Fails when it is subscribed to.
    static func failing(_ error: FMRest.APIError) -> Self { Fail(error: error).eraseToAnyPublisher() }
}
