import CustomDump
import FMData
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataCore

/// The state machine against a model of its shell and its server: thousands of events in random order, with the rules
/// checked after each. A failure names its seed.
@Suite struct SessionRandomWalkTests {
    @Test(arguments: 1...UInt64(Effort.of(60, brief: 4)))
    func everyRuleHoldsAfterEveryEvent(seed: UInt64) {
        var model = SessionModel(seed: seed)
        for _ in 0..<1500 { model.step() }
        model.end()
    }
}

private struct SessionModel {
    private typealias Machine = SessionPoolStateMachine

    private let seed: UInt64
    private var random: SeededRandom
    private var machine: Machine
    private var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private var waiting: Set<LeaseID> = []
    private var pinned: Set<LeaseID> = []
    private var leases: [LeaseID: Machine.Grant] = [:]
    private var loads: Set<SessionID> = []
    private var logIns: Set<SessionID> = []
    /// Cancelled logins, which the server may answer all the same.
    private var strays: Set<SessionID> = []
    private var visits: Set<SessionID> = []
    private var logOuts: Set<SessionID> = []
    private var goodbyes: [SessionID: TokenEpoch] = [:]
    private var endings: Set<Int> = []
    private var alarm: NIODeadline?
    private var retryEnd: [LeaseID: NIODeadline] = [:]
    private var shown: TokenEpoch?

