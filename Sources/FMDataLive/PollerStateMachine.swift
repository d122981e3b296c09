import FMDataCore
import FMDataRecords
import NIOCore

/// Decides when a live query polls, and what the end of a poll means. It maps events to actions; time and randomness
/// come from outside.
///
///     idle → queued → looking → (confirming →) waiting → queued …
///                        ↘ failing → queued
///
/// Two polls never overlap. A wake-up during a poll causes another poll after it.
struct PollerStateMachine {
    struct Settings: Equatable {
        var shortest: TimeAmount
        var longest: TimeAmount
        var gracePeriod: TimeAmount
        var retryTimeout: TimeAmount?
        /// How long the program's calls wait for the first byte of an answer; `nil` for ever.
        var answersWithin: TimeAmount?
        /// How long the host must keep answering that the query cannot be answered before the query fails.
        var givesUpAfter: TimeAmount
        /// The most missing records that are asked for one by one to confirm that they were removed.
        var singles = 20
        /// The least pause, as a multiple of the time the host worked for the poll before it.
        var restFactor = 10.0
        /// The bound of the pauses after polls that took long or failed, unless `longest` is longer.
        var longestPause = TimeAmount.minutes(1)
    }

    enum Phase: Equatable {
        case idle
        /// It waits until the poll rate limit allows a poll.
        case queued
        case looking
        /// Records that a poll has not found are asked for one by one.
        case confirming
        case waiting(until: NIODeadline)
        case failing(until: NIODeadline)
        /// No subscriber wants a value, and at least one value is undelivered.
        case paused
        case ended
    }

    enum Action: Equatable {
        case takeTurn
        case giveUpTurn
        case poll
        case cancelPoll
        /// Ask for these records one by one.
        case confirm([Int])
        /// Accept the poll's findings, and remove these of the records it has not found; the others stay until another
        /// poll.
        case accept(removing: [Int])
        /// Drop the poll's findings.
        case dismiss
        /// Drop what is known, because another account has read it.
        case forget
        case setAlarm(NIODeadline)
        case callOffAlarm
        /// Log that a longer pause than configured is needed, because polls take the host that long.
        case tellOfRest(TimeAmount)
        /// The query has failed permanently.
        case fail
        /// The grace period has ended without a new subscriber: drop what is stored.
        case drop
    }

    /// The result of a poll, without its records.
    struct Outcome: Equatable {
        /// Stored records that it has not found.
        var missing: [Int] = []
        /// How many records are stored.
        var held = 0
        /// Whether anything else has changed.
        var hasChanges = false
        /// Whether the findings are inconsistent: the table changed while it was read, so a record's absence proves
        /// nothing.
        var isInconsistent = false
        /// Whether fewer records came than the host had counted, so that a record's absence needs a second poll.
        var isShort = false
        /// How long the host has worked, without the time the poll waited for a session.
        var work = TimeAmount.zero
        /// Whether all records were read, because nothing was known. Such a poll is rare, so no pause makes up for it.
        var isFill = false
    }

    /// Why a poll has failed.
    enum Failure: Equatable {
        /// Transient: a later poll may succeed.
        case passing
        /// No answer came in time.
        case silence
        /// The host answers that the query cannot be answered. A developer may be editing the file, or a gateway in
        /// front of the host may be misconfigured, so this is final only when it has lasted for some time.
        case refusal
        case final
    }

