import FMHTTP
import NIOConcurrencyHelpers
import OpenCombine

/// One attempt at a request: sends it with the first demand, reads the answer while it arrives, publishes the response and
/// finishes.
///
/// One step where `map`, `tryReduce` and `mapError` would be five: it stands in every call's way, and each step costs a call
/// as much as the way from the pool to the socket. Nothing is kept of an answer but what its collector keeps.
struct AnswerPublisher<Response: DataAPIResponse>: Publisher {
    typealias Output = Response
    typealias Failure = FMRest.APIError

    let server: DataAPI.Server
    let request: DataAPIRequest<Response>
    let token: SessionToken?

    func receive<Downstream: Subscriber<Response, FMRest.APIError>>(subscriber: Downstream) {
        do {
            let exchange = try server.httpRequest(for: request, token: token)
            server.client.parts(exchange).subscribe(Inner(self, downstream: subscriber))
        } catch {
            // It was not sent, so the log knows nothing of it.
            Fail(error: server.error(error, about: request)).receive(subscriber: subscriber)
        }
    }

    private final class Inner<Downstream: Subscriber<Response, FMRest.APIError>>: Subscriber, Subscription,
        @unchecked Sendable
    {
        typealias Input = HTTPResponsePart
        typealias Failure = HTTPClientError

        // `lock` guards every other `var`; the collector is used by the exchange only, whose calls come one after the other.
        // That makes this class Sendable.
        private let lock = NIOLock()
        private let answer: AnswerPublisher
        private let collector: Response.Collector
        /// `nil` when nobody wants to read it.
        private let log: CallLog?
        /// For the log alone; used by the exchange, like the collector.
        private var httpStatus: Int?
        private var downstream: Downstream?
        private var upstream: (any Subscription)?
        private var isStarted = false

        init(_ answer: AnswerPublisher, downstream: Downstream) {
            self.answer = answer
            self.downstream = downstream
            collector = Response.Collector(reader: answer.server.reader)
            log = answer.server.callLog(of: answer.request)
        }

        // MARK: From downstream

        func request(_ demand: Subscribers.Demand) {
            let upstream: (any Subscription)? = lock.withLock {
                guard !isStarted, demand > .none else { return nil }
                isStarted = true
                return self.upstream
            }
            // Parts are no values of the subscriber's: all of them are needed for the one it asked for.
            upstream?.request(.unlimited)
        }

        func cancel() {
            let (downstream, upstream) = terminate()
            upstream?.cancel()
            if downstream != nil, lock.withLock({ isStarted }) { log?.cancelled() }
            // The subscriber may be deinitialised here, which may run anything.
            withExtendedLifetime(downstream) {}
        }

        // MARK: From the exchange

        func receive(subscription: any Subscription) {
            let downstream = lock.withLock {
                upstream = subscription
                return self.downstream
            }
            downstream?.receive(subscription: self)
        }

        func receive(_ part: HTTPResponsePart) -> Subscribers.Demand {
            if log != nil, case .head(let head) = part { httpStatus = Int(head.status.code) }
            do {
                try collector.take(part)
            } catch {
                let (downstream, upstream) = terminate()
                upstream?.cancel()
                if let downstream { fail(error, downstream) }
            }
            return .none
        }

        func receive(completion: Subscribers.Completion<HTTPClientError>) {
            guard let downstream = terminate().downstream else { return }
            do {
                if case .failure(let error) = completion { throw error }
                var response = try collector.response()
                response.nameScripts(answer.request.scripts)
                log?.finished(httpStatus: httpStatus)
                _ = downstream.receive(response)
                downstream.receive(completion: .finished)
            } catch {
                fail(error, downstream)
            }
        }

        private func fail(_ error: any Error, _ downstream: Downstream) {
            let error = answer.server.error(error, about: answer.request)
            log?.failed(error, httpStatus: httpStatus)
            downstream.receive(completion: .failure(error))
        }

        private func terminate() -> (downstream: Downstream?, upstream: (any Subscription)?) {
            lock.withLock {
                defer {
                    downstream = nil
                    upstream = nil
                }
                return (downstream, upstream)
            }
        }
    }
}
