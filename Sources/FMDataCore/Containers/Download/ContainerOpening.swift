import FMHTTP
import Foundation
import NIOConcurrencyHelpers
import OpenCombine

/// Finds the content of a container under one session. Publishes it when its head has arrived, then finishes, so that
/// the session is free while the body is transferred.
///
/// Nothing is sent before demand. If the token is refused, it fails with an error that says so, so that the holder of
/// the session starts over with a fresh one; see ``ContainerDownloadStateMachine`` for what counts as a refusal.
struct ContainerOpening: ColdPublisher {
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

    struct Memory {
        let opening: ContainerOpening
        var machine: ContainerDownloadStateMachine?
        /// The machine before anything was sent, for attempts with other tokens.
        var fresh: ContainerDownloadStateMachine?
        var token: SessionToken
        /// The tokens that are still to be tried; `nil` before they were requested.
        var otherTokens: [SessionToken]?
        /// The request for the content that is under way.
        var exchange: (ContainerRequest, HeldResponse)?
        var log: CallLog?
    }

    var memory: Memory { Memory(opening: self, token: token) }

    func begin(_ subscription: ColdSubscription<Self>) {
        let steps = Steps(subscription: subscription)
        let location = SessionExchange<ContainerDownloadStateMachine> { result in steps.located(result) }
        if subscription.proceed(with: location) { location.start(self.location) }
    }

    func cancelled(_ subscription: ColdSubscription<Self>) { subscription.withLock { $0.log.take() }?.cancelled() }
}

extension ContainerOpening {
    /// The steps of a subscription.
    private struct Steps: Sendable {
        let subscription: ColdSubscription<ContainerOpening>
        /// Outlives the end, since what is then under way is still logged and dropped.
        private var opening: ContainerOpening { subscription.withLock { $0.opening } }

        init(subscription: ColdSubscription<ContainerOpening>) {
            self.subscription = subscription
        }

        // MARK: One request after the other

        func located(_ result: Result<ContainerDownloadStateMachine, FMRest.APIError>?) {
            switch result {
            case .success(let machine)?:
                subscription.withLock { $0.fresh = machine }
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
            subscription.withLock { $0.machine = machine }
            send(request)
        }

        private func send(_ next: ContainerDownloadStateMachine.Request) {
            let response = HeldResponse { result in self.answered(result) }
            guard subscription.proceed(with: response) else { return }
            let request = ContainerRequest(
                server: opening.server,
                address: next,
                token: subscription.withLock { $0.token },
                context: opening.context
            )
            do {
                let httpRequest = try request.httpRequest()
                subscription.withLock { memory in
                    memory.exchange = (request, response)
                    memory.log = request.log
                }
                response.start(request, httpRequest)
            } catch {
                fail(error)
            }
        }

        private func answered(_ result: Result<HTTPResponseHead, any Error>) {
            let log = takeLog()
            guard let (request, response) = subscription.withLock({ $0.exchange.take() }) else { return }
            switch result {
            case .success(let head):
                log?.finished(CallFigures(httpStatus: Int(head.status.code)))
                headReceived(head, of: request, response)
            case .failure(let error):
                let error = request.error(error)
                log?.failed(error, CallFigures())
                fail(error)
            }
        }

        private func takeLog() -> CallLog? { subscription.withLock { $0.log.take() } }

        private func headReceived(_ head: HTTPResponseHead, of request: ContainerRequest, _ response: HeldResponse) {
            let action = subscription.unlessEnded { _, memory in
                memory.machine?.headReceived(
                    status: Int(head.status.code),
                    location: head.headers.first(name: "Location"),
                    setCookies: head.headers["Set-Cookie"],
                    now: memory.opening.now
                )
            }
            switch action ?? nil {
            case .deliverBody:
                subscription.succeed(with: OpenedContainer(head: head, request: request, response: response))
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
            let isFirst = subscription.withLock { $0.otherTokens == nil }
            // The pool is called outside of the lock.
            let others = isFirst ? opening.otherTokens() : []
            let next: ContainerDownloadStateMachine? = subscription.withLock { memory in
                var tokens = memory.otherTokens ?? others
                defer { memory.otherTokens = tokens }
                guard let fresh = memory.fresh, !tokens.isEmpty else { return nil }
                memory.token = tokens.removeFirst()
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
            guard subscription.proceed(with: check) else { return }
            let request = DataAPIRequest.validateSession(.session).within(opening.context())
            check.start(opening.server.exchange(request, token: opening.token))
        }

        private func fail(_ error: FMRest.APIError) {
            let summary = opening.server.containerSummary(tag: opening.context().tag)
            subscription.finish(.failure(error.about(summary, isSafeToRepeat: true)))
        }
    }
}

extension HeldResponse: Cancellable {}

/// The content of a container that has been found: its head, the request that found it, and the response that holds the
/// body. If it is released before the response was taken, the exchange is cancelled.
final class OpenedContainer: Sendable {
    let head: HTTPResponseHead
    let request: ContainerRequest

    private let response: NIOLockedValueBox<HeldResponse?>

    init(head: HTTPResponseHead, request: ContainerRequest, response: HeldResponse) {
        self.head = head
        self.request = request
        self.response = NIOLockedValueBox(response)
    }

    deinit { takeResponse()?.cancel() }

    func takeResponse() -> HeldResponse? {
        response.withLockedValue { $0.take() }
    }
}
