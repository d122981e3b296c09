import NIOConcurrencyHelpers
import OpenCombine

extension Publisher where Output == SessionLease, Failure == FMRest.APIError {
    /// Attempts something with the lease that this publishes; say with `givingBack` what becomes of the lease then.
    ///
    ///     pool.lease()
    ///         .attempt { lease in exchange(request, lease.token) }
    ///         .givingBack(to: pool)
    ///
    /// - Parameter work: what to do. It is subscribed to once, on the thread that brought the lease.
    func attempt<Attempt: Publisher>(_ work: @escaping (SessionLease) -> Attempt) -> AttemptWithLease<Self, Attempt>
    where Attempt.Failure == FMRest.APIError {
        AttemptWithLease(lease: self, work: work)
    }
}

/// Half of a pipeline; see ``OpenCombine/Publisher/attempt(_:)``.
struct AttemptWithLease<Lease: Publisher, Attempt: Publisher>
where Lease.Output == SessionLease, Lease.Failure == FMRest.APIError, Attempt.Failure == FMRest.APIError {
    fileprivate let lease: Lease
    fileprivate let work: (SessionLease) -> Attempt

    /// Publishes what the attempt publishes, as far as the subscriber asks, and gives the lease back when it has ended:
    /// before the subscriber hears of the end, since he may want the next session at once.
    ///
    /// The lease is asked for with the first demand. Cancelling ends the wait for it, or the attempt.
    ///
    /// - Parameter outcome: what the end says of the session. The default is that of a request.
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

/// Why an attempt failed.
struct AttemptFailure: Error {
    let error: FMRest.APIError
    /// Of the session it was made in; `nil` when none was to be had, so that nothing was sent.
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
        /// While the attempt is under way.
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

        /// Returns what to do with the lease; `nil` when all is over.
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
            // With a lease the end is the attempt's.
            if !hasLease { inner.receive(completion: completion) }
        }
    }
}
