internal import NIOCore

/// Determines the current time limit of an exchange, with one timer for all limits.
///
/// The timer is not moved with the limits: they move several times per request, and timers are costly. It fires, and
/// then `fired` decides whether the *current* limit has passed and when to fire next.
struct TimeoutStateMachine: Equatable {
    enum FireAction: Equatable {
        case expired(HTTPClientError.Code)
        case schedule(at: NIODeadline)
        case none
    }

    private var limit: (code: HTTPClientError.Code, deadline: NIODeadline)?
    private var total: NIODeadline?
    /// The time at which more bytes must have arrived.
    private var rate: NIODeadline?
    /// The time from which a body is awaited.
    private var bodyBegan: NIODeadline?
    private var scheduled: NIODeadline?
    private var phase: RequestStateMachine.Phase?
    /// While the subscriber has no demand, the total limit stands still too, since nothing waits for the server then.
    private var pauseBegan: NIODeadline?
    private var pausedTime = TimeAmount.zero

    static func == (a: Self, b: Self) -> Bool {
        a.limit?.code == b.limit?.code && a.limit?.deadline == b.limit?.deadline && a.total == b.total
            && a.rate == b.rate && a.bodyBegan == b.bodyBegan
            && a.scheduled == b.scheduled && a.phase == b.phase && a.pauseBegan == b.pauseBegan
            && a.pausedTime == b.pausedTime
    }

    /// The exchange is in this phase, and progress was just made. Returns when to set a timer, if one is needed.
    ///
    /// - Parameter bodyBytes: The bytes of the response's body that have arrived.
    mutating func progressed(
        to phase: RequestStateMachine.Phase,
        bodyBytes: Int = 0,
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
        rate = phase == .receiving ? rateDeadline(bodyBytes: bodyBytes, limits: limits, now: now) : nil
        switch phase {
        case .awaitingHead:
            // Progress without a complete head (a 1xx, half a head) does not prolong the wait.
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
        rate = nil
        bodyBegan = nil
        pauseBegan = nil
        pausedTime = .zero
    }

    mutating func fired(now: NIODeadline) -> FireAction {
        scheduled = nil
        if let total, total <= now { return .expired(.totalTimeout) }
        if let limit, limit.deadline <= now { return .expired(limit.code) }
        if let rate, rate <= now { return .expired(.tooSlow) }
        return timerNeeded().map { .schedule(at: $0) } ?? .none
    }

    private mutating func rateDeadline(bodyBytes: Int, limits: ExchangeLimits, now: NIODeadline) -> NIODeadline? {
        guard let rate = limits.minimumRate, let idle = limits.idle else { return nil }
        let began = bodyBegan ?? now
        bodyBegan = began
        // Twice, so that a body that stops fails with the idle timeout instead. All pauses fall within the body.
        return began.advanced(by: idle).advanced(by: idle).advanced(by: TimeAmount(bytes: bodyBytes, at: rate))
            .advanced(by: pausedTime)
    }

    private mutating func timerNeeded() -> NIODeadline? {
        let next = min(limit?.deadline ?? .distantFuture, total ?? .distantFuture, rate ?? .distantFuture)
        guard next < scheduled ?? .distantFuture else { return nil }
        scheduled = next
        return next
    }
}
