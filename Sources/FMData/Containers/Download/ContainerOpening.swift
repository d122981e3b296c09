import FMHTTP
import Foundation
import NIOConcurrencyHelpers
import OpenCombine

/// Finds the content of a container under one session. Publishes it when its head has arrived, then finishes, so that
/// the session is free while the body is transferred.
///
/// Nothing is sent before demand. If the token is refused, it fails with an error that says so, so that the holder of
/// the session starts over with a fresh one; see ``ContainerDownloadStateMachine`` for what counts as a refusal.
struct ContainerOpening: Publisher {
    typealias Output = OpenedContainer
    typealias Failure = FMRest.APIError

    let server: DataAPI.Server
    let token: SessionToken
    /// Returns the tokens of other sessions that the content may belong to, called when it does not belong to this one.
    /// The sessions are not leased: downloading content is not a call of the Data API, and does not disturb such calls.
    var otherTokens: () -> [SessionToken] = { [] }
    /// The address of the content: known already, or first requested from the server with this token.
    let location: AnyPublisher<ContainerDownloadStateMachine, FMRest.APIError>
    /// The context of the next request.
    var context: @Sendable () -> RequestContext = { RequestContext() }
    /// The wall-clock time, by which cookies expire.
    var now: Date { server.time.date(server.time.now()) }

    func receive<Downstream: Subscriber<OpenedContainer, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }
}

extension ContainerOpening {
    private final class Inner: ColdSubscription<ContainerOpening>, @unchecked Sendable {
        // @unchecked: as the superclass. Only the exchange under way uses `machine`.
        private let opening: ContainerOpening
        private var machine: ContainerDownloadStateMachine?
        /// The machine before anything was sent, for attempts with other tokens.
        private var fresh: ContainerDownloadStateMachine?
        private var token: SessionToken
        /// The tokens that are still to be tried; `nil` before they were requested.
        private var otherTokens: [SessionToken]?
        /// The request for the content that is under way.
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
                response.start(request, httpRequest)
            } catch {
                fail(error)
            }
        }

        private func answered(_ result: Result<HTTPResponseHead, any Error>) {
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
                // The subscription has ended, and the response was cancelled.
                break
            }
        }

        /// Tries the next session of the same database that the content may belong to. After the last one, checks
        /// whether the leased session is alive.
        private func tryOtherSession() {
            let isFirst = lock.withLock { otherTokens == nil }
            // The pool is called outside of the lock.
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

        /// Asks whether the session is alive. A server too old to answer this does not check tokens when it sends
        /// content, so there the cause is the URL.
        private func checkSession() {
            let check = SessionExchange<FMRest.EmptyResponse> { result in
                // A time limit that expires here says nothing about the URL.
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
