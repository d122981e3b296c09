import FMHTTP
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOFoundationCompat
import OpenCombine

/// Publishes the head of an opened container, then its bytes under demand. Waits for the opening to finish first: its
/// session is then free, whatever the subscriber does with the head.
struct ContainerParts: Publisher {
    typealias Output = DataAPI.ContainerPart
    typealias Failure = FMRest.APIError

    let opening: AnyPublisher<OpenedContainer, FMRest.APIError>

    func receive<Downstream: Subscriber<DataAPI.ContainerPart, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(opening: opening, downstream: subscriber))
    }
}

extension ContainerParts {
    private final class Inner<Downstream: Subscriber<DataAPI.ContainerPart, FMRest.APIError>>: Subscription, Subscriber,
        HeldResponse.BodyReceiver, @unchecked Sendable
    {
        typealias Input = OpenedContainer
        typealias Failure = FMRest.APIError

        private enum State {
            /// → `opening`, with the first demand.
            case ready
            /// Its subscription, then what it published. → `delivering`, `terminal`
            case opening((any Subscription)?, OpenedContainer?)
            /// The body flows from here, once the head is with the subscriber. → `terminal`
            case delivering(HeldResponse, hasDeliveredHead: Bool)
            /// Finished, failed or cancelled.
            case terminal
        }

        // `lock` guards every `var` below, which makes this class Sendable.
        private let lock = NIOLock()
        private let opening: AnyPublisher<OpenedContainer, FMRest.APIError>
        private var downstream: Downstream?
        private var state = State.ready
        /// What was asked for before the body could be asked.
        private var demand = Subscribers.Demand.none
        /// Those of the exchange that brings the body.
        private var timeouts = DataAPI.Timeouts()

        init(opening: AnyPublisher<OpenedContainer, FMRest.APIError>, downstream: Downstream) {
            self.opening = opening
            self.downstream = downstream
        }

        // MARK: From downstream

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            let (starts, response): (Bool, HeldResponse?) = lock.withLock {
                switch state {
                case .ready:
                    self.demand += demand
                    state = .opening(nil, nil)
                    return (true, nil)
                case .opening, .delivering(_, hasDeliveredHead: false):
                    self.demand += demand
                    return (false, nil)
                case .delivering(let response, hasDeliveredHead: true):
                    return (false, response)
                case .terminal:
                    return (false, nil)
                }
            }
            if starts { opening.subscribe(self) }
            response?.request(demand)
        }

        func cancel() {
            let (last, downstream) = lock.withLock { lockedTerminate() }
            switch last {
            case .opening(let subscription, _): subscription?.cancel()
            case .delivering(let response, _): response.cancel()
            case .ready, .terminal: break
            }
            withExtendedLifetime(downstream) {}
        }

        // MARK: From the opening

        func receive(subscription: any Subscription) {
            let isWanted = lock.withLock {
                guard case .opening(nil, nil) = state else { return false }
                state = .opening(subscription, nil)
                return true
            }
            if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
        }

        func receive(_ container: OpenedContainer) -> Subscribers.Demand {
            lock.withLock {
                if case .opening(let subscription, nil) = state { state = .opening(subscription, container) }
            }
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            switch completion {
            case .finished: deliverHead()
            case .failure(let error): finish(.failure(error))
            }
        }

        // MARK: From the body

        private func deliverHead() {
            let opened: (DataAPI.ContainerHead, HeldResponse, Downstream)? = lock.withLock {
                guard case .opening(_, let container?) = state, let response = container.takeResponse(), let downstream
                else { return nil }
                state = .delivering(response, hasDeliveredHead: false)
                timeouts = container.timeouts
                return (container.head, response, downstream)
            }
            guard let (head, response, downstream) = opened else {
                return finish(.failure(FMRest.APIError(.noValue, reason: "The container was not opened.")))
            }
            let more = downstream.receive(.head(head))
            // Before the state says so: a demand from another thread must find the body passing.
            response.pass(to: self)
            let demand = lock.withLock {
                guard case .delivering(let response, hasDeliveredHead: false) = state else {
                    return Subscribers.Demand.none
                }
                state = .delivering(response, hasDeliveredHead: true)
                return self.demand + more - 1
            }
            if demand > .none { response.request(demand) }
        }

        func receive(_ bytes: ByteBuffer) -> Subscribers.Demand {
            let downstream = lock.withLock { self.downstream }
            return downstream?.receive(.bytes(Data(buffer: bytes, byteTransferStrategy: .noCopy))) ?? .none
        }

        func bodyEnded(_ completion: Subscribers.Completion<HTTPClientError>) {
            switch completion {
            case .finished: finish(.finished)
            case .failure(let error): finish(.failure(FMRest.APIError(error).naming(lock.withLock { timeouts })))
            }
        }

        private func finish(_ completion: Subscribers.Completion<FMRest.APIError>) {
            lock.withLock { lockedTerminate().downstream }?.receive(completion: completion)
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