    let settings: Settings
    private(set) var phase = Phase.idle
    private(set) var failingSince: NIODeadline?
    private var subscribers = 0
    private var isWanted = false
    private var hasUndelivered = false
    /// Whether the program has requested the poll that is due or under way. Such a poll is made even without demand,
    /// and repeated until one is accepted.
    private var isInsistedOn = false
    /// Why another poll is to follow the one under way; `nil` when none is.
    private var another: RepeatCause?
    private var pause: TimeAmount
    private var backOff: BackOff
    /// How long to wait for the first byte of an answer.
    private(set) var patienceForAnswer: PatienceForAnswer
    /// How long to wait for the end of an answer.
    private var limitOfAnswer: LimitOfAnswer
    /// Since when calls of the poll have a session without getting any further, and until when that is allowed; `nil`
    /// while the poll waits for a session.
    private var awaited: (since: NIODeadline, until: NIODeadline)?
    /// The longest time that the poll has waited for progress by the host.
    private var longestWait = TimeAmount.zero
    private var refusals = Refusals()
    private var hasToldOfRest = false
    /// Of the last poll; see ``Outcome/isFill``.
    private var isFill = false
    /// Unconfirmed removals: the records that the previous poll has not found.
    private var unconfirmed: Set<Int>?
    private var cachedUntil: NIODeadline?
    /// How many inconsistent polls there were in a row.
    private var inconsistentPolls = 0
    /// When the alarm is set to ring; `nil` for none.
    private var alarm: NIODeadline?

    init(_ settings: Settings) {
        self.settings = settings
        pause = settings.shortest
        backOff = BackOff(minimum: .seconds(1), maximum: max(settings.longest, settings.longestPause))
        patienceForAnswer = PatienceForAnswer(settings.answersWithin)
        limitOfAnswer = LimitOfAnswer(patienceForAnswer)
    }

    private enum RepeatCause {
        /// A wake-up: there may be changes.
        case news
        /// The program has requested a poll.
        case insistence
    }

    // MARK: Subscribers

    /// A subscriber was added, which wants a value.
    mutating func subscribed(_ now: NIODeadline) -> [Action] {
        var actions: [Action] = []
        subscribers += 1
        cachedUntil = nil
        if case .idle = phase { queue(&actions) }
        return settled(actions)
    }

    mutating func unsubscribed(_ now: NIODeadline) -> [Action] {
        subscribers -= 1
        guard subscribers == 0, phase != .ended else { return [] }
        cachedUntil = now + settings.gracePeriod
        isInsistedOn = false
        another = nil
        var actions: [Action] = []
        switch phase {
        case .queued: actions.append(.giveUpTurn)
        case .looking, .confirming: actions.append(.cancelPoll)
        case .idle, .waiting, .failing, .paused, .ended: break
        }
        phase = .idle
        return settled(actions)
    }

    /// Updates whether any subscriber wants a value, and whether there is an undelivered value.
    mutating func wishes(_ isWanted: Bool, hasUndelivered: Bool) -> [Action] {
        self.isWanted = isWanted
        self.hasUndelivered = hasUndelivered
        var actions: [Action] = []
        if case .paused = phase, isWanted || !hasUndelivered { queue(&actions) }
        return settled(actions)
    }

    /// A wake-up by a webhook, a write or the program.
    ///
    /// - Parameter insists: whether to poll even without demand.
    mutating func woken(insists: Bool = false) -> [Action] {
        var actions: [Action] = []
        pause = settings.shortest
        switch phase {
        case .looking, .confirming: another = insists ? .insistence : another ?? .news
        case .queued: isInsistedOn = isInsistedOn || insists
        case .waiting, .failing, .paused:
            isInsistedOn = isInsistedOn || insists
            if phase != .paused || insists { queue(&actions) }
        case .idle, .ended: break
        }
        return settled(actions)
    }

    /// The database was switched to another account. Polls at once if there are subscribers, as if there had been no
    /// poll.
    mutating func begunAnew() -> [Action] {
        guard phase != .ended else { return [] }
        pause = settings.shortest
        backOff.reset()
        failingSince = nil
        refusals = Refusals()
        unconfirmed = nil
        inconsistentPolls = 0
        hasUndelivered = false
        var actions: [Action] = []
        switch phase {
        case .looking, .confirming: actions += [.cancelPoll, .forget]
        case .idle, .queued, .waiting, .failing, .paused, .ended: actions.append(.forget)
        }
        switch phase {
        case .looking, .confirming, .waiting, .failing, .paused: queue(&actions)
        case .idle, .queued, .ended: break
        }
        return settled(actions)
    }

    // MARK: Polls

