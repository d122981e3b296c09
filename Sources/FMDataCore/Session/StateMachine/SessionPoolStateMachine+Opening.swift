import NIOCore

// New sessions, from the store or by a login.
extension SessionPoolStateMachine {
    /// The store answered. A token that is used or has to be logged out is named by the returned epoch; otherwise
    /// `nil`.
    mutating func loaded(
        _ id: SessionID,
        found: Bool,
        now: NIODeadline
    ) -> (token: TokenEpoch?, actions: [Action]) {
        guard let index = index(of: id), case .opening(.load, let abandoned) = sessions[index].phase else {
            return (nil, [])
        }
        var actions: [Action] = []
        var token: TokenEpoch?
        let isAskedToLogOut = sessions[index].isEnding && sessions[index].owner == .pool
        if found, isAskedToLogOut {
            token = receiveToken(index, now: now)
            actions.append(.drop(sessions[index].token))
            end(index, now, &actions)
        } else if sessions[index].isEnding || abandoned != nil {
            sessions.remove(at: index)
        } else if found {
            token = receiveToken(index, now: now)
            // The token worked in an earlier run: a token is stored when its login has succeeded, and used at once.
            sessions[index].hasWorked = true
            show(sessions[index].token, &actions)
            park(index)
            pressure.relieve(now)
        } else {
            sessions[index].phase = .opening(.logIn, abandoned: nil)
            actions.append(.logIn(id))
        }
        settle(now, &actions)
        return (token, actions)
    }

    /// A login returned a token, which is named by the returned epoch.
    mutating func loginSucceeded(_ id: SessionID, now: NIODeadline) -> (token: TokenEpoch, actions: [Action]) {
        var actions: [Action] = []
        totals.logins += 1
        guard let index = index(of: id), case .opening(_, let abandoned) = sessions[index].phase else {
            // The login was cancelled, but the token was on its way.
            return (logOutStray(now, &actions), actions)
        }
        noteLogin(now)
        loginTime = now - sessions[index].lastUse
        let token = receiveToken(index, now: now)
        sessions[index].goodAsOf = token
        if sessions[index].isEnding || abandoned != nil {
            sessions[index].owner = .pool
            end(index, now, &actions)
        } else {
            if refusalsInARow == 0 { credentialsAreProven = true }
            if sessions[index].owner == .store { actions.append(.save(token)) }
            if sessions[index].owner == .slot {
                put(index, life: settings.idleTime, &actions)
            }
            // However long the login took, the slot serves.
            if let slot = sessions[index].slot { sessions[index].slot?.givesNotBefore = max(slot.givesNotBefore, now) }
            show(token, &actions)
            park(index)
            pressure.relieve(now)
        }
        settle(now, &actions)
        return (token, actions)
    }

    /// The store does not keep a token, so no other process knows its session: it is logged out at its end.
    mutating func storeRefused(_ token: TokenEpoch, now: NIODeadline) -> [Action] {
        guard let index = sessions.firstIndex(where: { $0.token == token && $0.owner == .store }) else { return [] }
        sessions[index].owner = .pool
        var actions: [Action] = []
        settle(now, &actions)
        return actions
    }

    /// Whether the pool has to log this session out, since no other process will.
    func isOwn(_ id: SessionID) -> Bool {
        index(of: id).map { sessions[$0].owner == .pool } ?? false
    }

    /// Other credentials are used from now on: the sessions of the old ones end when their requests do.
    ///
    /// - Parameter isAnother: whether they are those of another account. Waiting requests were made as the previous
    ///   account, so they fail instead of getting a session of the new one.
    mutating func credentialsReplaced(
        hasStore: Bool,
        hasBudget: Bool = false,
        isAnother: Bool = false,
        now: NIODeadline
    ) -> [Action] {
        var actions: [Action] = []
        if isAnother {
            shown = nil
            actions.append(.announce(.replaced))
            actions += queue.removeAll().map { .refuse($0.id, .credentialsReplaced) }
        }
        credentialsAreProven = false
        forgetTrouble()
        endAll(isAsked: false, now, &actions)
        settings.hasStore = hasStore
        settings.hasBudget = hasBudget
        settle(now, &actions)
        return actions
    }

