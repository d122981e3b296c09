extension DataAPI.Server {
    /// What an exchange failed with, as it is told: with the request it is about, and the limits that held.
    func error<Response>(_ error: any Error, about request: DataAPIRequest<Response>) -> FMRest.APIError {
        let error = FMRest.APIError(wrapping: error).naming(request.context.limits?.timeouts ?? config.timeouts)
            .hintingAtLength(of: { try target(of: request).utf8.count })
        guard case .success(let origin) = origin else { return error }
        return error.about(request.summary(at: origin, below: apiRoot), isSafeToRepeat: request.isSafeToRepeat)
    }

    /// The error with the request that it kept from being sent, unless it is about another one.
    func naming<Response>(_ request: DataAPIRequest<Response>, in error: FMRest.APIError) -> FMRest.APIError {
        guard error.request == nil, case .success(let origin) = origin else { return error }
        var error = error
        error.request = request.summary(at: origin, below: apiRoot)
        return error
    }
}
