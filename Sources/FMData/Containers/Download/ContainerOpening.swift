import FMHTTP
import Foundation
import NIOConcurrencyHelpers
import OpenCombine

/// Finds the content of a container under one session: publishes it as soon as its head is there, then finishes, so that
/// the session is free again while the body flows.
///
/// Nothing is sent before demand. A token that is refused shows as an error of that kind, so that whoever leased the
/// session starts over with a fresh one; see ``ContainerDownloadStateMachine`` for what counts as that.
struct ContainerOpening: Publisher {
    typealias Output = OpenedContainer
    typealias Failure = FMRest.APIError

    let server: DataAPI.Server
    let token: SessionToken
    /// The tokens of other sessions that the content may belong to, asked for when it does not belong to this one. They
    /// are not leased: fetching content is no call of the Data API, and disturbs none.
    var otherTokens: () -> [SessionToken] = { [] }
    /// Where the content is: known already, or asked of the server under this token first.
    let location: AnyPublisher<ContainerDownloadStateMachine, FMRest.APIError>
    /// What holds for the next request.
    var context: @Sendable () -> RequestContext = { RequestContext() }
    /// What a clock on the wall shows, as cookies end by it.
    var now: Date { server.time.date(server.time.now()) }

    func receive<Downstream: Subscriber<OpenedContainer, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }
}

extension ContainerOpening {
    private final class Inner: ColdSubscription<ContainerOpening>, @unchecked Sendable {
        // @unchecked: as the superclass. Only what is under way uses `machine`.
        private let opening: ContainerOpening
        private var machine: ContainerDownloadStateMachine?
        /// As it was before anything was sent, for the attempts with other tokens.
        private var fresh: ContainerDownloadStateMachine?
        private var token: SessionToken
        /// Those that are still to be tried; `nil` before they were asked for.
        private var otherTokens: [SessionToken]?
        /// The content's request that is under way.
        private var exchange: (ContainerRequest, HeldResponse)?
        private var log: CallLog?

        override init(_ source: ContainerOpening, downstream: Downstream) {
            opening = source
            token = source.token
            super.init(source, downstream: downstream)
        }

        override func begin(_ source: ContainerOpening) {
            let location = SessionExchange<ContainerDownloadStateMachine> { result in self.located(result) }
            if proceed(with: location) { location.start(source.location) }
        }

        override func cancelled() { takeLog()?.cancelled() }

        // MARK: One request after the other

        private func located(_ result: Result<ContainerDownloadStateMachine, FMRest.APIError>?) {
            switch result {
            case .success(let machine)?:
                lock.withLock { fresh = machine }
                start(machine)
            case .failure(let error)?:
                fail(error)
            case nil:
                fail(FMRest.APIError(.noValue, reason: "The record says nothing of the container."))
            }
        }

        private func start(_ machine: ContainerDownloadStateMachine) {
            var machine = machine
            let request = machine.started(now: opening.now)
            lock.withLock { self.machine = machine }
            send(request)
        }

        private func send(_ next: ContainerDownloadStateMachine.Request) {
            let response = HeldResponse { result in self.answered(result) }
            guard proceed(with: response) else { return }
            let request = ContainerRequest(
                server: opening.server,
                address: next,
                token: lock.withLock { token },
                context: opening.context
            )
            do {
                let httpRequest = try request.httpRequest()
                lock.withLock {
                    exchange = (request, response)
                    log = request.log
                }
                response.start(httpRequest, by: opening.server.client)
            } catch {
                fail(error)
            }
        }

        private func answered(_ result: Result<HTTPResponseHead, HTTPClientError>) {
            let log = takeLog()
            guard let (request, response) = lock.withLock({ exchange.take() }) else { return }
            switch result {
            case .success(let head):
                log?.finished(httpStatus: Int(head.status.code))
                headReceived(head, of: request, response)
            case .failure(let error):
                let error = request.error(error)
                log?.failed(error, httpStatus: nil)
                fail(error)
            }
        }

        private func takeLog() -> CallLog? { lock.withLock { log.take() } }

        private func headReceived(_ head: HTTPResponseHead, of request: ContainerRequest, _ response: HeldResponse) {
            let action: ContainerDownloadStateMachine.HeadAction? = lock.withLock {
                if source == nil { return nil }
                return machine?.headReceived(
                    status: Int(head.status.code),
                    location: head.headers.first(name: "Location"),
                    setCookies: head.headers["Set-Cookie"],
                    now: opening.now
                )
            }
            switch action {
            case .deliverBody:
                succeed(with: OpenedContainer(head: head, request: request, response: response))
            case .send(let request):
                response.drop { self.send(request) }
            case .doubtSession:
                response.drop { self.tryOtherSession() }
            case .fail(let error):
                response.drop {}
                var error = FMRest.APIError(error)
                error.retryAfter = head.headers.retryAfter(now: opening.now)
                fail(error)
            case nil:
                // All is over, and the response was cancelled.
                break
            }
        }

        /// The content may belong to another session of the same database. When it belongs to none, the one that is leased
        /// is asked whether it lives.
        private func tryOtherSession() {
            let isFirst = lock.withLock { otherTokens == nil }
            // The pool is asked outside of the lock.
            let others = isFirst ? opening.otherTokens() : []
            let next: ContainerDownloadStateMachine? = lock.withLock {
                otherTokens = otherTokens ?? others
                guard let fresh, otherTokens?.isEmpty == false, let other = otherTokens?.removeFirst() else {
                    return nil
                }
                token = other
                return fresh
            }
            if let next { start(next) } else { checkSession() }
        }

        /// A server that cannot tell is too old to ask for a token when content is fetched: then it was the URL.
        private func checkSession() {
            let check = SessionExchange<FMRest.EmptyResponse> { result in
                // A time limit that strikes here says nothing of the URL.
                if case .failure(let error)? = result, error.meansTokenRefused || error.code == .timeout {
                    self.fail(error)
                } else {
                    self.fail(FMRest.APIError(DataAPI.ContainerError(.stale)))
                }
            }
            guard proceed(with: check) else { return }
            let request = DataAPIRequest.validateSession(.session).within(opening.context())
            check.start(opening.server.exchange(request, token: opening.token))
        }

        private func fail(_ error: FMRest.APIError) {
            let summary = opening.server.containerSummary(tag: opening.context().tag)
            finish(.failure(error.about(summary, isSafeToRepeat: true)))
        }
    }
}

extension HeldResponse: Cancellable {}