    /// Starts logins for requests that no login under way will serve, if there is room and growing is worth it.
    ///
    /// A login costs the host more than a short wait costs a client, so the rules are:
    /// - The first login runs alone: it proves the credentials, and that the host answers.
    /// - While sessions serve, one more is opened when requests have been waiting for as long as the last login took (a
    ///   second at most), counted from the last session that came: by then a login would have been worth it. No single
    ///   request has to wait that long, since under constant load of short calls each is served sooner. See
    ///   ``WaitingPressure``.
    /// - As many logins run at once as there are open sessions, so the pool doubles while the demand lasts: 1, 2, 4, 8.
    /// - A replay replaces the session that it has lost: this is not growth, and does not wait.
    mutating func open(_ now: NIODeadline, _ actions: inout [Action]) {
        convertForPinned(now, &actions)
        takeOverOpenings(now, &actions)
        guard let growth = nextGrowth, growth <= now else { return }
        makeRoom(for: unmetCount, now, &actions)
        // The host was full; one more login at a time shows whether it still is.
        if activeCount == limit, limit < settings.maximumSessions, !sessions.contains(where: \.isOpening) { limit += 1 }
        while activeCount < limit, let growth = nextGrowth, growth <= now, let entry = firstUnmet {
            start(for: entry.purpose, now, &actions)
        }
    }

    /// When one more session is to be opened for waiting requests; `nil` when that does not depend on time.
    var nextGrowth: NIODeadline? {
        guard let entry = firstUnmet, !isPausing, mayOpenOneMore else { return nil }
        guard activeCount < settings.maximumSessions || longestIdle() != nil else { return nil }
        let reservedSession = reservedSession?.id
        let mayComeBack = sessions.contains { $0.isLeased && $0.id != reservedSession }
        guard entry.purpose != .replay, mayComeBack else { return entry.since }
        return pressure.reaches(growthTime)
    }

    /// How long requests must have been waiting before the pool grows.
    private var growthTime: TimeAmount { min(loginTime, settings.longestPatience) }

    /// Notes whether, from now on, requests wait that one more session would serve.
    mutating func notePressure(_ now: NIODeadline) {
        pressure.pass(now, atMost: growthTime, isGrowing: unmetCount > 0)
    }

    /// No request waits any more: logins under way get some time, to be taken over or logged out.
    mutating func abandonOpenings(_ now: NIODeadline) {
        for index in sessions.indices where sessions[index].isOpeningForSomebody {
            abandon(index, now)
        }
    }

    mutating func abandon(_ index: Int, _ now: NIODeadline) {
        let giveUpTime = now + settings.abandonedTime
        switch sessions[index].phase {
        case .opening(let stage, nil): sessions[index].phase = .opening(stage, abandoned: giveUpTime)
        case .visiting(nil): sessions[index].phase = .visiting(abandoned: giveUpTime)
        case .opening, .visiting, .idle, .leased, .loggingOut: break
        }
    }

    /// The number of waiting requests that no login under way will serve and another session could. While a session is
    /// reserved, only requests for a session of their own count.
    private var unmetCount: Int {
        (reservedSession == nil ? queue.count : queue.pinnedCount) - sessions.count(where: \.isOpeningForSomebody)
    }

    private var firstUnmet: LeaseQueue.Entry? {
        let missing = unmetCount
        if missing <= 0 { return nil }
        if reservedSession == nil { return queue.entry(at: queue.count - missing) }
        return queue.pinnedEntry(at: queue.pinnedCount - missing)
    }

    /// Whether one more login may run at the same time.
    private var mayOpenOneMore: Bool {
        // Whoever waits for one slot does not ask for another.
        if sessions.contains(where: \.isTakingSlot) { return false }
        let serving = credentialsAreProven ? sessions.count(where: \.isOpen) : 0
        return sessions.count(where: \.isOpening) < max(1, serving)
    }

    /// Takes over abandoned logins that can serve requests which wait now.
    private mutating func takeOverOpenings(_ now: NIODeadline, _ actions: inout [Action]) {
        while let entry = firstUnmet, let index = sessions.firstIndex(where: { isTakenOver($0, by: entry) }) {
            guard case .opening(let stage, _) = sessions[index].phase else { break }
            sessions[index].phase = .opening(stage, abandoned: nil)
            if stage == .empty { logInToSlot(index, now, &actions) }
        }
    }

