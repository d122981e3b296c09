import FMHTTP
import OpenCombine

/// One attempt at a request: sends it with the first demand, reads the answer while it arrives, publishes the response
/// and finishes.
///
/// It is one step instead of the five of `map`, `tryReduce` and `mapError`: every call uses it, and each step costs a
/// call as much as the way from the pool to the socket. Only the collector keeps parts of an answer.
struct AnswerPublisher<Response: DataAPIResponse>: Publisher {
    typealias Output = Response
    typealias Failure = FMRest.APIError

    let server: DataAPI.Server
    let request: DataAPIRequest<Response>
    let token: SessionToken?

    func receive<Downstream: Subscriber<Response, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    private final class Inner: ColdSubscription<AnswerPublisher>, ResponseReceiver, @unchecked Sendable {
        // @unchecked: as the superclass; only the exchange uses collector and status, with one call after the other.
        typealias Input = HTTPResponsePart
        typealias Failure = HTTPClientError

        private let answer: AnswerPublisher
        private let collector: Response.Collector
        private let notes: ExchangeNotes
        /// Only for the log.
        private var httpStatus: Int?

        override init(_ answer: AnswerPublisher, downstream: Downstream) {
            self.answer = answer
            collector = Response.Collector(reader: answer.server.reader.reader(for: answer.request))
            notes = answer.server.notes(of: answer.request)
            super.init(answer, downstream: downstream)
        }

        override func begin(_ answer: AnswerPublisher) {
            do {
                let request = answer.request
                answer.server.send(
                    try answer.server.httpRequest(for: request, token: answer.token),
                    in: request.context,
                    below: answer.server.root(of: request),
                    to: self
                ) { request.facts }
            } catch {
                // Nothing was sent, so nothing is logged.
                finish(.failure(answer.server.error(error, about: answer.request)))
            }
        }

        override func cancelled() { notes.cancelled() }

        // MARK: From the exchange

        func receive(subscription: any Subscription) {
            // Parts are not the subscriber's values: all of them are needed for the one value it asked for.
            if proceed(with: subscription) { subscription.request(.unlimited) } else { subscription.cancel() }
        }

        func receive(_ part: HTTPResponsePart) -> Subscribers.Demand {
            if notes.log != nil, case .head(let head) = part { httpStatus = Int(head.status.code) }
            do {
                try collector.take(part)
            } catch {
                fail(error, end(cancelling: true))
            }
            return .none
        }

        func ended(_ error: (any Error)?) {
            guard let downstream = end() else { return }
            do {
                if let error { throw error }
                var response = try collector.response()
                response.nameScripts(answer.request.scripts)
                notes.finished(httpStatus: httpStatus)
                publishLast(response, to: downstream)
            } catch {
                fail(error, downstream)
            }
        }

        private func fail(_ error: any Error, _ downstream: Downstream?) {
            guard let downstream else { return }
            let error = answer.server.error(error, about: answer.request)
            notes.failed(error, httpStatus: httpStatus)
            downstream.receive(completion: .failure(error))
        }
    }
}
