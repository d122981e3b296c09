extension DataAPI.Server {
    /// The error of an exchange as it is reported: with its request, and with the limits that it had.
    func error<Response>(_ error: any Error, about request: DataAPIRequest<Response>) -> FMRest.APIError {
        let error = FMRest.APIError(wrapping: error).naming(request.context.limits?.timeouts ?? config.timeouts)
            .hintingAtLength(of: { try target(of: request).utf8.count })
        guard case .success(let origin) = origin else { return error }
        return error.about(request.summary(at: origin, below: apiRoot), isSafeToRepeat: request.isSafeToRepeat)
    }

    /// Adds the request to an error that kept it from being sent, unless the error names another request.
    func naming<Response>(_ request: DataAPIRequest<Response>, in error: FMRest.APIError) -> FMRest.APIError {
        guard error.request == nil, case .success(let origin) = origin else { return error }
        var error = error
        error.request = request.summary(at: origin, below: apiRoot)
        return error
    }
}