    /// Announces the token of a new session, unless the announced session is still open.
    mutating func show(_ token: TokenEpoch, _ actions: inout [Action]) {
        if isShownOpen { return }
        shown = token
        actions.append(.announce(.loggedIn(token)))
    }

    /// Announces the most recently used open session, if any, once the announced one has ended.
    mutating func showAnother(_ actions: inout [Action]) {
        guard shown != nil, !isShownOpen else { return }
        guard let other = sessions.filter(\.isOpen).max(by: { $0.lastUse < $1.lastUse }) else { return }
        show(other.token, &actions)
    }

    private var isShownOpen: Bool { sessions.contains { $0.token == shown && $0.isOpen } }

    /// The number of sessions that have a place on the server, or are about to.
    var activeCount: Int { sessions.count }

    private mutating func start(for purpose: LeasePurpose, _ now: NIODeadline, _ actions: inout [Action]) {
        let usesStore =
            settings.hasStore && purpose != .pinned
            && !sessions.contains { $0.owner == .store && !$0.isLoggingOut && !$0.isEnding }
        // A replay follows the refusal of a token, perhaps the stored one: only a login is certain to help.
        let withoutBudget: Session.Stage = usesStore && purpose == .request ? .load : .logIn
        let stage = settings.hasBudget ? .slot : withoutBudget
        let isSlotted = settings.hasBudget && purpose != .pinned
        let id = nextSession()
        sessions.append(
            Session(
                id: id,
                owner: isSlotted ? .slot : usesStore ? .store : .pool,
                phase: .opening(stage, abandoned: nil),
                lastUse: now
            )
        )
        switch stage {
        case .load: actions.append(.load(id))
        case .slot: actions.append(.take(id))
        case .logIn, .clear, .drop, .empty: actions.append(.logIn(id))
        }
    }

    /// Waiting requests cannot use the sessions that are idle: end these to make room, the longest unused first.
    private mutating func makeRoom(for missing: Int, _ now: NIODeadline, _ actions: inout [Action]) {
        let onTheirWay = sessions.count(where: \.isLoggingOut)
        var tooFew = min(missing, limit) - max(0, limit - activeCount) - onTheirWay
        while tooFew > 0, let oldest = longestIdle(), let index = index(of: oldest) {
            end(index, now, &actions)
            tooFew -= 1
        }
    }

    private func isTakenOver(_ session: Session, by entry: LeaseQueue.Entry) -> Bool {
        guard case .opening(_, .some) = session.phase, !session.isEnding else { return false }
        return entry.purpose != .pinned || !session.isShared
    }

    mutating func receiveToken(_ index: Int, now: NIODeadline) -> TokenEpoch {
        let token = tick()
        sessions[index].token = token
        sessions[index].lastUse = now
        return token
    }
}

extension SessionPoolStateMachine.Session {
    var isOpening: Bool {
        if case .opening = phase { !isEnding } else { false }
    }

    var isOpeningForSomebody: Bool {
        if case .opening(_, nil) = phase { !isEnding } else { false }
    }

    /// Whether others may use the session after this pool, or at the same time.
    var isShared: Bool { owner == .store || owner == .slot }

    var isTakingSlot: Bool {
        if case .opening(.slot, _) = phase { true } else { false }
    }

    /// Whether the session that came with a slot is being logged out, so that the work gets one of its own.
    var isBeingCleared: Bool {
        if case .opening(.clear, _) = phase { true } else { false }
    }

    var isVisiting: Bool {
        if case .visiting = phase { true } else { false }
    }

    var isLoggingOut: Bool {
        if case .loggingOut = phase { true } else { false }
    }

    /// Whether it has a token and will serve again.
    var isOpen: Bool {
        switch phase {
        case .idle, .leased: !isEnding
        case .opening, .visiting, .loggingOut: false
        }
    }

    /// Whether it is leased and will serve again when it is released.
    var isLeased: Bool {
        if case .leased = phase { !isEnding } else { false }
    }

    /// Whether a waiting request may get it.
    var mayServe: Bool {
        switch phase {
        case .opening, .idle, .leased: !isEnding
        case .visiting, .loggingOut: false
        }
    }
}
