import FMHTTP
import NIOConcurrencyHelpers
import OpenCombine

extension DataAPI.Server {
    /// Sends one attempt of a request, through middleware if there is any, and has the receiver get its response.
    ///
    /// - Parameters:
    ///   - operation: what the request asks for; called only if a middleware asks for it.
    ///   - facts: what a middleware is told of the request; called only if one sees it.
    func send<Receiver: ResponseReceiver>(
        _ http: HTTPRequest,
        _ operation: @autoclosure () -> DataAPI.Operation,
        in context: RequestContext,
        below root: String,
        to receiver: Receiver,
        _ facts: (DataAPI.Operation) -> RequestFacts
    ) throws(FMRest.APIError) {
        switch try way(of: http, operation(), in: context, below: root, facts) {
        case .client(let http): client.parts(http).subscribe(receiver)
        case .chain(let chain, let request): chain.parts(request).subscribe(HookedResponse(receiver))
        }
    }

    /// Counts the attempts of a call for middleware and for the log; `nil` if neither asks for their number.
    func attemptCount<Response>(of request: DataAPIRequest<Response>, _ call: CallContext) -> AttemptCount? {
        let isSeen = middleware(and: call.middleware).contains { !$0.setsHeadersAlone && $0.isFor(request.operation) }
        return isSeen || call.options.areLogged ? AttemptCount() : nil
    }

    /// The steps of the server, and then those of a call.
    private func middleware(and more: [DataAPI.Middleware]) -> [DataAPI.Middleware] {
        more.isEmpty ? config.middleware : config.middleware + more
    }

    /// The steps that a request goes through.
    ///
    /// - Parameter operation: called only if a step is for some operations alone.
    private func steps(
        _ more: [DataAPI.Middleware],
        _ operation: () -> DataAPI.Operation
    ) -> ArraySlice<DataAPI.Middleware> {
        let all = middleware(and: more)
        return all.allSatisfy(\.isForAll) ? all[...] : all.filter { $0.isFor(operation()) }[...]
    }

    /// The way of one attempt to the host.
    enum Way {
        /// To the HTTP client at once: no step is left that would see the response.
        case client(HTTPRequest)
        case chain(MiddlewareChain, DataAPI.OutgoingRequest)
    }

    /// The way of a request. The first steps that only change requests have changed it already.
    ///
    /// - Parameters:
    ///   - operation: what the request asks for; called only if a middleware asks for it.
    ///   - facts: what a middleware is told of the request; called only if one sees it.
    func way(
        of http: HTTPRequest,
        _ operation: @autoclosure () -> DataAPI.Operation,
        in context: RequestContext,
        below root: String,
        _ facts: (DataAPI.Operation) -> RequestFacts
    ) throws(FMRest.APIError) -> Way {
        var steps = steps(context.middleware, operation)
        var http = http
        // Headers alone need no more than the request itself.
        while case .headers(let headers)? = steps.first?.step {
            try http.set(headers)
            steps.removeFirst()
        }
        if steps.isEmpty, config.transport == nil { return .client(http) }
        var request = DataAPI.OutgoingRequest(facts(operation()), as: http, below: root)
        while let step = steps.first, try step.change(&request) { steps.removeFirst() }
        if steps.isEmpty, config.transport == nil { return .client(try request.sent()) }
        let chain = MiddlewareChain(
            steps: steps,
            transport: config.transport ?? ClientTransport(client: client),
            announcesSending: config.transport != nil,
            mayBePlain: config.plainHTTP
        )
        return .chain(chain, request)
    }
}

/// How many attempts of one call have begun.
final class AttemptCount: Sendable {
    private let count = NIOLockedValueBox(0)

    var value: Int { count.withLockedValue { $0 } }

    func next() -> Int {
        count.withLockedValue {
            $0 += 1
            return $0
        }
    }
}
