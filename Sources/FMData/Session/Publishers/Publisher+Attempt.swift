import NIOConcurrencyHelpers
import OpenCombine

extension Publisher where Output == SessionLease, Failure == FMRest.APIError {
    /// Runs an attempt with the published lease. Follow it with `givingBack`, which says how the lease is returned.
    ///
    ///     pool.lease()
    ///         .attempt { lease in exchange(request, lease.token) }
    ///         .givingBack(to: pool)
    ///
    /// - Parameter work: makes the attempt. It is called once, on the thread that delivers the lease.
    func attempt<Attempt: Publisher>(_ work: @escaping (SessionLease) -> Attempt) -> AttemptWithLease<Self, Attempt>
    where Attempt.Failure == FMRest.APIError {
        AttemptWithLease(lease: self, work: work)
    }
}

/// The first half of a pipeline; see ``OpenCombine/Publisher/attempt(_:)``.
struct AttemptWithLease<Lease: Publisher, Attempt: Publisher>
where Lease.Output == SessionLease, Lease.Failure == FMRest.APIError, Attempt.Failure == FMRest.APIError {
    fileprivate let lease: Lease
    fileprivate let work: (SessionLease) -> Attempt

    /// Publishes the attempt's values, as far as there is demand, and gives the lease back when the attempt has ended:
    /// before the subscriber receives the completion, since it may want the next session at once.
    ///
    /// The lease is requested with the first demand. Cancelling ends the wait for it, or the attempt.
    ///
    /// - Parameter outcome: derives the session's outcome from the end of the attempt. The default is that of a
    ///   request.
    func givingBack(
        to pool: SessionPool,
        as outcome: @escaping (AttemptEnd, SessionLease) -> SessionOutcome = SessionOutcome.init(of:in:)
    ) -> AttemptPublisher<Lease, Attempt> {
        AttemptPublisher(lease: lease, work: work, pool: pool, outcome: outcome)
    }
}

/// How an attempt with a session ended.
enum AttemptEnd {
    case finished
    case failed(FMRest.APIError)
    case cancelled(hasPublished: Bool)
}

/// The failure of an attempt.
struct AttemptFailure: Error {
    let error: FMRest.APIError
    /// The lease of the attempt; `nil` if no session was available, so that nothing was sent.
    let lease: SessionLease?
}

/// See ``AttemptWithLease/givingBack(to:as:)``.
struct AttemptPublisher<Lease: Publisher, Attempt: Publisher>: Publisher
where Lease.Output == SessionLease, Lease.Failure == FMRest.APIError, Attempt.Failure == FMRest.APIError {
    typealias Output = Attempt.Output
    typealias Failure = AttemptFailure

    let lease: Lease
    let work: (SessionLease) -> Attempt
    let pool: SessionPool
    let outcome: (AttemptEnd, SessionLease) -> SessionOutcome

    func receive<Downstream: Subscriber<Output, AttemptFailure>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    private final class Inner: RelaySubscription<AttemptPublisher>, Subscriber, @unchecked Sendable {
        // @unchecked: as the superclass.
        typealias Input = Output
        typealias Failure = FMRest.APIError

        private let pool: SessionPool
        private let outcome: (AttemptEnd, SessionLease) -> SessionOutcome
        /// The lease while the attempt is under way.
        private var lease: SessionLease?

        override init(_ source: AttemptPublisher, downstream: Downstream) {
            pool = source.pool
            outcome = source.outcome
            super.init(source, downstream: downstream)
        }

        override func begin(_ source: AttemptPublisher) {
            source.lease.subscribe(LeaseReceiver(inner: self))
        }

        override func cancelled() {
            let (lease, hasPublished) = lock.withLock { (self.lease.take(), self.hasPublished) }
            giveBack(lease, .cancelled(hasPublished: hasPublished))
        }

        func receive(_ lease: SessionLease) {
            if let work = take(lease) { work(lease).subscribe(self) } else { pool.release(lease, .unused) }
        }

        /// Stores the lease and returns the work to do with it; `nil` when the subscription has ended.
        private func take(_ lease: SessionLease) -> ((SessionLease) -> Attempt)? {
            lock.withLock {
                if source != nil { self.lease = lease }
                return source?.work
            }
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            guard let downstream = end() else { return }
            let lease = lock.withLock { self.lease.take() }
            switch completion {
            case .finished:
                giveBack(lease, .finished)
                downstream.receive(completion: .finished)
            case .failure(let error):
                giveBack(lease, .failed(error))
                downstream.receive(completion: .failure(AttemptFailure(error: error, lease: lease)))
            }
        }

        private func giveBack(_ lease: SessionLease?, _ end: AttemptEnd) {
            if let lease { pool.release(lease, outcome(end, lease)) }
        }
    }

    /// The subscriber of the lease.
    private final class LeaseReceiver: Subscriber {
        typealias Input = SessionLease
        typealias Failure = FMRest.APIError

        private let inner: Inner
        private var hasLease = false

        init(inner: Inner) {
            self.inner = inner
        }

        func receive(subscription: any Subscription) {
            if inner.proceed(with: subscription) { subscription.request(.max(1)) } else { subscription.cancel() }
        }

        func receive(_ lease: SessionLease) -> Subscribers.Demand {
            hasLease = true
            inner.receive(lease)
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            // Once there is a lease, the attempt's completion is the completion.
            if !hasLease { inner.receive(completion: completion) }
        }
    }
}
