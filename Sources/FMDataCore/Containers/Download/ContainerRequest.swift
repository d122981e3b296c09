import FMHTTP

/// A request for the content of a container, with everything needed to send it, and to send it again for the rest.
struct ContainerRequest: Sendable {
    let server: DataAPI.Server
    let address: ContainerDownloadStateMachine.Request
    let token: SessionToken
    /// Returns the context of the next request.
    let context: @Sendable () -> RequestContext

    /// - Parameter more: additional headers.
    func httpRequest(_ more: HTTPHeaders = [:]) throws(FMRest.APIError) -> HTTPRequest {
        // Pictures and films are compressed already, and without a coding the announced length is that of the content.
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
            // The content is streamed, so it is not held in memory here.
            maximumBodyBytes: .max
        )
    }

    /// Sends the request, through middleware if there is any. Its path is a field's value and stays hidden.
    func send(_ http: HTTPRequest, to receiver: HeldResponse) throws(FMRest.APIError) {
        let context = context()
        try server.send(http, .downloadContainer, in: context, below: "", to: receiver) { operation in
            RequestFacts(operation: operation, context: context)
        }
    }

    /// `nil` if nothing would be logged.
    var log: CallLog? { server.callLog(ofContentFrom: address.origin, context()) }

    /// The parts of the request that errors may show.
    var summary: FMRest.APIError.RequestSummary { server.containerSummary(tag: context().tag) }

    /// The time limits as configured.
    var timeouts: DataAPI.Timeouts { context().limits?.timeouts ?? server.config.timeouts }

    /// The error with the names of the time limits and the request.
    func error(_ error: any Error) -> FMRest.APIError {
        FMRest.APIError(wrapping: error).naming(timeouts).about(summary, isSafeToRepeat: true)
    }
}

extension DataAPI.Server {
    /// The path is left out, since it is a field's value and gives access to the content.
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
