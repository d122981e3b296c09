internal import NIOCore

/// Which time limit holds now, with one timer for all.
///
/// A timer is not moved each time a limit does: limits move several times per request, timers cost. One timer is left
/// to fire, and on firing it asks here whether the limit of *now* has passed and when to ask again.
struct TimeoutStateMachine: Equatable {
    enum FireAction: Equatable {
        case expired(HTTPClientError.Code)
        case schedule(at: NIODeadline)
        case none
    }

    private var limit: (code: HTTPClientError.Code, deadline: NIODeadline)?
    private var total: NIODeadline?
    private var scheduled: NIODeadline?
    private var phase: RequestStateMachine.Phase?
    /// While the subscriber asks for nothing, the limit of the whole stands still, too: nobody waits for the server then.
    private var pauseBegan: NIODeadline?
    private var pausedTime = TimeAmount.zero

    static func == (a: Self, b: Self) -> Bool {
        a.limit?.code == b.limit?.code && a.limit?.deadline == b.limit?.deadline && a.total == b.total
            && a.scheduled == b.scheduled && a.phase == b.phase && a.pauseBegan == b.pauseBegan
            && a.pausedTime == b.pausedTime
    }

    /// The exchange is in this phase, and something has just moved. Returns when to set a timer, if one is needed.
    mutating func progressed(
        to phase: RequestStateMachine.Phase,
        limits: ExchangeLimits,
        now: NIODeadline
    ) -> NIODeadline? {
        let previous = self.phase
        self.phase = phase
        if let pauseBegan, phase != .paused {
            pausedTime = pausedTime + (now - pauseBegan)
            self.pauseBegan = nil
        }
        total = phase == .paused ? nil : limits.deadline.map { $0.advanced(by: pausedTime) }
        switch phase {
        case .awaitingHead:
            // Progress without a head (a 1xx, half a head) does not prolong the wait.
            if previous != .awaitingHead { limit = limits.firstByte.map { (.firstByteTimeout, now.advanced(by: $0)) } }
        case .sending, .receiving:
            limit = limits.idle.map { (.idleTimeout, now.advanced(by: $0)) }
        case .paused:
            limit = nil
            pauseBegan = pauseBegan ?? now
        }
        return timerNeeded()
    }

    mutating func ended() {
        phase = nil
        limit = nil
        total = nil
        pauseBegan = nil
        pausedTime = .zero
    }

    mutating func fired(now: NIODeadline) -> FireAction {
        scheduled = nil
        if let total, total <= now { return .expired(.totalTimeout) }
        if let limit, limit.deadline <= now { return .expired(limit.code) }
        return timerNeeded().map { .schedule(at: $0) } ?? .none
    }

    private mutating func timerNeeded() -> NIODeadline? {
        let next = min(limit?.deadline ?? .distantFuture, total ?? .distantFuture)
        guard next < scheduled ?? .distantFuture else { return nil }
        scheduled = next
        return next
    }
}
