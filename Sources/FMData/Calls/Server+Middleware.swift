import FMHTTP
import NIOConcurrencyHelpers
import OpenCombine

extension DataAPI.Server {
    /// Sends one attempt of a request, through middleware if there is any, and has the receiver get its response.
    ///
    /// - Parameter facts: what a middleware is told of the request; called only if there is one.
    func send<Receiver: ResponseReceiver>(
        _ http: HTTPRequest,
        in context: RequestContext,
        below root: String,
        to receiver: Receiver,
        _ facts: () -> RequestFacts
    ) throws(FMRest.APIError) {
        switch try way(of: http, in: context, below: root, facts) {
        case .client(let http): client.parts(http).subscribe(receiver)
        case .chain(let chain, let request): chain.parts(request).subscribe(HookedResponse(receiver))
        }
    }

    /// Whether a call's requests go through middleware.
    func hasHooks(_ call: CallContext) -> Bool { !config.middleware.isEmpty || !call.middleware.isEmpty }

    /// The way of one attempt to the host.
    enum Way {
        /// To the HTTP client at once: no step is left that would see the response.
        case client(HTTPRequest)
        case chain(MiddlewareChain, DataAPI.OutgoingRequest)
    }

    /// The way of a request. The first steps that only change requests have changed it already.
    ///
    /// - Parameter facts: what a middleware is told of the request; called only if there is one.
    func way(
        of http: HTTPRequest,
        in context: RequestContext,
        below root: String,
        _ facts: () -> RequestFacts
    ) throws(FMRest.APIError) -> Way {
        if config.middleware.isEmpty, context.middleware.isEmpty, config.transport == nil { return .client(http) }
        let facts = facts()
        let operation = facts.operation
        var steps = [config.middleware, context.middleware].joined().filter { $0.concerns(operation) }[...]
        if steps.isEmpty, config.transport == nil { return .client(http) }
        var request = DataAPI.OutgoingRequest(facts, as: http, below: root)
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
