import FMHTTP
import NIOConcurrencyHelpers
import OpenCombine

extension DataAPI.Server {
    /// Sends one attempt of a request, through middleware if there is any, and has the receiver get its response.
    ///
    /// - Parameters:
    ///   - operation: what the request asks for; called only if there is middleware.
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
        let isSeen = concerned(config.middleware, call.middleware) { request.operation } != nil
        return isSeen || call.options.areLogged ? AttemptCount() : nil
    }

    /// The operation of a request if any of these steps are for it.
    private func concerned(
        _ steps: [DataAPI.Middleware],
        _ more: [DataAPI.Middleware],
        _ operation: () -> DataAPI.Operation
    ) -> DataAPI.Operation? {
        guard !steps.isEmpty || !more.isEmpty else { return nil }
        let operation = operation()
        let isConcerned = steps.contains { $0.concerns(operation) } || more.contains { $0.concerns(operation) }
        return isConcerned ? operation : nil
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
    ///   - operation: what the request asks for; called only if there is middleware.
    ///   - facts: what a middleware is told of the request; called only if one sees it.
    func way(
        of http: HTTPRequest,
        _ operation: @autoclosure () -> DataAPI.Operation,
        in context: RequestContext,
        below root: String,
        _ facts: (DataAPI.Operation) -> RequestFacts
    ) throws(FMRest.APIError) -> Way {
        let concerned = concerned(config.middleware, context.middleware, operation)
        if concerned == nil, config.transport == nil { return .client(http) }
        let operation = concerned ?? operation()
        var steps = [config.middleware, context.middleware].joined().filter { $0.concerns(operation) }[...]
        var request = DataAPI.OutgoingRequest(facts(operation), as: http, below: root)
        while case .change(let change)? = steps.first?.step {
            do { try change(&request) } catch { throw FMRest.APIError(wrapping: error, otherwise: .invalidRequest) }
            steps.removeFirst()
        }
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
