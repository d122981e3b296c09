import FMHTTP

/// A request for the content of a container, with all that it takes to send it, and to send it again for the rest.
struct ContainerRequest: Sendable {
    let server: DataAPI.Server
    let address: ContainerDownloadStateMachine.Request
    let token: SessionToken
    /// What holds for the next request.
    let context: @Sendable () -> RequestContext

    /// - Parameter more: further headers.
    func httpRequest(_ more: HTTPHeaders = [:]) throws(FMRest.APIError) -> HTTPRequest {
        // Pictures and films are compressed already; without another coding the length is that of the content.
        var headers = HTTPHeaders([
            ("User-Agent", server.config.userAgent), ("Accept", "*/*"), ("Accept-Encoding", "identity"),
        ])
        if address.carriesToken { headers.add(name: "Authorization", value: token.bearer) }
        if let cookies = address.cookies { headers.add(name: "Cookie", value: cookies) }
        headers.add(contentsOf: more)
        return HTTPRequest(
            origin: address.origin,
            target: address.target,
            headers: headers,
            isSafeToRepeat: true,
            timeouts: try context().limits?.checked(),
            // The content is streamed, and takes no memory here.
            maximumBodyBytes: .max
        )
    }

    /// `nil` when nobody would read it.
    var log: CallLog? { server.callLog(ofContentFrom: address.origin, context()) }

    /// What errors may tell of it.
    var summary: FMRest.APIError.RequestSummary { server.containerSummary(tag: context().tag) }

    /// The limits as they were set.
    var timeouts: DataAPI.Timeouts { context().limits?.timeouts ?? server.config.timeouts }

    /// A failure in terms of the limits.
    func error(_ error: HTTPClientError) -> FMRest.APIError {
        FMRest.APIError(error).naming(timeouts).about(summary, isSafeToRepeat: true)
    }
}

extension DataAPI.Server {
    /// The path is left out: it is the value of a field, and a key to the content.
    func containerSummary(tag: String?) -> FMRest.APIError.RequestSummary {
        FMRest.APIError.RequestSummary(
            method: "GET",
            origin: (try? origin.get())?.description ?? "",
            path: "/••••",
            prefix: "",
            tag: tag
        )
    }
}
