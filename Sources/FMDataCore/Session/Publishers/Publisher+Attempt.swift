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
    /// before the subscriber receives the completion, or the only value, since it may want the next session at once.
    ///
    /// The lease is requested with the first demand. Cancelling ends the wait for it, or the attempt.
    ///
    /// - Parameters:
    ///   - endsWithValue: whether the server is done with the attempt when it publishes a value.
    ///   - outcome: derives the session's outcome from the end of the attempt. The default is that of a request.
    func givingBack(
        to pool: SessionPool,
        endsWithValue: Bool = false,
        as outcome: @escaping (AttemptEnd, SessionLease) -> SessionOutcome = SessionOutcome.init(of:in:)
    ) -> AttemptPublisher<Lease, Attempt> {
        AttemptPublisher(lease: lease, work: work, pool: pool, endsWithValue: endsWithValue, outcome: outcome)
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
struct AttemptPublisher<Lease: Publisher, Attempt: Publisher>: RelayPublisher
where Lease.Output == SessionLease, Lease.Failure == FMRest.APIError, Attempt.Failure == FMRest.APIError {
    typealias Output = Attempt.Output
    typealias Failure = AttemptFailure
    typealias UpstreamFailure = FMRest.APIError

    let lease: Lease
    let work: (SessionLease) -> Attempt
    let pool: SessionPool
    let endsWithValue: Bool
    let outcome: (AttemptEnd, SessionLease) -> SessionOutcome

    /// The lease while the attempt is under way.
    var memory: SessionLease? { nil }

    func begin(_ subscription: ColdSubscription<Self>) {
        lease.subscribe(LeaseReceiver(subscription, pool: pool))
    }

    func cancelled(_ subscription: ColdSubscription<Self>) {
        let lease = subscription.withLock { $0.take() }
        giveBack(lease, .cancelled(hasPublished: subscription.hasPublished))
    }

    func upstreamEnded(_ completion: Subscribers.Completion<FMRest.APIError>, _ subscription: ColdSubscription<Self>) {
        guard let downstream = subscription.end() else { return }
        let lease = subscription.withLock { $0.take() }
        switch completion {
        case .finished:
            giveBack(lease, .finished)
            downstream.receive(completion: .finished)
        case .failure(let error):
            giveBack(lease, .failed(error))
            downstream.receive(completion: .failure(AttemptFailure(error: error, lease: lease)))
        }
    }

    static func passes(_ value: Output, _ subscription: ColdSubscription<Self>) {
        let ended = subscription.unlessEnded { source, lease in source.endsWithValue ? (source, lease.take()) : nil }
        if case .some((let source, let lease)?) = ended { source.giveBack(lease, .finished) }
    }

    private func giveBack(_ lease: SessionLease?, _ end: AttemptEnd) {
        if let lease { pool.release(lease, outcome(end, lease)) }
    }

    /// The subscriber of the lease.
    private final class LeaseReceiver: Subscriber {
        typealias Input = SessionLease
        typealias Failure = FMRest.APIError

        private let attempt: ColdSubscription<AttemptPublisher>
        private let pool: SessionPool
        private var hasLease = false

        init(_ attempt: ColdSubscription<AttemptPublisher>, pool: SessionPool) {
            self.attempt = attempt
            self.pool = pool
        }

        func receive(subscription: any Subscription) {
            if attempt.proceed(with: subscription) { subscription.request(.max(1)) } else { subscription.cancel() }
        }

        func receive(_ lease: SessionLease) -> Subscribers.Demand {
            hasLease = true
            let work = attempt.unlessEnded { source, memory in
                memory = lease
                return source.work
            }
            if let work { work(lease).subscribe(attempt) } else { pool.release(lease, .unused) }
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            // Once there is a lease, the attempt's completion is the completion.
            if !hasLease { attempt.receive(completion: completion) }
        }
    }
}
