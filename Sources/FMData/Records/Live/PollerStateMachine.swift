import NIOCore

/// When a live query looks, and what the end of a look means: events in, actions out; time and chance come from outside.
///
///     idle → queued → looking → (confirming →) waiting → queued …
///                        ↘ failing → queued
///
/// Two looks never overlap. Whoever wakes it while it looks gets another look after this one.
struct PollerStateMachine {
    struct Settings: Equatable {
        var shortest: TimeAmount
        var longest: TimeAmount
        var linger: TimeAmount
        var patience: TimeAmount?
        /// How long calls of the program wait for the first byte of an answer; `nil` for ever.
        var answersWithin: TimeAmount?
        /// How long the host must go on saying that the query cannot be answered.
        var givesUpAfter: TimeAmount
        /// The most records that are asked for one by one to confirm that they are gone.
        var singles = 20
        /// A pause is at least so many times as long as the host has worked for the look before it.
        var restFactor = 10.0
    }

    enum Phase: Equatable {
        case idle
        /// It has asked the budget for a turn.
        case queued
        case looking
        /// Records that a look has not found are asked for one by one.
        case confirming
        case waiting(until: NIODeadline)
        case failing(until: NIODeadline)
        /// Nobody wants values, and there is one that nobody has taken.
        case paused
        case ended
    }

    enum Action: Equatable {
        case takeTurn
        case giveUpTurn
        case look
        case cancelLook
        /// Ask for these one by one.
        case confirm([Int])
        /// What the look has found holds, and of what it has not found these are gone; others stay until another look.
        case accept(removing: [Int])
        /// What the look has found is of no use.
        case dismiss
        /// What is known was seen by another account, and is forgotten.
        case forget
        case setAlarm(NIODeadline)
        case callOffAlarm
        /// The host works so long for a look that pauses are longer than they were to be.
        case tellOfRest(TimeAmount)
        /// The query has failed for good.
        case fail
        /// Nobody has come back: what is kept can be dropped.
        case drop
    }

    /// What a look has come to, beside its records.
    struct Outcome: Equatable {
        /// Held records that it has not found.
        var missing: [Int] = []
        /// How many are held.
        var held = 0
        /// Whether anything has changed beside those.
        var hasChanges = false
        /// Whether the table changed while it was being read, so that absence proves nothing.
        var isTorn = false
        /// Whether fewer records came than the host had counted, so that absence needs a second look.
        var isShort = false
        /// How long the host has worked: not how long the look has waited for a session.
        var work = TimeAmount.zero
    }

    /// Why a look failed.
    enum Failure: Equatable {
        /// It may work later.
        case passing
        /// No answer came in time.
        case silence
        /// The host says that the query cannot be answered. Somebody may be working on the file or on what stands before the
        /// host, so that it is believed when it has been said for some time.
        case refusal
        case final
    }

    let settings: Settings
    private(set) var phase = Phase.idle
    private(set) var failingSince: NIODeadline?
    private var subscribers = 0
    private var isWanted = false
    private var hasUndelivered = false
    /// Whether the program has asked for the look that is due or under way: it comes though nobody wants a value, again and again
    /// until one is of use.
    private var isInsistedOn = false
    /// Who wants another look after this one.
    private var another: Another?
    private var pause: TimeAmount
    private var backOff = BackOff(minimum: .seconds(1), maximum: .seconds(300))
    /// How long the first byte of an answer is waited for.
    private(set) var patienceForAnswer: PatienceForAnswer
    /// How long the whole of one is.
    private var limitOfAnswer: LimitOfAnswer
    /// Since when calls of the look that is under way are with the host and nothing has come, and how long that may last; `nil` while
    /// it waits for a session.
    private var awaited: (since: NIODeadline, until: NIODeadline)?
    /// The longest time that the look has waited for the host to do something.
    private var longestWait = TimeAmount.zero
    private var refusals = Refusals()
    private var hasToldOfRest = false
    /// What the complete look before has not found.
    private var suspects: Set<Int>?
    private var lingersUntil: NIODeadline?
    /// Torn looks in a row.
    private var torn = 0
    /// What the alarm is set for.
    private var alarm: NIODeadline?