    /// The tokens that the shell holds, that the server knows, and whose sessions the pool need not log out.
    private var tokens: Set<TokenEpoch> = []
    private var live: Set<TokenEpoch> = []
    private var leftOpen: Set<TokenEpoch> = []
    /// The tokens of sessions whose logout was given up or may have failed.
    private var lost: Set<TokenEpoch> = []
    private var storeHasToken = false
    /// Slots that are being taken, that are held, and tokens that are taken out of them.
    private var takes: Set<SessionID> = []
    private var slots: Set<SessionID> = []
    private var drops: Set<SessionID> = []
    private var inSlot: [SessionID: TokenEpoch] = [:]
    /// Puts that have not been answered.
    private var puts: [SessionID: TokenEpoch] = [:]
    private var hasAdopted = false
    private var logins = 0

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        var settings = Machine.Settings()
        settings.maximumSessions = Int.random(in: 1...5, using: &random)
        settings.maximumWaiting = Int.random(in: 5...40, using: &random)
        settings.hasStore = Bool.random(using: &random)
        settings.hasBudget = seed.isMultiple(of: 3)
        if settings.hasBudget { settings.hasStore = false }
        settings.loginAttempts = Int.random(in: 1...3, using: &random)
        settings.abandonedTime = Bool.random(using: &random) ? .zero : .seconds(5)
        machine = Machine(settings: settings)
        self.random = random
    }

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: request()
        case 30..<36: if let lease = pick(waiting) { withdraw(lease) }
        case 36..<60: if let lease = pick(Set(leases.keys)) { release(lease) }
        case 60..<74: if let id = pick(logIns) { endLogin(id) }
        case 74..<78:
            if let id = pick(loads) { endLoad(id) }
            if let id = pick(takes) { endTake(id) }
            if let id = pick(drops) { endDrop(id) }
            if let id = pick(Set(puts.keys)) { endPut(id) }
        case 78..<86: if let id = pick(logOuts) { endLogOut(id) }
        case 86..<88: if let id = pick(strays) { endStray(id) }
        case 88..<96: pass(.milliseconds(Int64.random(in: 0...30_000, using: &random)))
        case 95 where machine.settings.hasBudget: changeSlot()
        case 96: live.subtract(Bool.random(using: &random) ? live : [])
        case 97:
            let (id, actions) = machine.logOut(now: now)
            endings.insert(id.number)
            obey(actions)
        case 98:
            let (hasStore, hasBudget) = (machine.settings.hasStore, machine.settings.hasBudget)
            obey(machine.credentialsReplaced(hasStore: hasStore, hasBudget: hasBudget, now: now))
        default:
            switch Int.random(in: 0..<10, using: &random) {
            case 0: adopt()
            case 1..<4: if let grant = pick(leases) { obey(machine.confine(to: grant.token, now: now)) }
            case 4: obey(machine.storeRefused(pick(tokens) ?? TokenEpoch(tick: 1), now: now))
            case 5..<7: logInExternally()
            case 7: if let id = pick(visits) { obey(machine.abandonVisit(id, now: now)) }
            case 8: if let id = pick(visits) { endVisit(id) }
            default: break
            }
        }
        check()
    }

    /// Shuts down, answers whatever is open, and checks that nothing is left.
    mutating func end() {
        let (id, actions) = machine.shutdown(now: now)
        endings.insert(id.number)
        obey(actions)
        rule(waiting.isEmpty, "a shutdown leaves nobody waiting")
        var rounds = 0
        while !machine.sessions.isEmpty || !strays.isEmpty || !visits.isEmpty || !takes.isEmpty, rounds < 100 {
            rounds += 1
            for lease in leases.keys.sorted() { release(lease) }
            for id in loads.sorted() { endLoad(id) }
            for id in takes.sorted() { endTake(id) }
            for id in drops.sorted() { endDrop(id) }
            for id in logIns.sorted() { endLogin(id) }
            for id in strays.sorted() { endStray(id) }
            for id in visits.sorted() { endVisit(id) }
            // Some logouts wait for another attempt.
            if logOuts.isEmpty, !machine.sessions.isEmpty { pass(.seconds(1)) }
            for id in logOuts.sorted() { endLogOut(id) }
            check()
        }
        rule(machine.sessions.isEmpty, "every session ends: \(machine.sessions)")
        let left = live.subtracting(leftOpen)
        rule(left.isSubset(of: lost), "no session is left on the server: \(left)")
        rule(machine.totals.sessionsLeft >= left.count, "sessions that are left are counted")
        rule(tokens.isEmpty, "no token is left: \(tokens)")
        rule(endings.isEmpty, "every end is reported")
        rule(slots.isEmpty, "every slot is given back: \(slots)")
        rule(alarm == nil, "no alarm is left")
        rule(machine.totals.logins == logins, "logins are counted")
    }

    // MARK: Events

    private mutating func request() {
        let purposes: [LeasePurpose] = [.request, .request, .request, .replay, .pinned]
        let purpose = purposes.randomElement(using: &random) ?? .request
        let giveUpTime: TimeAmount? =
            Int.random(in: 0..<3, using: &random) == 0
            ? .milliseconds(Int64.random(in: 0...40_000, using: &random)) : nil
        let (answer, actions) = machine.request(purpose, until: giveUpTime.map { now + $0 }, now: now)
        switch answer {
        case .granted(let grant):
            if purpose == .pinned { pinned.insert(grant.lease) }
            take(grant)
        case .waiting(let id):
            if purpose == .pinned { pinned.insert(id) }
            waiting.insert(id)
            retryEnd[id] = giveUpTime.map { now + $0 }
        case .refused:
            break
        }
        obey(actions)
    }

    private mutating func withdraw(_ lease: LeaseID) {
        waiting.remove(lease)
        obey(machine.withdraw(lease, now: now))
    }

    private mutating func release(_ lease: LeaseID) {
        guard let grant = leases.removeValue(forKey: lease) else { return }
        var outcome: SessionOutcome =
            [.used, .used, .used, .used, .unused, .hostFull, .retired, .broken]
            .randomElement(using: &random) ?? .used
        if !live.contains(grant.token), outcome != .unused { outcome = .refused }
        let jitter = Double.random(in: 0...1, using: &random)
        obey(machine.release(lease, of: grant.session, outcome, jitter: jitter, now: now))
        // A second release has no effect, even with another outcome.
        let again = machine.release(lease, of: grant.session, .refused, jitter: 0, now: now)
        rule(again.isEmpty, "a second release has no effect: \(again)")
    }

    private mutating func endLogin(_ id: SessionID) {
        logIns.remove(id)
        let jitter = Double.random(in: 0...1, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: obey(machine.loginFailed(id, .credentialsRefused, jitter: jitter, now: now))
        case 1: obey(machine.loginFailed(id, .hostFull, jitter: jitter, now: now))
        case 2: obey(machine.loginFailed(id, .other, jitter: jitter, now: now))
        case 3, 4: obey(machine.loginFailed(id, .passing, jitter: jitter, now: now))
        default: succeed(id)
        }
    }

    private mutating func endStray(_ id: SessionID) {
        strays.remove(id)
        if Bool.random(using: &random) {
            succeed(id)
        } else {
            obey(machine.loginFailed(id, .other, jitter: 0, now: now))
        }
    }

    private mutating func succeed(_ id: SessionID) {
        logins += 1
        let (token, actions) = machine.loginSucceeded(id, now: now)
        tokens.insert(token)
        live.insert(token)
        obey(actions)
    }

    private mutating func endLoad(_ id: SessionID) {
        loads.remove(id)
        let (token, actions) = machine.loaded(id, found: storeHasToken, now: now)
        if let token {
            rule(storeHasToken, "a token comes from somewhere")
            tokens.insert(token)
            // The server may have ended the stored session meanwhile.
            if Bool.random(using: &random) { live.insert(token) }
        }
        obey(actions)
    }

    private mutating func endTake(_ id: SessionID) {
        takes.remove(id)
        if Int.random(in: 0..<8, using: &random) == 0 {
            return obey(machine.loginFailed(id, .other, jitter: 0, now: now))
        }
        slots.insert(id)
        let (token, actions) = machine.slotGranted(
            id,
            hasToken: Bool.random(using: &random),
            isPrivate: Int.random(in: 0..<10, using: &random) == 0,
            waiting: Int.random(in: 0...1, using: &random),
            now: now
        )
        if let token {
            tokens.insert(token)
            if Bool.random(using: &random) { live.insert(token) }
            // A session that is wanted no more has been given back already, with its token.
            if machine.sessions.first(where: { $0.token == token })?.owner != .pool { inSlot[id] = token }
        }
        obey(actions)
    }

    private mutating func endDrop(_ id: SessionID) {
        drops.remove(id)
        let isHeld = Int.random(in: 0..<5, using: &random) > 0
        if !isHeld { slots.remove(id) }
        obey(machine.emptied(id, isHeld: isHeld, now: now))
    }

    private mutating func endPut(_ id: SessionID) {
        guard let token = puts.removeValue(forKey: id) else { return }
        guard Int.random(in: 0..<4, using: &random) == 0 else { return obey(machine.putDone(id, token, now: now)) }
        let hasSlot = slots.contains(id)
        obey(machine.putRefused(id, token, now: now))
        if hasSlot, !machine.sessions.contains(where: { $0.id == id && $0.slot != nil }) { slots.remove(id) }
    }

    private mutating func changeSlot() {
        guard let id = pick(slots.union(takes)) else { return }
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where slots.contains(id):
            slots.remove(id)
            drops.remove(id)
            let isPutting = puts.removeValue(forKey: id) != nil
            // Whatever is in the slot belongs to somebody else.
            if !isPutting, let session = machine.sessions.first(where: { $0.id == id }), session.owner == .slot {
                leftOpen.insert(session.token)
            }
            obey(machine.slotLost(id, now: now))
        case 1: obey(machine.slotForgotten(id, now: now))
        default: obey(machine.recalled(id, now: now))
        }
    }

    private mutating func endLogOut(_ id: SessionID) {
        logOuts.remove(id)
        guard let token = goodbyes[id] else { return rule(false, "a logout has a token") }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            if machine.sessions.contains(where: { $0.id == id }) { lost.insert(token) }
            obey(machine.logOutFailed(id, isPassing: Bool.random(using: &random), jitter: 1, now: now))
        default:
            live.remove(token)
            obey(machine.logOutFinished(id, now: now))
        }
    }

    private mutating func logInExternally() {
        let (id, actions) = machine.logInExternally(now: now)
        if let id { visits.insert(id) }
        hasAdopted = true
        obey(actions)
    }

    private mutating func endVisit(_ id: SessionID) {
        visits.remove(id)
        if Bool.random(using: &random) { return obey(machine.visitFailed(id, now: now)) }
        let (token, _, actions) = machine.adopt(isOwned: true, from: id, now: now)
        tokens.insert(token)
        live.insert(token)
        obey(actions)
    }

    private mutating func adopt() {
        hasAdopted = true
        let isOwned = Bool.random(using: &random)
        let (token, _, actions) = machine.adopt(isOwned: isOwned, now: now)
        tokens.insert(token)
        live.insert(token)
        if !isOwned { leftOpen.insert(token) }
        obey(actions)
    }

    private mutating func pass(_ amount: TimeAmount) {
        let end = now + amount
        var rings = 0
        while let alarm, alarm <= end {
            rings += 1
            guard rings < 1000 else { return rule(false, "an alarm rings for ever") }
            now = max(now, alarm)
            self.alarm = nil
            obey(machine.wakeUp(now: now))
        }
        now = end
    }

    // MARK: Actions

    private mutating func obey(_ actions: [Machine.Action]) {
        for action in actions {
            switch action {
            case .grant(let grant):
                rule(waiting.remove(grant.lease) != nil, "only who waits is served: \(grant.lease)")
                take(grant)
            case .refuse(let lease, let refusal):
                rule(waiting.remove(lease) != nil, "only who waits is refused: \(lease)")
                let isOwnLimit = refusal == .callDeadlinePassed
                rule(!isOwnLimit || retryEnd[lease].map { $0 <= now } == true, "nobody is refused early: \(lease)")
            case .load(let id):
                loads.insert(id)
            case .logIn(let id):
                // With a budget a login begins when its slot is granted, while late tokens are still logged out.
                let isCounted = { (session: Machine.Session) in !machine.settings.hasBudget || !session.isLoggingOut }
                let count = machine.sessions.count(where: isCounted)
                rule(hasAdopted || count <= machine.settings.maximumSessions + 1, "no more sessions")
                logIns.insert(id)
            case .cancelOpening(let id):
                loads.remove(id)
                takes.remove(id)
                drops.remove(id)
                if logIns.remove(id) != nil { strays.insert(id) }
            case .save(let token):
                rule(tokens.contains(token), "what is saved is known")
                storeHasToken = true
            case .drop(let token):
                rule(tokens.contains(token), "what is dropped is known")
                storeHasToken = false
            case .logOut(let id, let token):
                rule(tokens.contains(token), "what is logged out is known")
                rule(logOuts.insert(id).inserted, "one logout at a time")
                goodbyes[id] = token
            case .leave(let id, let token):
                rule(tokens.contains(token), "what is left is known")
                leftOpen.insert(token)
                logOuts.insert(id)
                goodbyes[id] = token
            case .take(let id):
                takes.insert(id)
                rule(takes.count == 1, "one slot is taken at a time")
            case .put(let id, let token, _):
                rule(slots.contains(id), "a token is put into a slot that is held")
                rule(tokens.contains(token), "what is put is known")
                inSlot[id] = token
                puts[id] = token
            case .empty(let id, let token):
                rule(tokens.contains(token), "what is dropped is known")
                inSlot[id] = nil
                if slots.contains(id) { drops.insert(id) }
            case .give(let id, let token, _):
                rule(slots.remove(id) != nil, "only a held slot is given back: \(id)")
                drops.remove(id)
                puts[id] = nil
                if let token { rule(tokens.contains(token), "what is dropped is known") }
                // Otherwise the slot keeps the token that it has.
                if let kept = inSlot.removeValue(forKey: id), kept != token { leftOpen.insert(kept) }
            case .giveToFullHost(let id), .giveAfterRefusal(let id), .giveAfterLostLogin(let id):
                rule(slots.remove(id) != nil, "only a held slot is given back: \(id)")
                drops.remove(id)
            case .cancelLogOut(let id):
                logOuts.remove(id)
                if let token = goodbyes[id] { lost.insert(token) }
            case .forget(let token):
                rule(tokens.remove(token) != nil, "what is forgotten is known")
            case .announce(.loggedIn(let token)):
                shown = token
            case .announce:
                shown = nil
            case .finish(let id, _):
                rule(endings.remove(id.number) != nil, "an end is reported once")
            case .setAlarm(let instant):
                alarm = instant
            case .cancelAlarm:
                alarm = nil
            }
        }
    }

    private mutating func take(_ grant: Machine.Grant) {
        rule(!leases.values.contains { $0.session == grant.session }, "no session is leased twice: \(grant)")
        rule(tokens.contains(grant.token), "a lease has a token")
        let session = machine.sessions.first { $0.id == grant.session }
        rule(session?.token == grant.token, "a lease's token is its session's")
        let reservedSession = machine.reservedSession?.id
        let isKeeper = grant.session == reservedSession
        let isPinned = pinned.contains(grant.lease)
        rule(
            reservedSession == nil || isKeeper != isPinned,
            "requests get the reservedSession, pinned work another one"
        )
        rule(!pinned.contains(grant.lease) || session?.isShared == false, "pinned work shares its session with nobody")
        leases[grant.lease] = grant
    }

    // MARK: Rules

    private func check() {
        let status = machine.status
        rule(status.waiting == waiting.count, "\(status.waiting) wait, not \(waiting.count)")
        rule(Set(machine.idle).count == machine.idle.count, "nobody is idle twice")
        rule(machine.alarm == alarm, "the shell's alarm is the machine's")
        rule(status.limit >= 1 && status.limit <= machine.settings.maximumSessions, "the limit is in its limits")
        let isSomethingComing =
            !leases.isEmpty || !loads.isEmpty || !logIns.isEmpty || !logOuts.isEmpty || !takes.isEmpty
            || !drops.isEmpty || alarm != nil
        rule(waiting.isEmpty || isSomethingComing && alarm != nil, "nobody waits for nothing")
        rule(endings.isEmpty || isSomethingComing, "no end is waited for in vain")
        rule(waiting.allSatisfy { retryEnd[$0].map { $0 > now } ?? true }, "nobody waits longer than it may")
        let open = machine.sessions.filter(\.isOpen).map(\.token)
        rule(open.isEmpty || shown.map(open.contains) == true, "the token that is shown is that of an open session")
        for session in machine.sessions {
            let isIdle = machine.idle.contains(session.id)
            rule(isIdle == (session.phase == .idle), "\(session) is idle, or is not")
        }
    }

    private func rule(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { Issue.record("seed \(seed): \(what())") }
    }

    private mutating func pick(_ leases: [LeaseID: Machine.Grant]) -> Machine.Grant? {
        pick(Set(leases.keys)).flatMap { leases[$0] }
    }

    private mutating func pick<Element: Comparable>(_ set: Set<Element>) -> Element? {
        set.sorted().randomElement(using: &random)
    }
}
