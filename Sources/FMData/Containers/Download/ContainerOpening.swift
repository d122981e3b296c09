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
    var now: @Sendable () -> Date = { Date() }

    func receive<Downstream: Subscriber<OpenedContainer, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(opening: self, downstream: AnySubscriber(subscriber)))
    }
}

extension ContainerOpening {
    private final class Inner: Subscription, @unchecked Sendable {
        typealias Downstream = AnySubscriber<OpenedContainer, FMRest.APIError>

        private enum State {
            /// → `running`, with the first demand.
            case ready
            /// Cancelling goes to whatever is under way. → `running` with the next step, `terminal`
            case running(any Cancellable)
            /// Published, failed or cancelled.
            case terminal
        }

        // `lock` guards every `var` below, which makes this class Sendable. Only the one step that is under way uses
        // `machine`.
        private let lock = NIOLock()
        private let opening: ContainerOpening
        private var downstream: Downstream?
        private var state = State.ready
        private var machine: ContainerDownloadStateMachine?
        /// As it was before anything was sent, for the attempts with other tokens.
        private var fresh: ContainerDownloadStateMachine?
        private var token: SessionToken
        /// Those that are still to be tried; `nil` before they were asked for.
        private var otherTokens: [SessionToken]?
        /// The content's request that is under way.
        private var request: ContainerRequest?
        private var log: CallLog?

        init(opening: ContainerOpening, downstream: Downstream) {
            self.opening = opening
            self.downstream = downstream
            token = opening.token
        }

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            let location = SessionExchange<ContainerDownloadStateMachine> { result in self.located(result) }
            let isFirst = lock.withLock {
                guard case .ready = state else { return false }
                state = .running(location)
                return true
            }
            if isFirst { location.start(opening.location) }
        }

        func cancel() {
            let (last, downstream) = lock.withLock { lockedTerminate() }
            if case .running(let step) = last {
                step.cancel()
                takeLog()?.cancelled()
            }
            withExtendedLifetime(downstream) {}
        }

        // MARK: The steps

        private func located(_ result: Result<ContainerDownloadStateMachine, FMRest.APIError>?) {
            switch result {
            case .success(let machine)?:
                lock.withLock { fresh = machine }
                start(machine)
            case .failure(let error)?:
                finish(.failure(error))
            case nil:
                finish(.failure(FMRest.APIError(.noValue, reason: "The record says nothing of the container.")))
            }
        }

        private func start(_ machine: ContainerDownloadStateMachine) {
            var machine = machine
            let request = machine.started(now: opening.now())
            lock.withLock { self.machine = machine }
            send(request)
        }

        private func send(_ step: ContainerDownloadStateMachine.Request) {
            let response = HeldResponse { result in self.answered(result) }
            guard begin(response) else { return }
            let request = ContainerRequest(
                server: opening.server,
                step: step,
                token: lock.withLock { token },
                context: opening.context
            )
            do {
                let httpRequest = try request.httpRequest()
                lock.withLock {
                    self.request = request
                    log = request.log
                }
                response.start(httpRequest, by: opening.server.client)
            } catch {
                finish(.failure(error))
            }
        }

        private func answered(_ result: Result<HTTPResponseHead, HTTPClientError>) {
            let log = takeLog()
            guard let request = lock.withLock({ self.request }) else { return }
            switch result {
            case .success(let head):
                log?.finished(httpStatus: Int(head.status.code))
                headReceived(head, of: request)
            case .failure(let error):
                let error = request.error(error)
                log?.failed(error, httpStatus: nil)
                finish(.failure(error))
            }
        }

        private func takeLog() -> CallLog? {
            lock.withLock {
                defer { log = nil }
                return log
            }
        }

        private func headReceived(_ head: HTTPResponseHead, of request: ContainerRequest) {
            let step: (HeldResponse, ContainerDownloadStateMachine.HeadAction)? = lock.withLock {
                guard case .running(let step) = state, let response = step as? HeldResponse,
                    let action = machine?.headReceived(
                        status: Int(head.status.code),
                        location: head.headers.first(name: "Location"),
                        setCookies: head.headers["Set-Cookie"],
                        now: opening.now()
                    )
                else { return nil }
                return (response, action)
            }
            guard let (response, action) = step else { return }
            switch action {
            case .deliverBody:
                finish(.success(OpenedContainer(head: head, request: request, response: response)))
            case .send(let request):
                response.drop { self.send(request) }
            case .doubtSession:
                response.drop { self.tryOtherSession() }
            case .fail(let error):
                response.drop {}
                finish(.failure(FMRest.APIError(error)))
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
                    self.finish(.failure(error))
                } else {
                    self.finish(.failure(FMRest.APIError(DataAPI.ContainerError(.stale))))
                }
            }
            guard begin(check) else { return }
            let request = DataAPIRequest.validateSession(.session).within(opening.context())
            check.start(opening.server.exchange(request, token: opening.token))
        }

        // MARK: State

        /// Whether the next step may start.
        private func begin(_ step: any Cancellable) -> Bool {
            lock.withLock {
                guard case .running = state else { return false }
                state = .running(step)
                return true
            }
        }

        private func finish(_ result: Result<OpenedContainer, FMRest.APIError>) {
            let downstream = lock.withLock { lockedTerminate().downstream }
            switch result {
            case .success(let container):
                _ = downstream?.receive(container)
                downstream?.receive(completion: .finished)
            case .failure(let error):
                let summary = opening.server.containerSummary(tag: opening.context().tag)
                downstream?.receive(completion: .failure(error.about(summary, isSafeToRepeat: true)))
            }
        }

        private func lockedTerminate() -> (state: State, downstream: Downstream?) {
            defer {
                state = .terminal
                downstream = nil
            }
            return (state, downstream)
        }
    }
}

extension HeldResponse: Cancellable {}