    init(_ settings: Settings) {
        self.settings = settings
        pause = settings.shortest
        patienceForAnswer = PatienceForAnswer(settings.answersWithin)
        limitOfAnswer = LimitOfAnswer(patienceForAnswer)
    }

    private enum Another {
        /// Somebody who knows that there may be news.
        case news
        /// The program.
        case insistence
    }

    // MARK: Subscribers

    /// Somebody listens, and wants a value.
    mutating func subscribed(_ now: NIODeadline) -> [Action] {
        var actions: [Action] = []
        subscribers += 1
        lingersUntil = nil
        if case .idle = phase { queue(&actions) }
        return settled(actions)
    }

    mutating func unsubscribed(_ now: NIODeadline) -> [Action] {
        subscribers -= 1
        guard subscribers == 0, phase != .ended else { return [] }
        lingersUntil = now + settings.linger
        isInsistedOn = false
        another = nil
        var actions: [Action] = []
        switch phase {
        case .queued: actions.append(.giveUpTurn)
        case .looking, .confirming: actions.append(.cancelLook)
        case .idle, .waiting, .failing, .paused, .ended: break
        }
        phase = .idle
        return settled(actions)
    }

    /// Whether anybody wants a value, and whether there is one that somebody has not taken.
    mutating func wishes(_ isWanted: Bool, hasUndelivered: Bool) -> [Action] {
        self.isWanted = isWanted
        self.hasUndelivered = hasUndelivered
        var actions: [Action] = []
        if case .paused = phase, isWanted || !hasUndelivered { queue(&actions) }
        return settled(actions)
    }

    /// Something says that there is news: a webhook, a write, the program.
    ///
    /// - Parameter insists: whether it is to look although nobody wants a value at the moment.
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

    /// Another account looks from now on: at once, if anybody listens, and as if there had been no look.
    mutating func begunAnew() -> [Action] {
        guard phase != .ended else { return [] }
        pause = settings.shortest
        backOff.reset()
        failingSince = nil
        refusals = Refusals()
        suspects = nil
        torn = 0
        hasUndelivered = false
        var actions: [Action] = []
        switch phase {
        case .looking, .confirming: actions += [.cancelLook, .forget]
        case .idle, .queued, .waiting, .failing, .paused, .ended: actions.append(.forget)
        }
        switch phase {
        case .looking, .confirming, .waiting, .failing, .paused: queue(&actions)
        case .idle, .queued, .ended: break
        }
        return settled(actions)
    }

    // MARK: Looks

    mutating func turnCame(_ now: NIODeadline) -> [Action] {
        guard case .queued = phase else { return [] }
        phase = .looking
        if another == .insistence { isInsistedOn = true }
        another = nil
        awaited = nil
        longestWait = .zero
        return settled([.look])
    }

    /// A call of the look has its session, or its answer, whichever that is.
    ///
    /// - Parameter calls: of the look, that are with the host now.
    mutating func progressed(calls: Int, _ now: NIODeadline) -> [Action] {
        guard isUnderWay else { return [] }
        endWait(now)
        if calls > 0 { awaited = (now, now + limitOfAnswer.limit(patienceForAnswer)) }
        return settled([])
    }

    /// Until when the look waits for the host to do something; `nil` while it waits for a session.
    var awaitsAnswerUntil: NIODeadline? { awaited?.until }

