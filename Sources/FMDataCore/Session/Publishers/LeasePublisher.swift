import NIOCore
import OpenCombine

extension SessionPool {
    /// Publishes one lease, then finishes: a free session's, or one after a login, which all waiting requests share.
    ///
    /// Asks the pool on the first demand. Cancelling leaves the queue, or gives back a lease that was on its way. The
    /// subscriber has to release the lease that it receives.
    ///
    /// - Parameters:
    ///   - clock: the time limit of the call that needs the session; `nil` if only the pool's limits apply.
    ///   - accountPeriod: the account period of the call's account. Once it is over, the request fails.
    func lease(
        for purpose: LeasePurpose = .request,
        within clock: CallClock? = nil,
        in accountPeriod: AccountPeriod? = nil
    ) -> LeasePublisher {
        LeasePublisher(pool: self, purpose: purpose, clock: clock, accountPeriod: accountPeriod)
    }
}

/// See ``SessionPool/lease(for:within:in:)``.
struct LeasePublisher: ColdPublisher {
    typealias Output = SessionLease
    typealias Failure = FMRest.APIError

    let pool: SessionPool
    let purpose: LeasePurpose
    let clock: CallClock?
    let accountPeriod: AccountPeriod?

    /// What the pool needs of a subscription, also after its end: constant but for the wait.
    struct Memory {
        let pool: SessionPool
        let clock: CallClock?
        let accountPeriod: AccountPeriod?
        /// When it began to wait; `nil` if it does not wait, or nobody asks how long. Used with the lock held.
        var waitsSince: NIODeadline?
    }

    var memory: Memory { Memory(pool: pool, clock: clock, accountPeriod: accountPeriod) }

    func begin(_ subscription: LeaseSubscription) {
        let now = pool.observer.waited == nil ? nil : pool.now
        // Before the request, which may be answered on another thread before it returns.
        subscription.withLock { $0.waitsSince = now }
        switch pool.request(purpose, subscription) {
        case .granted(let lease):
            subscription.withLock { $0.waitsSince = nil }
            subscription.grant(lease)
        case .refused(let error):
            subscription.refuse(error)
        case .waiting(let id):
            let place = PlaceInQueue(id: id, pool: pool)
            // If the subscription was cancelled or answered meanwhile, leaving the queue is harmless.
            if !subscription.proceed(with: place) { place.cancel() }
        }
    }
}

/// A subscription that waits for a session. The pool calls it once, outside of its lock, to grant or refuse a lease.
typealias LeaseSubscription = ColdSubscription<LeasePublisher>

extension LeaseSubscription {
    /// See ``SessionPool/lease(for:within:in:)``.
    var clock: CallClock? { memory.clock }
    /// See ``SessionPool/lease(for:within:in:)``.
    var accountPeriod: AccountPeriod? { memory.accountPeriod }
    private var pool: SessionPool { memory.pool }

    func grant(_ lease: SessionLease) {
        if let since = withLock({ $0.waitsSince }) { pool.observer.waited?(lease.token, pool.now - since) }
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
