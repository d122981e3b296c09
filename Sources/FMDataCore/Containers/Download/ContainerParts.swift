import FMHTTP
import Foundation
import NIOCore
import NIOFoundationCompat
import OpenCombine

/// Publishes the head of an opened container, then its bytes on demand. It waits for the opening to finish first, so
/// that the session is free whatever the subscriber does with the head.
///
/// If the connection breaks, the rest is requested with the subscriber's next demand, provided that the host has named
/// the version that it sends (``ContainerVersion``). The result is that version from its first byte to its last, or an
/// error.
struct ContainerParts: Publisher {
    typealias Output = DataAPI.ContainerPart
    typealias Failure = FMRest.APIError

    let opening: AnyPublisher<OpenedContainer, FMRest.APIError>

    func receive<Downstream: Subscriber<DataAPI.ContainerPart, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(opening: opening, downstream: AnySubscriber(subscriber)))
    }
}

extension ContainerParts {
    private final class Inner: Subscription, Subscriber, HeldResponse.BodyReceiver, Sendable {
        typealias Downstream = AnySubscriber<DataAPI.ContainerPart, FMRest.APIError>
        typealias Input = OpenedContainer
        typealias Failure = FMRest.APIError

        private enum Phase {
            /// → `opening`, with the first demand.
            case ready
            /// Holds the subscription of the opening, then also its value. → `beginning`, `terminal`
            case opening((any Subscription)?, OpenedContainer?)
            /// The head is being delivered, or the body is being attached. → `flowing`, `broken`, `terminal`
            case beginning(HeldResponse)
            /// The body is delivered from this response. → `broken`, `terminal`
            case flowing(HeldResponse)
            /// The connection broke; the rest is requested with the next demand. → `resuming`, `terminal`
            case broken(any Error)
            /// The rest was requested. → `beginning`, `terminal`
            case resuming(HeldResponse, after: any Error)
            /// Finished, failed or cancelled.
            case terminal
        }

        private struct State {
            let opening: AnyPublisher<OpenedContainer, FMRest.APIError>
            var downstream: Downstream?
            var phase = Phase.ready
            /// The demand that is not satisfied yet.
            var demand = Subscribers.Demand.none
            /// The request whose answer is the content; set from `beginning` on.
            var request: ContainerRequest?
            var progress = ResumableProgress()
            /// The log of the request for the rest that is under way.
            var log: CallLog?

            mutating func delivered(_ more: Subscribers.Demand) {
                demand += more
                if demand > .none { demand -= 1 }
            }

            mutating func terminate() -> (phase: Phase, downstream: Downstream?) {
                defer {
                    phase = .terminal
                    downstream = nil
                    request = nil
                }
                return (phase, downstream)
            }
        }

        private let state: Guarded<State>

        init(opening: AnyPublisher<OpenedContainer, FMRest.APIError>, downstream: Downstream) {
            state = Guarded(State(opening: opening, downstream: downstream))
        }

        // MARK: From downstream

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            enum Action {
                case open(AnyPublisher<OpenedContainer, FMRest.APIError>)
                case resume, none
                case pass(HeldResponse)
            }
            let action: Action = state.withLock { state in
                state.demand += demand
                switch state.phase {
                case .ready:
                    state.phase = .opening(nil, nil)
                    return .open(state.opening)
                case .flowing(let response): return .pass(response)
                case .broken: return .resume
                case .opening, .beginning, .resuming, .terminal: return .none
                }
            }
            switch action {
            case .open(let opening): opening.subscribe(self)
            case .pass(let response): response.request(demand)
            case .resume: resume()
            case .none: break
            }
        }

        func cancel() {
            let (last, downstream) = state.withLock { $0.terminate() }
            switch last {
            case .opening(let subscription, _): subscription?.cancel()
            case .beginning(let response), .flowing(let response): response.cancel()
            case .resuming(let response, _):
                response.cancel()
                takeLog()?.cancelled()
            case .ready, .broken, .terminal: break
            }
            withExtendedLifetime(downstream) {}
        }

        // MARK: Calls of the opening

        func receive(subscription: any Subscription) {
            let isWanted = state.withLock { state in
                guard case .opening(nil, nil) = state.phase else { return false }
                state.phase = .opening(subscription, nil)
                return true
            }
            if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
        }

        func receive(_ container: OpenedContainer) -> Subscribers.Demand {
            state.withLock { state in
                guard case .opening(let subscription, nil) = state.phase else { return }
                state.phase = .opening(subscription, container)
            }
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            switch completion {
            case .finished: deliverHead()
            case .failure(let error): finish(.failure(error))
            }
        }

        private func deliverHead() {
            let opened: (HTTPResponseHead, HeldResponse, Downstream)? = state.withLock { state in
                guard case .opening(_, let container?) = state.phase, let response = container.takeResponse(),
                    let downstream = state.downstream
                else { return nil }
                state.phase = .beginning(response)
                state.request = container.request
                state.progress = ResumableProgress(container.head)
                return (container.head, response, downstream)
            }
            guard let (head, response, downstream) = opened else {
                return finish(.failure(FMRest.APIError(.noValue, reason: "The container was not opened.")))
            }
            let more = downstream.receive(.head(DataAPI.ContainerHead(head.headers)))
            state.withLock { $0.delivered(more) }
            begin(response)
        }

        // MARK: Calls of the body

