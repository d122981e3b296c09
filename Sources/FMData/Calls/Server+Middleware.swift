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
    ) {
        guard let chain = chain(of: context) else { return client.parts(http).subscribe(receiver) }
        chain.parts(DataAPI.OutgoingRequest(facts(), as: http, below: root)).subscribe(HookedResponse(receiver))
    }

    /// Whether a call's requests go through middleware.
    func hasHooks(_ call: CallContext) -> Bool { !config.middleware.isEmpty || !call.middleware.isEmpty }

    /// The middleware of a request; `nil` if it goes to the HTTP client as it is.
    func chain(of context: RequestContext) -> MiddlewareChain? {
        let steps = config.middleware + context.middleware
        guard !steps.isEmpty || config.transport != nil else { return nil }
        return MiddlewareChain(
            steps: steps,
            transport: config.transport ?? ClientTransport(client: client),
            announcesSending: config.transport != nil,
            mayBePlain: config.plainHTTP
        )
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
