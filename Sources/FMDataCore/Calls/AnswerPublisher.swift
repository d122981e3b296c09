import FMHTTP
import OpenCombine

/// One attempt at a request: sends it with the first demand, reads the answer while it arrives, publishes the response
/// and finishes.
///
/// It is one step instead of the five of `map`, `tryReduce` and `mapError`: every call uses it, and each step costs a
/// call as much as the way from the pool to the socket. Only the collector keeps parts of an answer.
///
/// It is a class so that its subscription and the memory of that share one request, and no copies are made.
final class AnswerPublisher<Response: DataAPIResponse>: ColdPublisher {
    typealias Output = Response
    typealias Failure = FMRest.APIError

    private let server: DataAPI.Server
    private let request: DataAPIRequest<Response>
    private let token: SessionToken?

    init(server: DataAPI.Server, request: DataAPIRequest<Response>, token: SessionToken?) {
        self.server = server
        self.request = request
        self.token = token
    }

    /// Used by the exchange alone, with one call after the other, except for the constant notes.
    struct Memory {
        /// Counted only for the log.
        var figures = CallFigures()
        let notes: ExchangeNotes
        let collector: Response.Collector
        let answer: AnswerPublisher
    }

    var memory: Memory {
        Memory(
            notes: server.notes(of: request, in: token),
            collector: Response.Collector(
                reader: server.reader
            ),
            answer: self
        )
    }

    func begin(_ subscription: ColdSubscription<AnswerPublisher>) {
        do {
            let http = try server.httpRequest(for: request, token: token)
            if subscription.memory.notes.log != nil { subscription.memory.figures.bytesOut = http.body.length }
            subscription.memory.notes.observed?.began(http)
            try server.send(
                http,
                request.operation,
                in: request.context,
                below: request.root(below: server.apiRoot),
                to: Parts(subscription: subscription),
                request.facts
            )
        } catch {
            // Nothing was sent, which says nothing of the host.
            let error = server.error(error, about: request)
            subscription.memory.notes.log?.failed(error, CallFigures())
            subscription.finish(.failure(error))
        }
    }

    func cancelled(_ subscription: ColdSubscription<AnswerPublisher>) { subscription.memory.notes.cancelled() }

    /// The subscriber of the exchange.
    private struct Parts: ResponseReceiver {
        typealias Input = HTTPResponsePart
        typealias Failure = HTTPClientError

        let subscription: ColdSubscription<AnswerPublisher>
        var combineIdentifier: CombineIdentifier { subscription.combineIdentifier }

        func receive(subscription exchange: any Subscription) {
            // Parts are not the subscriber's values: all of them are needed for the one value it asked for.
            if subscription.proceed(with: exchange) { exchange.request(.unlimited) } else { exchange.cancel() }
        }

        func receive(_ part: HTTPResponsePart) -> Subscribers.Demand {
            if subscription.memory.notes.log != nil { subscription.memory.figures.note(part) }
            subscription.memory.notes.observed?.received(part)
            do {
                try subscription.memory.collector.take(part)
            } catch {
                fail(error, subscription.end(cancelling: true))
            }
            return .none
        }

        func ended(_ error: (any Error)?) {
            guard let downstream = subscription.end() else { return }
            let memory = subscription.memory
            do {
                if let error { throw error }
                var response = try memory.collector.response()
                response.nameScripts(memory.answer.request.scripts)
                var figures = memory.figures
                if memory.notes.log != nil {
                    figures.rows = response.rowCount
                    figures.session = (response as? LoginResponse)?.token.map { SessionToken($0).shortName }
                }
                memory.notes.finished(figures)
                subscription.publishLast(response, to: downstream)
            } catch {
                fail(error, downstream)
            }
        }

        private func fail(_ error: any Error, _ downstream: (any Subscriber<Response, FMRest.APIError>)?) {
            guard let downstream else { return }
            let memory = subscription.memory
            let error = memory.answer.server.error(error, about: memory.answer.request)
            memory.notes.failed(error, memory.figures)
            downstream.receive(completion: .failure(error))
        }
    }
}