    mutating func turnCame(_ now: NIODeadline) -> [Action] {
        guard case .queued = phase else { return [] }
        phase = .looking
        if another == .insistence { isInsistedOn = true }
        another = nil
        awaited = nil
        longestWait = .zero
        return settled([.poll])
    }

    /// A call of the poll has got its session, or has ended.
    ///
    /// - Parameter calls: how many of its calls have a session and have not ended.
    mutating func progressed(calls: Int, _ now: NIODeadline) -> [Action] {
        guard isUnderWay else { return [] }
        endWait(now)
        if calls > 0 { awaited = (now, now + limitOfAnswer.limit(patienceForAnswer)) }
        return settled([])
    }

    /// Until when the poll waits for progress by the host; `nil` while it waits for a session.
    var awaitsAnswerUntil: NIODeadline? { awaited?.until }

    /// The time limit, if the host has exceeded it without progress; otherwise `nil`.
    func overdue(_ now: NIODeadline) -> TimeAmount? {
        guard isUnderWay, let awaited, awaited.until <= now else { return nil }
        return awaited.until - awaited.since
    }

    private var isUnderWay: Bool {
        switch phase {
        case .looking, .confirming: true
        case .idle, .queued, .waiting, .failing, .paused, .ended: false
        }
    }

    private mutating func endWait(_ now: NIODeadline) {
        // If the clock was set back, the difference means nothing.
        if let awaited { longestWait = max(longestWait, now - awaited.since) }
        awaited = nil
    }

    mutating func polled(_ outcome: Outcome, _ now: NIODeadline, jitter: Double) -> [Action] {
        guard case .looking = phase else { return [] }
        var actions: [Action] = []
        endWait(now)
        isFill = outcome.isFill
        // The host answers again, so failures are over.
        failingSince = nil
        refusals = Refusals()
        backOff.reset()
        let work = outcome.work
        if outcome.isInconsistent {
            inconsistentPolls += 1
            if inconsistentPolls < 3 {
                actions.append(.dismiss)
                queue(&actions)
            } else {
                // A table that changes all the time must not be polled without pauses: accept the findings.
                confirmInconsistent(outcome, now, jitter, &actions)
            }
            return settled(actions)
        }
        inconsistentPolls = 0
        guard !outcome.missing.isEmpty else {
            unconfirmed = nil
            accept(removing: [], hasChanges: outcome.hasChanges, after: work, now, jitter, &actions)
            return settled(actions)
        }
        let isPlausible = outcome.missing.count < outcome.held && !outcome.isShort
        if outcome.missing.count <= settings.singles, isPlausible {
            phase = .confirming
            actions.append(.confirm(outcome.missing))
        } else if let unconfirmed {
            let open = Set(outcome.missing).subtracting(unconfirmed)
            self.unconfirmed = open.isEmpty ? nil : open
            if !open.isEmpty { another = another ?? .news }
            let gone = outcome.missing.filter(unconfirmed.contains)
            accept(removing: gone, hasChanges: true, after: work, now, jitter, &actions)
        } else {
            unconfirmed = Set(outcome.missing)
            actions.append(.dismiss)
            queue(&actions)
        }
        return settled(actions)
    }

    /// Most of the records that an inconsistent poll has not found may just have moved between its pages. Asks for some
    /// of them, for other ones in each poll.
    private mutating func confirmInconsistent(
        _ outcome: Outcome,
        _ now: NIODeadline,
        _ jitter: Double,
        _ actions: inout [Action]
    ) {
        let (missing, count) = (outcome.missing, outcome.missing.count)
        guard count > 0 else {
            inconsistentPolls = 0
            return accept(removing: [], after: outcome.work, now, jitter, &actions)
        }
        let first = Int(jitter * Double(count)) % count
        phase = .confirming
        actions.append(.confirm((0..<min(count, settings.singles)).map { missing[(first + $0) % count] }))
    }