    /// How long the host has had to answer one call of the look, and has not done so.
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
        // A clock that was set back says nothing.
        if let awaited { longestWait = max(longestWait, now - awaited.since) }
        awaited = nil
    }

    mutating func looked(_ outcome: Outcome, _ now: NIODeadline, jitter: Double) -> [Action] {
        guard case .looking = phase else { return [] }
        var actions: [Action] = []
        endWait(now)
        // The host answers.
        failingSince = nil
        refusals = Refusals()
        backOff.reset()
        let work = outcome.work
        if outcome.isTorn {
            torn += 1
            if torn < 3 {
                actions.append(.dismiss)
                queue(&actions)
            } else {
                // A table that never stands still is not looked at without a pause, and what is there holds.
                confirmTorn(outcome, now, jitter, &actions)
            }
            return settled(actions)
        }
        torn = 0
        guard !outcome.missing.isEmpty else {
            suspects = nil
            accept(removing: [], hasChanges: outcome.hasChanges, after: work, now, jitter, &actions)
            return settled(actions)
        }
        let isPlausible = outcome.missing.count < outcome.held && !outcome.isShort
        if outcome.missing.count <= settings.singles, isPlausible {
            phase = .confirming
            actions.append(.confirm(outcome.missing))
        } else if let suspects {
            let open = Set(outcome.missing).subtracting(suspects)
            self.suspects = open.isEmpty ? nil : open
            if !open.isEmpty { another = another ?? .news }
            let gone = outcome.missing.filter(suspects.contains)
            accept(removing: gone, hasChanges: true, after: work, now, jitter, &actions)
        } else {
            suspects = Set(outcome.missing)
            actions.append(.dismiss)
            queue(&actions)
        }
        return settled(actions)
    }

    /// Of what a torn look has not found most may have moved between its pages; some are asked for, other ones each time.
    private mutating func confirmTorn(
        _ outcome: Outcome,
        _ now: NIODeadline,
        _ jitter: Double,
        _ actions: inout [Action]
    ) {
        let (missing, count) = (outcome.missing, outcome.missing.count)
        guard count > 0 else {
            torn = 0
            return accept(removing: [], after: outcome.work, now, jitter, &actions)
        }
        let first = Int(jitter * Double(count)) % count
        phase = .confirming
        actions.append(.confirm((0..<min(count, settings.singles)).map { missing[(first + $0) % count] }))
    }

    /// - Parameters:
    ///   - deleted: those that are not there any more, of those asked for.
    ///   - left: those that are: they are not the query's any more, unless the look was torn.
    ///   - work: how long the host has worked for the look, this included.
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
        suspects = nil
        if torn > 0 {
            torn = 0
            accept(removing: deleted, after: work, now, jitter, &actions)
        } else {
            accept(removing: deleted + left, hasChanges: true, after: work, now, jitter, &actions)
        }
        return settled(actions)
    }

    mutating func failed(_ failure: Failure, _ now: NIODeadline, jitter: Double) -> [Action] {
        guard isUnderWay else { return [] }
        awaited = nil
        // What was missing before may be missing for another reason now.
        suspects = nil
        if failure == .silence { patienceForAnswer.wasTooShort() }
        let since = failingSince ?? now
        failingSince = since
        let isImpatient = settings.patience.map { now - since >= $0 } ?? false
        let hasHeld = refusals.failed(failure == .refusal, now, givesUpAfter: settings.givesUpAfter)
        if failure == .final || hasHeld || isImpatient {
            phase = .ended
            return settled([.dismiss, .fail])
        }
        var actions = [Action.dismiss]
        switch another {
        // Who asks by now may know more than the host did when the look began.
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
            return [.cancelLook] + failed(.silence, now, jitter: jitter)
        }
        var actions: [Action] = []
        switch phase {
        case .waiting(let until) where until <= now, .failing(let until) where until <= now: queue(&actions)
        case .idle:
            if let end = lingersUntil, end <= now, subscribers == 0 {
                lingersUntil = nil
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

    /// - Parameter hasChanges: whether the look has brought anything; `nil` when that cannot be told.
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
        // A look that seems to have taken hours has met a clock that was set.
        let longest = Double(TimeAmount.hours(1).nanoseconds)
        let rest = TimeAmount.nanoseconds(Int64(min(longest, Double(work.nanoseconds) * settings.restFactor)))
        if rest > settings.longest, !hasToldOfRest {
            hasToldOfRest = true
            actions.append(.tellOfRest(rest))
        }
        let whole = max(hasChanges == false ? pause : settings.shortest, rest)
        // A tenth more or less, so that many queries do not come together.
        let varied = Double(whole.nanoseconds) * (0.9 + 0.2 * jitter)
        phase = .waiting(until: now + .nanoseconds(Int64(varied)))
    }

    /// The actions, and the alarm that goes with the state.
    private mutating func settled(_ actions: [Action]) -> [Action] {
        let due: NIODeadline? =
            switch phase {
            case .waiting(let until), .failing(let until): until
            case .looking, .confirming: awaited?.until
            case .idle: lingersUntil
            case .queued, .paused, .ended: nil
            }
        guard due != alarm else { return actions }
        alarm = due
        return actions + [due.map(Action.setAlarm) ?? .callOffAlarm]
    }
}

/// For how long the host has said that the query cannot be answered.
private struct Refusals {
    /// What lies between a refusal and the failure after it, all together. While nobody can ask the host it says nothing, so that what
    /// follows another failure does not count.
    private var held = TimeAmount.zero
    private var last: NIODeadline?

    /// Returns whether it has said so once more, and for long enough: one word of it is never enough, whatever the limit.
    mutating func failed(_ isRefusal: Bool, _ now: NIODeadline, givesUpAfter limit: TimeAmount) -> Bool {
        if let last { held = held + max(.zero, now - last) }
        last = isRefusal ? now : nil
        return isRefusal && held > .zero && held >= limit
    }
}

/// How long a look waits for the first byte of an answer: shorter than calls of the program, since it can be repeated and a query
/// that waits tells nothing. A host that needs longer gets longer.
struct PatienceForAnswer: Equatable {
    let least: TimeAmount
    let most: TimeAmount
    private(set) var limit: TimeAmount

    /// - Parameter program: how long calls of the program wait, which is the most; `nil` for ever, of which a look takes an hour.
    init(_ program: TimeAmount?) {
        most = program ?? .hours(1)
        least = program.map { .nanoseconds($0.nanoseconds / 12) } ?? .seconds(10)
        limit = least
    }

    mutating func wasTooShort() {
        // Twice as much is no number where there is next to no limit.
        limit = limit.nanoseconds < most.nanoseconds / 2 ? .nanoseconds(2 * limit.nanoseconds) : most
    }

    /// - Parameter work: of the host for a whole look, which is at least that for one answer.
    mutating func wasEnough(for work: TimeAmount) {
        guard work.nanoseconds < most.nanoseconds / 4 else { return }
        limit = min(limit, max(least, .nanoseconds(work.nanoseconds * 4)))
    }
}

/// How long one call of a look may take from its session to the end of its answer: three times as long as its first byte, and four
/// times as long as the slowest answer of the last look that was of use. A look of any number of calls has that for each of them, so
/// that one which goes on is never cut; one that stands still is.
private struct LimitOfAnswer {
    private let least: TimeAmount
    private var limit: TimeAmount
    /// Connections may be slow, and nothing takes a day.
    private static let most = TimeAmount.hours(24)

    init(_ patience: PatienceForAnswer) {
        least = Self.times(3, patience.least)
        limit = least
    }

    func limit(_ patience: PatienceForAnswer) -> TimeAmount { max(limit, Self.times(3, patience.limit)) }

    mutating func wasTooShort(_ patience: PatienceForAnswer) { limit = Self.times(2, limit(patience)) }

    mutating func wasEnough(for wait: TimeAmount) { limit = max(least, Self.times(4, wait)) }

    private static func times(_ count: Int64, _ amount: TimeAmount) -> TimeAmount {
        amount.nanoseconds < most.nanoseconds / count ? .nanoseconds(count * amount.nanoseconds) : most
    }
}
