extension DataAPI.Server {
    /// The error of an exchange as it is reported: with its request, and with the limits that it had.
    func error<Response>(_ error: any Error, about request: DataAPIRequest<Response>) -> FMRest.APIError {
        let error = FMRest.APIError(wrapping: error).naming(request.context.limits?.timeouts ?? config.timeouts)
            .hintingAtLength(of: { try request.target(below: apiRoot).utf8.count })
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

extension FMRest.APIError {
    /// Adds a hint when a web server may have refused the URL for its length: some answer only 400 or 404 then.
    ///
    /// - Parameter length: the bytes of path and query; called only when it matters.
    fileprivate func hintingAtLength(of length: () throws -> Int) -> Self {
        guard code == .notDataAPI, httpStatus == 400 || httpStatus == 404,
            let length = try? length(), length > DataAPIPath.longestTarget
        else { return self }
        var error = self
        error.hint = "The URL has \(length) characters, which may be too many. " + Self.hintAtLength
        return error
    }
}