    /// - Parameters:
    ///   - deleted: the requested records that no longer exist.
    ///   - left: the requested records that exist. The query does not find them any more, unless the poll was
    ///     inconsistent.
    ///   - work: how long the host has worked for the poll, these requests included.
    mutating func confirmed(
        deleted: [Int],
        left: [Int],
        work: TimeAmount,
        _ now: NIODeadline,
        jitter: Double
    ) -> [Action] {
        guard case .confirming = phase else { return [] }
        var actions: [Action] = []
        endWait(now)
        unconfirmed = nil
        if inconsistentPolls > 0 {
            inconsistentPolls = 0
            accept(removing: deleted, after: work, now, jitter, &actions)
        } else {
            accept(removing: deleted + left, hasChanges: true, after: work, now, jitter, &actions)
        }
        return settled(actions)
    }

    mutating func failed(_ failure: Failure, _ now: NIODeadline, jitter: Double) -> [Action] {
        guard isUnderWay else { return [] }
        awaited = nil
        // Records missing from the next poll may be missing for another reason, so the unconfirmed removals no longer
        // count.
        unconfirmed = nil
        if failure == .silence { patienceForAnswer.wasTooShort() }
        let since = failingSince ?? now
        failingSince = since
        let isImpatient = settings.retryTimeout.map { now - since >= $0 } ?? false
        let hasHeld = refusals.failed(failure == .refusal, now, givesUpAfter: settings.givesUpAfter)
        if failure == .final || hasHeld || isImpatient {
            phase = .ended
            return settled([.dismiss, .fail])
        }
        var actions = [Action.dismiss]
        switch another {
        // The program asked during this poll and may know that the next one will succeed: poll again at once.
        case .insistence?: queue(&actions)
        case .news?: phase = .failing(until: now + backOff.least(jitter: jitter))
        case nil: phase = .failing(until: now + backOff.next(jitter: jitter))
        }
        return settled(actions)
    }

    // MARK: Time

    mutating func alarmRang(_ now: NIODeadline, jitter: Double) -> [Action] {
        alarm = nil
        if overdue(now) != nil {
            limitOfAnswer.wasTooShort(patienceForAnswer)
            return [.cancelPoll] + failed(.silence, now, jitter: jitter)
        }
        var actions: [Action] = []
        switch phase {
        case .waiting(let until) where until <= now, .failing(let until) where until <= now: queue(&actions)
        case .idle:
            if let end = cachedUntil, end <= now, subscribers == 0 {
                cachedUntil = nil
                actions.append(.drop)
            }
        default: break
        }
        return settled(actions)
    }

    // MARK: Parts

    private mutating func queue(_ actions: inout [Action]) {
        if !isWanted, hasUndelivered, !isInsistedOn, another != .insistence {
            phase = .paused
        } else {
            phase = .queued
            actions.append(.takeTurn)
        }
    }

    /// - Parameter hasChanges: whether the poll has found changes; `nil` when that is unknown.
    private mutating func accept(
        removing gone: [Int],
        hasChanges: Bool? = nil,
        after work: TimeAmount,
        _ now: NIODeadline,
        _ jitter: Double,
        _ actions: inout [Action]
    ) {
        actions.append(.accept(removing: gone))
        patienceForAnswer.wasEnough(for: work)
        limitOfAnswer.wasEnough(for: longestWait)
        isInsistedOn = false
        if another != nil { queue(&actions) } else { wait(after: work, now, jitter, hasChanges, &actions) }
    }

    private mutating func wait(
        after work: TimeAmount,
        _ now: NIODeadline,
        _ jitter: Double,
        _ hasChanges: Bool?,
        _ actions: inout [Action]
    ) {
        switch hasChanges {
        case true?: pause = settings.shortest
        case false?: pause = min(settings.longest, .nanoseconds(pause.nanoseconds / 2 * 3))
        case nil: break
        }
        // Limited to an hour, as a poll that seems to have taken hours has met a clock change.
        let longest = Double(TimeAmount.hours(1).nanoseconds)
        let wanted = isFill ? 0 : min(longest, Double(work.nanoseconds) * settings.restFactor)
        let rest = TimeAmount.nanoseconds(Int64(wanted))
        if rest > settings.longest, !hasToldOfRest {
            hasToldOfRest = true
            actions.append(.tellOfRest(rest))
        }
        let whole = max(hasChanges == false ? pause : settings.shortest, min(rest, backOff.maximum))
        // Plus or minus a tenth, so that many queries do not poll at the same time.
        let varied = Double(whole.nanoseconds) * (0.9 + 0.2 * jitter)
        phase = .waiting(until: now + .nanoseconds(Int64(varied)))
    }

