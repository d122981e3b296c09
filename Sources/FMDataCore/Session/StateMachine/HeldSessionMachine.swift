import NIOCore

/// A session that some work holds, as a pure state machine: when the host is asked for it, so that it is not dropped
/// for want of calls, and when it is lost.
///
/// Time that a call takes does not count: a host drops no session in which a request runs.
struct HeldSessionMachine: Equatable {
    struct Settings: Equatable {
        /// How long the session may lie idle before the host is asked for it; `nil` if it is not kept alive.
        var idleTime: TimeAmount?
        /// The pause after a question that was not answered.
        var pause: TimeAmount
    }

    /// The end of a call in the session, or of a question for it.
    enum Outcome: Equatable {
        /// The host has answered in this session.
        case answered
        /// Nothing is known of the session: the exchange broke or was cancelled.
        case unanswered
        case lost
    }

    enum Action: Equatable {
        /// Set the alarm to this instant; it replaces any earlier alarm.
        case setAlarm(NIODeadline)
        case cancelAlarm
        /// Ask the host for the session.
        case validate
        /// The session is lost. Reported once.
        case lost
    }

    private let settings: Settings
    private var lastUse: NIODeadline
    /// The host is not asked again before this instant.
    private var asksNotBefore: NIODeadline
    private var calls = 0
    private var isAsking = false
    /// Whether the session is lost, or not needed any more.
    private(set) var isOver = false
    private(set) var alarm: NIODeadline?

    init(settings: Settings, now: NIODeadline) {
        self.settings = settings
        lastUse = now
        asksNotBefore = now
    }

    /// The work begins.
    mutating func began(now: NIODeadline) -> [Action] {
        lastUse = now
        return settle(now)
    }

    mutating func callBegan() { calls += 1 }

    /// A call has published a value.
    mutating func callAnswered(now: NIODeadline) { lastUse = now }

    mutating func callEnded(_ outcome: Outcome, now: NIODeadline) -> [Action] {
        calls -= 1
        return note(outcome, now)
    }

    /// The host has answered the question for the session, or failed to.
    mutating func validated(_ outcome: Outcome, now: NIODeadline) -> [Action] {
        isAsking = false
        if outcome == .unanswered { asksNotBefore = now + settings.pause }
        return note(outcome, now)
    }

    /// The alarm fired. It may be too early, since calls do not postpone it.
    mutating func wakeUp(now: NIODeadline) -> [Action] {
        alarm = nil
        return settle(now)
    }

    /// The work has ended.
    mutating func ended() -> [Action] {
        isOver = true
        return endAlarm()
    }

    private mutating func note(_ outcome: Outcome, _ now: NIODeadline) -> [Action] {
        switch outcome {
        case .answered: lastUse = now
        case .unanswered: break
        case .lost where isOver: break
        case .lost: return [.lost] + ended()
        }
        return settle(now)
    }

    /// Asks for the session if that is due, else sees to it that the alarm fires then. While a call or a question is
    /// under way its end decides.
    private mutating func settle(_ now: NIODeadline) -> [Action] {
        guard let idleTime = settings.idleTime, !isOver, calls == 0, !isAsking else { return [] }
        let due = max(lastUse + idleTime, asksNotBefore)
        if due <= now {
            isAsking = true
            return [.validate]
        }
        if let alarm, alarm <= due { return [] }
        alarm = due
        return [.setAlarm(due)]
    }

    private mutating func endAlarm() -> [Action] {
        defer { alarm = nil }
        return alarm == nil ? [] : [.cancelAlarm]
    }
}

extension HeldSessionMachine.Settings {
    /// - Parameter isKeptAlive: whether the host is asked for the session when two thirds of the time have passed after
    ///   which it would drop it.
    init(_ configuration: DataAPI.SessionConfiguration, isKeptAlive: Bool) {
        let expiry = TimeAmount(clamping: configuration.idleExpiry).nanoseconds
        idleTime = isKeptAlive ? .nanoseconds(max(1, expiry / 3 * 2)) : nil
        pause = .nanoseconds(max(1, expiry / 15))
    }
}
