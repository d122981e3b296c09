import OpenCombine

extension SessionPool {
    /// Publishes one lease, then finishes: of a session that is free, after a login if need be, which all who wait share.
    ///
    /// Asks on the first demand; cancelling leaves the queue, or gives back a lease that was on its way. Whoever receives the
    /// lease has to release it.
    ///
    /// - Parameters:
    ///   - clock: the time of the call that the session is for; `nil` for as long as the pool says.
    ///   - tenure: of the account that the call is made as. When it is over there is no session.
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

/// Somebody who wants a session. The pool calls it once, outside of its lock, to grant a lease or to refuse one.
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
            // Cancelled meanwhile, or answered: then leaving the queue has no effect.
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
