import FMHTTP
import NIOConcurrencyHelpers
import OpenCombine

/// Receives the parts of one response, from the HTTP client or through middleware.
protocol ResponseReceiver: Subscriber where Input == HTTPResponsePart, Failure == HTTPClientError {
    /// The response has ended, or failed: with an error of the transport, or with one of a middleware.
    func ended(_ error: (any Error)?)
}

extension ResponseReceiver {
    func receive(completion: Subscribers.Completion<HTTPClientError>) {
        switch completion {
        case .finished: ended(nil)
        case .failure(let error): ended(error)
        }
    }
}

/// The way of a request through its middleware to the transport.
struct MiddlewareChain: Sendable {
    let steps: ArraySlice<DataAPI.Middleware>
    let transport: any DataAPI.Transport
    /// Whether the chain itself reports that a request is sent. The HTTP client does so by itself, when it has a
    /// connection.
    let announcesSending: Bool
    let mayBePlain: DataAPI.PlainHTTP

    /// The parts of the response to one attempt.
    func parts(_ request: DataAPI.OutgoingRequest) -> AnyPublisher<DataAPI.ResponsePart, FMRest.APIError> {
        let passage = Passage()
        let last: DataAPI.Middleware.Next = { request in self.transmit(request, passage) }
        let way = steps.reversed().reduce(last) { next, step in { request in step.handle(request, next) } }
        return way(request)
            .mapError { error in
                var error = error
                // A step may have failed by itself although the host has acted on the request.
                error.outcomeIsUnknown = error.outcomeIsUnknown || passage.mayHaveArrived
                return error
            }
            .eraseToAnyPublisher()
    }

    /// Sends the request to the host; fails if it is a write that may have been sent already.
    private func transmit(
        _ request: DataAPI.OutgoingRequest,
        _ passage: Passage
    ) -> AnyPublisher<DataAPI.ResponsePart, FMRest.APIError> {
        Deferred { () -> AnyPublisher<DataAPI.ResponsePart, FMRest.APIError> in
            do {
                let http = try request.sent()
                guard mayBePlain != .loopbackOnly || http.origin.scheme == .https || http.origin.isLoopback else {
                    throw HTTPClientError(code: .insecureScheme, outcome: .notSent, origin: http.origin)
                }
                try passage.begin(isSafeToRepeat: http.isSafeToRepeat)
                if announcesSending { http.willBeSent?() }
                return transport.parts(of: DataAPI.TransportRequest(http, of: request))
                    .mapError { error in
                        let error = FMRest.APIError(error)
                        if !error.outcomeIsUnknown { passage.notSent() }
                        return error
                    }
                    .eraseToAnyPublisher()
            } catch {
                return Fail(error: FMRest.APIError(wrapping: error)).eraseToAnyPublisher()
            }
        }
        .eraseToAnyPublisher()
    }
}

/// What is known of one attempt's request on its way through middleware: whether the host may have got it.
private final class Passage: Sendable {
    private let state = NIOLockedValueBox(false)

    var mayHaveArrived: Bool { state.withLockedValue { $0 } }

    func begin(isSafeToRepeat: Bool) throws(FMRest.APIError) {
        let isSecondWrite = state.withLockedValue { mayHaveArrived in
            defer { mayHaveArrived = true }
            return mayHaveArrived && !isSafeToRepeat
        }
        if isSecondWrite {
            throw FMRest.APIError(
                .invalidRequest,
                reason: "A middleware sent a write again that may have reached the host."
            )
        }
    }

    func notSent() { state.withLockedValue { $0 = false } }
}

/// Passes the parts that came through middleware on to the receiver of a response.
final class HookedResponse<Receiver: ResponseReceiver>: Subscriber {
    typealias Input = DataAPI.ResponsePart
    typealias Failure = FMRest.APIError

    private let receiver: Receiver

    init(_ receiver: Receiver) { self.receiver = receiver }

    func receive(subscription: any Subscription) { receiver.receive(subscription: subscription) }
    func receive(_ input: DataAPI.ResponsePart) -> Subscribers.Demand { receiver.receive(input.part) }

    func receive(completion: Subscribers.Completion<FMRest.APIError>) {
        switch completion {
        case .finished: receiver.ended(nil)
        case .failure(let error): receiver.ended(error)
        }
    }
}

/// The library's own HTTP client as a transport.
struct ClientTransport: DataAPI.Transport {
    let client: HTTPClient

    func parts(of request: DataAPI.TransportRequest) -> AnyPublisher<DataAPI.ResponsePart, DataAPI.TransportError> {
        client.parts(request.http).map(DataAPI.ResponsePart.init).eraseToAnyPublisher()
    }
}