        private func begin(_ response: HeldResponse) {
            // This comes before the change of state, so that demand from another thread finds the body attached.
            response.pass(to: self)
            let demand = state.withLock { state in
                guard case .beginning(let response) = state.phase else { return Subscribers.Demand.none }
                state.phase = .flowing(response)
                return state.demand
            }
            if demand > .none { response.request(demand) }
        }

        func receive(_ bytes: ByteBuffer) -> Subscribers.Demand {
            let downstream = state.withLock { state in
                state.progress.position += bytes.readableBytes
                return state.downstream
            }
            guard let downstream else { return .none }
            let more = downstream.receive(.bytes(Data(buffer: bytes, byteTransferStrategy: .noCopy)))
            state.withLock { $0.delivered(more) }
            return more
        }

        func bodyEnded(_ completion: Subscribers.Completion<any Error>) {
            enum Action {
                case finish, resume, wait
                case fail(any Error)
            }
            let action: Action? = state.withLock { state in
                switch state.phase {
                case .beginning, .flowing: break
                case .ready, .opening, .broken, .resuming, .terminal: return nil
                }
                switch completion {
                case .finished where state.progress.isComplete:
                    return .finish
                case .finished:
                    return .fail(
                        HTTPClientError(code: .truncatedBody, outcome: .answered, origin: state.request?.address.origin)
                    )
                case .failure(let error):
                    guard state.progress.mayGoOn(after: error) else { return .fail(error) }
                    state.phase = .broken(error)
                    return state.demand > .none ? .resume : .wait
                }
            }
            switch action {
            case .finish: finish(.finished)
            case .resume: resume()
            case .wait, nil: break
            case .fail(let error): fail(error)
            }
        }

        // MARK: The rest of a body

        private func resume() {
            let response = HeldResponse { result in self.answered(result) }
            let next: (ContainerRequest, HTTPHeaders)? = state.withLock { state in
                guard case .broken(let error) = state.phase, let request = state.request,
                    let headers = state.progress.goOn()
                else { return nil }
                state.phase = .resuming(response, after: error)
                state.log = request.log
                return (request, headers)
            }
            guard let (request, headers) = next else { return }
            do {
                response.start(request, try request.httpRequest(headers))
            } catch {
                finish(.failure(error.about(request.summary, isSafeToRepeat: true)))
            }
        }

        private func answered(_ result: Result<HTTPResponseHead, any Error>) {
            let log = takeLog()
            switch result {
            case .success(let head):
                log?.finished(CallFigures(httpStatus: Int(head.status.code)))
                continueOrFail(head)
            case .failure(let error):
                log?.failed(FMRest.APIError(wrapping: error), CallFigures())
                fail(error)
            }
        }

        private func continueOrFail(_ head: HTTPResponseHead) {
            let next: (HeldResponse, failure: (any Error)?)? = state.withLock { state in
                guard case .resuming(let response, let error) = state.phase else { return nil }
                guard state.progress.isContinued(by: head) else { return (response, error) }
                state.phase = .beginning(response)
                return (response, nil)
            }
            guard let (response, failure) = next else { return }
            guard let failure else { return begin(response) }
            response.cancel()
            fail(failure, " The server did not send the rest of the same content.")
        }

        // MARK: Ends

        private func fail(_ error: any Error, _ more: String = "") {
            guard let request = state.withLock({ $0.request }) else { return }
            var error = request.error(error)
            error.reason += more
            finish(.failure(error))
        }

        private func finish(_ completion: Subscribers.Completion<FMRest.APIError>) {
            state.withLock { $0.terminate().downstream }?.receive(completion: completion)
        }

        private func takeLog() -> CallLog? {
            state.withLock { state in
                defer { state.log = nil }
                return state.log
            }
        }
    }
}

/// How much of a body has arrived, and whether the rest can be requested if its connection breaks.
struct ResumableProgress: Equatable {
    /// Limits the requests to a host that breaks the connection each time.
    static let maximumResumptions = 20

    /// The number of bytes that have arrived.
    var position = 0
    private let version: ContainerVersion?
    private var resumptions = 0
    private var lastResumption: Int?
    /// The length of the whole, known once the rest was announced.
    private var byteCount: Int?

    /// The progress of a body that cannot be resumed.
    init() { version = nil }

    /// The progress of the body that follows this head.
    init(_ head: HTTPResponseHead) { version = ContainerVersion(head) }

    /// Whether everything has arrived when the body ends regularly.
    var isComplete: Bool { position == byteCount ?? position }

    /// Whether the connection was the cause, and each attempt so far has brought some bytes.
    func mayGoOn(after error: any Error) -> Bool {
        switch (error as? HTTPClientError ?? (error as? FMRest.APIError)?.transportError)?.code {
        case .connectionClosed, .truncatedBody: break
        default: return false
        }
        return version != nil && lastResumption != position && resumptions < Self.maximumResumptions
    }

    /// Counts one more attempt and returns the headers that request the rest.
    mutating func goOn() -> HTTPHeaders? {
        resumptions += 1
        lastResumption = position
        return version?.headers(forRestFrom: position)
    }

    /// Whether an answer is the rest.
    mutating func isContinued(by head: HTTPResponseHead) -> Bool {
        guard let whole = version?.byteCount(ofWholeWith: head, from: position) else { return false }
        byteCount = whole
        return true
    }
}
