import OpenCombine

extension SessionPool {
    /// Publishes one lease, then finishes: of a session that is free, after a login if need be, which all who wait share.
    ///
    /// Asks on the first demand; cancelling leaves the queue, or gives back a lease that was on its way. Whoever receives the
    /// lease has to release it.
    ///
    /// - Parameter clock: the time of the call that the session is for; `nil` for as long as the pool says.
    func lease(for purpose: LeasePurpose = .request, within clock: CallClock? = nil) -> LeasePublisher {
        LeasePublisher(pool: self, purpose: purpose, clock: clock)
    }
}

/// See ``SessionPool/lease(for:within:)``.
struct LeasePublisher: Publisher {
    typealias Output = SessionLease
    typealias Failure = FMRest.APIError

    let pool: SessionPool
    let purpose: LeasePurpose
    let clock: CallClock?

    func receive<Downstream: Subscriber<SessionLease, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: LeaseSubscription(self, downstream: subscriber))
    }
}

/// Somebody who wants a session. The pool calls it once, outside of its lock, to grant a lease or to refuse one.
final class LeaseSubscription: ColdSubscription<LeasePublisher>, @unchecked Sendable {
    // @unchecked: as the superclass.
    private let pool: SessionPool
    /// See ``SessionPool/lease(for:within:)``.
    let clock: CallClock?

    override init(_ source: LeasePublisher, downstream: Downstream) {
        pool = source.pool
        clock = source.clock
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
