import OpenCombine

extension SessionPool {
    /// Publishes one lease, then finishes: a free session's, or one after a login, which all waiting requests share.
    ///
    /// Asks the pool on the first demand. Cancelling leaves the queue, or gives back a lease that was on its way. The
    /// subscriber has to release the lease that it receives.
    ///
    /// - Parameters:
    ///   - clock: the time limit of the call that needs the session; `nil` if only the pool's limits apply.
    ///   - tenure: the tenure of the call's account. Once it is over, the request fails.
    func lease(
        for purpose: LeasePurpose = .request,
        within clock: CallClock? = nil,
        in tenure: Tenure? = nil
    ) -> LeasePublisher {
        LeasePublisher(pool: self, purpose: purpose, clock: clock, tenure: tenure)
    }
}

/// See ``SessionPool/lease(for:within:in:)``.
struct LeasePublisher: Publisher {
    typealias Output = SessionLease
    typealias Failure = FMRest.APIError

    let pool: SessionPool
    let purpose: LeasePurpose
    let clock: CallClock?
    let tenure: Tenure?

    func receive<Downstream: Subscriber<SessionLease, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: LeaseSubscription(self, downstream: subscriber))
    }
}

/// A subscription that waits for a session. The pool calls it once, outside of its lock, to grant or refuse a lease.
final class LeaseSubscription: ColdSubscription<LeasePublisher>, @unchecked Sendable {
    // @unchecked: as the superclass.
    private let pool: SessionPool
    /// See ``SessionPool/lease(for:within:in:)``.
    let clock: CallClock?
    /// See ``SessionPool/lease(for:within:in:)``.
    let tenure: Tenure?

    override init(_ source: LeasePublisher, downstream: Downstream) {
        pool = source.pool
        clock = source.clock
        tenure = source.tenure
        super.init(source, downstream: downstream)
    }

    override func begin(_ source: LeasePublisher) {
        switch pool.request(source.purpose, self) {
        case .granted(let lease):
            grant(lease)
        case .refused(let error):
            refuse(error)
        case .waiting(let id):
            let place = PlaceInQueue(id: id, pool: pool)
            // If the subscription was cancelled or answered meanwhile, leaving the queue is harmless.
            if !proceed(with: place) { place.cancel() }
        }
    }

    func grant(_ lease: SessionLease) {
        let isWanted = succeed(with: lease)
        if !isWanted { pool.release(lease, .unused) }
    }

    func refuse(_ error: FMRest.APIError) {
        finish(.failure(error))
    }
}

private struct PlaceInQueue: Cancellable {
    let id: LeaseID
    let pool: SessionPool

    func cancel() { pool.withdraw(id) }
}
