import NIOConcurrencyHelpers

/// Who wants a session: gets a lease or an error, once, outside of any lock.
protocol LeaseHolder: AnyObject, Sendable {
    func receive(_ lease: SessionLease)
    func refuse(_ error: FMRest.APIError)
}

/// One wish for a session on behalf of one holder, from asking to answer; cancelling is possible at any moment, also
/// while the pool is being asked. A lease that comes too late goes straight back.
final class LeaseTicket: @unchecked Sendable {
    private enum State {
        case new
        /// → waiting, over, or cancelled by another thread before the pool has answered.
        case asking
        case waiting(LeaseID)
        case over
    }

    // `lock` guards `state` and `holder`, which makes this class Sendable.
    private let lock = NIOLock()
    private let pool: SessionPool
    private let purpose: LeasePurpose
    /// The time of the call that the session is for; `nil` if that may take any time.
    let clock: CallClock?
    private var state = State.new
    private var holder: (any LeaseHolder)?

    init(pool: SessionPool, purpose: LeasePurpose, clock: CallClock? = nil, holder: any LeaseHolder) {
        self.pool = pool
        self.purpose = purpose
        self.clock = clock
        self.holder = holder
    }

    func ask() {
        let isNew = lock.withLock {
            guard case .new = state else { return false }
            state = .asking
            return true
        }
        guard isNew else { return }
        switch pool.request(purpose, self) {
        case .granted(let lease):
            receive(lease)
        case .refused(let error):
            refuse(error)
        case .waiting(let id):
            // Meanwhile it may have been answered or cancelled; withdrawing after an answer has no effect.
            let isOver = lock.withLock {
                guard case .asking = state else { return true }
                state = .waiting(id)
                return false
            }
            if isOver { pool.withdraw(id) }
        }
    }

    /// The pool's answer.
    func receive(_ lease: SessionLease) {
        if let holder = finish() {
            holder.receive(lease)
        } else {
            pool.release(lease, .unused)
        }
    }

    /// The pool's answer.
    func refuse(_ error: FMRest.APIError) {
        finish()?.refuse(error)
    }

    func cancel() {
        let waiting: LeaseID? = lock.withLock {
            defer {
                state = .over
                holder = nil
            }
            if case .waiting(let id) = state { return id } else { return nil }
        }
        if let waiting { pool.withdraw(waiting) }
    }

    private func finish() -> (any LeaseHolder)? {
        lock.withLock {
            defer {
                state = .over
                holder = nil
            }
            return holder
        }
    }
}