    /// Adds the setting or the calling off of the alarm, as the phase requires.
    private mutating func settled(_ actions: [Action]) -> [Action] {
        let due: NIODeadline? =
            switch phase {
            case .waiting(let until), .failing(let until): until
            case .looking, .confirming: awaited?.until
            case .idle: cachedUntil
            case .queued, .paused, .ended: nil
            }
        guard due != alarm else { return actions }
        alarm = due
        return actions + [due.map(Action.setAlarm) ?? .callOffAlarm]
    }
}

/// How long the host has been answering that the query cannot be answered.
private struct Refusals {
    /// The sum of the times between each refusal and the failure after it. While the host cannot be reached it refuses
    /// nothing, so the time after another kind of failure does not count.
    private var held = TimeAmount.zero
    private var last: NIODeadline?

    /// Adds a failure. Returns whether it is a refusal that has lasted long enough; a single refusal is never enough,
    /// whatever the limit.
    mutating func failed(_ isRefusal: Bool, _ now: NIODeadline, givesUpAfter limit: TimeAmount) -> Bool {
        if let last { held = held + max(.zero, now - last) }
        last = isRefusal ? now : nil
        return isRefusal && held > .zero && held >= limit
    }
}

/// How long a poll waits for the first byte of an answer: less than the program's calls do, since a poll can be
/// repeated and a waiting query delivers nothing. A host that needs longer gets more time.
struct PatienceForAnswer: Equatable {
    let least: TimeAmount
    let most: TimeAmount
    private(set) var limit: TimeAmount

    /// - Parameter program: how long the program's calls wait, which is the upper bound; `nil` for ever, where the
    ///   upper bound is an hour.
    init(_ program: TimeAmount?) {
        most = program ?? .hours(1)
        least = program.map { .nanoseconds($0.nanoseconds / 12) } ?? .seconds(10)
        limit = least
    }

    mutating func wasTooShort() {
        // Compared before doubling, which would overflow if there is practically no limit.
        limit = limit.nanoseconds < most.nanoseconds / 2 ? .nanoseconds(2 * limit.nanoseconds) : most
    }

    /// - Parameter work: how long the host worked for the whole poll, and so at least as long as for one answer.
    mutating func wasEnough(for work: TimeAmount) {
        guard work.nanoseconds < most.nanoseconds / 4 else { return }
        limit = min(limit, max(least, .nanoseconds(work.nanoseconds * 4)))
    }
}

/// How long one call of a poll may take from getting its session to the end of its answer: three times the limit for
/// the first byte, or four times the slowest answer of the last accepted poll if that is longer. Each call of a poll
/// has this time, so a poll that makes progress is never cut off; one that stands still is.
private struct LimitOfAnswer {
    private let least: TimeAmount
    private var limit: TimeAmount
    /// Even over slow connections nothing takes a day.
    private static let most = TimeAmount.hours(24)

    init(_ retryTimeout: PatienceForAnswer) {
        least = Self.times(3, retryTimeout.least)
        limit = least
    }

    func limit(_ retryTimeout: PatienceForAnswer) -> TimeAmount { max(limit, Self.times(3, retryTimeout.limit)) }

    mutating func wasTooShort(_ retryTimeout: PatienceForAnswer) { limit = Self.times(2, limit(retryTimeout)) }

    mutating func wasEnough(for wait: TimeAmount) { limit = max(least, Self.times(4, wait)) }

    private static func times(_ count: Int64, _ amount: TimeAmount) -> TimeAmount {
        amount.nanoseconds < most.nanoseconds / count ? .nanoseconds(count * amount.nanoseconds) : most
    }
}
