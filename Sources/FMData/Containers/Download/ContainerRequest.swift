import FMHTTP

/// A request for the content of a container, with all that it takes to send it, and to send it again for the rest.
struct ContainerRequest: Sendable {
    let server: DataAPI.Server
    let step: ContainerDownloadStateMachine.Request
    let token: SessionToken
    /// What holds for the next request; `nil` for the limits of the server's configuration.
    let limits: @Sendable () -> RequestLimits?

    /// - Parameter more: further headers.
    func httpRequest(_ more: HTTPHeaders = [:]) throws(FMRest.APIError) -> HTTPRequest {
        // Pictures and films are compressed already; without another coding the length is that of the content.
        var headers = HTTPHeaders([
            ("User-Agent", server.config.userAgent), ("Accept", "*/*"), ("Accept-Encoding", "identity"),
        ])
        if step.carriesToken { headers.add(name: "Authorization", value: token.bearer) }
        if let cookies = step.cookies { headers.add(name: "Cookie", value: cookies) }
        headers.add(contentsOf: more)
        return HTTPRequest(
            origin: step.origin,
            target: step.target,
            headers: headers,
            isSafeToRepeat: true,
            timeouts: try limits()?.checked(),
            // The content is streamed, and takes no memory here.
            maximumBodyBytes: .max
        )
    }

    /// `nil` when nobody would read it.
    var log: CallLog? { server.debugLogger.map { CallLog($0, ofContentFrom: step.origin) } }

    /// The limits as they were set.
    var timeouts: DataAPI.Timeouts { limits()?.timeouts ?? server.config.timeouts }

    /// A failure in terms of the limits.
    func error(_ error: HTTPClientError) -> FMRest.APIError {
        FMRest.APIError(error).naming(timeouts).about(server.containerSummary, isSafeToRepeat: true)
    }
}

extension DataAPI.Server {
    /// The path is left out: it is the value of a field, and a key to the content.
    var containerSummary: FMRest.APIError.RequestSummary {
        FMRest.APIError.RequestSummary(
            method: "GET",
            origin: (try? origin.get())?.description ?? "",
            path: "/••••"
        )
    }
}
