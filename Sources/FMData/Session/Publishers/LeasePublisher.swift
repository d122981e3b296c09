import NIOConcurrencyHelpers
import OpenCombine

extension SessionPool {
    /// Publishes one lease, then finishes. Asks on the first demand; cancelling leaves the queue, or gives back a lease
    /// that was on its way. Whoever receives the lease has to release it.
    func lease(for purpose: LeasePurpose = .request) -> LeasePublisher {
        LeasePublisher(pool: self, purpose: purpose)
    }
}

struct LeasePublisher: Publisher {
    typealias Output = SessionLease
    typealias Failure = FMRest.APIError

    let pool: SessionPool
    let purpose: LeasePurpose

    func receive<Downstream: Subscriber<SessionLease, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(pool: pool, purpose: purpose, downstream: subscriber))
    }
}

extension LeasePublisher {
    private final class Inner<Downstream: Subscriber<SessionLease, FMRest.APIError>>: Subscription, LeaseHolder,
        @unchecked Sendable
    {
        private enum State {
            case ready(Downstream, LeasePurpose)
            case asking(Downstream, LeaseTicket)
            case terminal
        }

        // `lock` guards `state`, which makes this class Sendable.
        private let lock = NIOLock()
        private let pool: SessionPool
        private var state: State

        init(pool: SessionPool, purpose: LeasePurpose, downstream: Downstream) {
            self.pool = pool
            state = .ready(downstream, purpose)
        }

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            let ticket: LeaseTicket? = lock.withLock {
                guard case .ready(let downstream, let purpose) = state else { return nil }
                let ticket = LeaseTicket(pool: pool, purpose: purpose, holder: self)
                state = .asking(downstream, ticket)
                return ticket
            }
            ticket?.ask()
        }

        func receive(_ lease: SessionLease) {
            guard let downstream = finish() else { return pool.release(lease, .unused) }
            _ = downstream.receive(lease)
            downstream.receive(completion: .finished)
        }

        func refuse(_ error: FMRest.APIError) {
            finish()?.receive(completion: .failure(error))
        }

        func cancel() {
            let last = lock.withLock {
                defer { state = .terminal }
                return state
            }
            if case .asking(_, let ticket) = last { ticket.cancel() }
        }

        private func finish() -> Downstream? {
            lock.withLock {
                defer { state = .terminal }
                if case .asking(let downstream, _) = state { return downstream } else { return nil }
            }
        }
    }
}
