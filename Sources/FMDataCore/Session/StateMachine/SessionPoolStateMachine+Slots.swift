import NIOCore

// Slots of a budget: taking them, passing them on to those who wait, losing them.
//
// A session in a slot is owned by the slot: its token stays there when the slot is given back. Or it is private, owned
// by the pool: pinned work, a session that holds global fields, one outside of the budget; then it is logged out first.
extension SessionPoolStateMachine {
    /// A slot was taken. A token that is used, or whose session has to be logged out, is named by the returned epoch.
    ///
    /// - Parameters:
    ///   - isPrivate: whether the session is outside of the budget.
    ///   - waiting: how many others wait for a slot.
    mutating func slotGranted(
        _ id: SessionID,
        hasToken: Bool,
        isPrivate: Bool = false,
        waiting: Int = 0,
        now: NIODeadline
    ) -> (token: TokenEpoch?, actions: [Action]) {
        guard let index = index(of: id), case .opening(.slot, let abandoned) = sessions[index].phase else {
            // The taking was cancelled, but the slot was on its way.
            return (nil, [.give(id, without: nil, life: nil)])
        }
        var actions: [Action] = []
        var token: TokenEpoch?
        sessions[index].slot = Session.Slot(givesNotBefore: now + settings.quantum)
        if waiting > 0 { sessions[index].isRecalled = true }
        if isPrivate { sessions[index].owner = .pool }
        if sessions[index].isEnding || abandoned != nil {
            leaveSlot(of: sessions.remove(at: index), &actions)
        } else if !hasToken {
            logInToSlot(index, now, &actions)
        } else if sessions[index].owner == .slot {
            let received = receiveToken(index, now: now)
            token = received
            sessions[index].goodAsOf = received
            // The token worked for whoever put it there.
            sessions[index].hasWorked = true
            show(received, &actions)
            park(index)
            pressure.relieve(now)
        } else {
            token = receiveToken(index, now: now)
            sessions[index].phase = .opening(.clear, abandoned: nil)
            actions.append(.logOut(id, sessions[index].token))
        }
        settle(now, &actions)
        return (token, actions)
    }

    /// Somebody else waits for a slot.
    mutating func recalled(_ id: SessionID, now: NIODeadline) -> [Action] {
        guard let index = index(of: id), sessions[index].slot != nil || sessions[index].isTakingSlot else { return [] }
        sessions[index].isRecalled = true
        var actions: [Action] = []
        settle(now, &actions)
        return actions
    }

    /// The slot is held by somebody else by now, so the session in it is theirs.
    mutating func slotLost(_ id: SessionID, now: NIODeadline) -> [Action] {
        guard let index = index(of: id), sessions[index].slot != nil else { return [] }
        var actions: [Action] = []
        let isAlone = sessions[index].owner == .slot && sessions[index].slot?.isPutting == true
        sessions[index].slot = nil
        switch sessions[index].phase {
        case .idle where isAlone, .leased where isAlone:
            // The slot went to somebody else before the token was there.
            logOutAlone(index)
        case .opening(.logIn, _):
            // Its token cannot be put anywhere, so it is logged out when it comes.
            logOutAlone(index)
        case .opening:
            let session = sessions.remove(at: index)
            if session.token.tick > 0 { actions.append(.forget(session.token)) }
        case .idle where sessions[index].owner == .slot:
            idle.removeAll { $0 == id }
            actions.append(.forget(sessions.remove(at: index).token))
        case .leased where sessions[index].owner == .slot:
            sessions[index].owner = .nobody
            sessions[index].isEnding = true
        case .idle, .leased, .visiting, .loggingOut:
            break
        }
        settle(now, &actions)
        return actions
    }

    /// The budget has no token of the slot any more.
    mutating func slotForgotten(_ id: SessionID, now: NIODeadline) -> [Action] {
        guard let index = index(of: id), sessions[index].owner == .slot, sessions[index].isOpen else { return [] }
        var actions: [Action] = []
        put(index, life: max(.zero, sessions[index].lastUse + settings.idleTime - now), &actions)
        return actions
    }

    mutating func put(_ index: Int, life: TimeAmount, _ actions: inout [Action]) {
        sessions[index].slot?.isPutting = true
        actions.append(.put(sessions[index].id, sessions[index].token, life: life))
    }

    /// The token is in the slot, or it is not known whether it is: somebody else may use the session.
    mutating func putDone(_ id: SessionID, _ token: TokenEpoch, now: NIODeadline) -> [Action] {
        guard let index = index(of: id), sessions[index].token == token else { return [] }
        sessions[index].slot?.isPutting = false
        var actions: [Action] = []
        settle(now, &actions)
        return actions
    }

    /// The slot was held by somebody else when the token of a new session was put there: nobody will use the session.
    mutating func putRefused(_ id: SessionID, _ token: TokenEpoch, now: NIODeadline) -> [Action] {
        guard let index = index(of: id), sessions[index].token == token, sessions[index].owner == .slot else {
            return []
        }
        sessions[index].slot = nil
        logOutAlone(index)
        var actions: [Action] = []
        settle(now, &actions)
        return actions
    }

    /// Nobody else can use the session, so it is logged out when it is free.
    private mutating func logOutAlone(_ index: Int) {
        sessions[index].owner = .pool
        sessions[index].isEnding = true
    }

    /// A token was taken out of the slot.
    ///
    /// - Parameter isHeld: whether the slot is held for certain.
    mutating func emptied(_ id: SessionID, isHeld: Bool, now: NIODeadline) -> [Action] {
        guard isHeld else { return slotLost(id, now: now) }
        guard let index = index(of: id), case .opening(.drop, let abandoned) = sessions[index].phase else { return [] }
        var actions: [Action] = []
        if sessions[index].isEnding {
            leaveSlot(of: sessions.remove(at: index), &actions)
        } else if abandoned == nil {
            logInToSlot(index, now, &actions)
        } else {
            sessions[index].phase = .opening(.empty, abandoned: abandoned)
        }
        settle(now, &actions)
        return actions
    }

    // MARK: Passing on

    /// Gives back the slots that others wait for.
    mutating func passSlotsOn(_ now: NIODeadline, _ actions: inout [Action]) {
        for id in idle {
            guard let index = index(of: id), isDueToBeGiven(sessions[index], now) else { continue }
            end(index, now, &actions)
        }
    }

    func isDueToBeGiven(_ session: Session, _ now: NIODeadline) -> Bool {
        giving(of: session).map { $0 <= now } ?? false
    }

    /// When the idle session's slot is given back; `nil` if nobody waits for it.
    func nextGiving(of session: Session, _ now: NIODeadline) -> NIODeadline? {
        giving(of: session).map { max($0, now) }
    }

    /// A slot serves one request at least: otherwise two members with slow logins would pass one on for ever.
    private func giving(of session: Session) -> NIODeadline? {
        guard let slot = session.slot, session.isRecalled, !slot.isPutting, session.id != reservedSession?.id else {
            return nil
        }
        let mayStillServe = !slot.hasServed && !queue.isEmpty
        return mayStillServe ? slot.givesNotBefore + settings.longestPatience : slot.givesNotBefore
    }

    /// Gives back the slot of a session that was removed, if it has one.
    func leaveSlot(of session: Session, _ actions: inout [Action]) {
        guard session.slot != nil else { return }
        if case .opening(.logIn, _) = session.phase { return actions.append(.giveAfterLostLogin(session.id)) }
        let token = session.token.tick > 0 ? session.token : nil
        actions.append(.give(session.id, without: token, life: nil))
    }

    /// How long the token in the slot still lives; `nil` if it was not used while the slot was held.
    func lifeLeft(of session: Session, _ now: NIODeadline) -> TimeAmount? {
        guard session.slot?.hasServed == true else { return nil }
        return max(.zero, session.lastUse + settings.idleTime - now)
    }

    // MARK: Tokens

    mutating func logInToSlot(_ index: Int, _ now: NIODeadline, _ actions: inout [Action]) {
        sessions[index].phase = .opening(.logIn, abandoned: nil)
        // The time that a login takes counts from here.
        sessions[index].lastUse = now
        actions.append(.logIn(sessions[index].id))
    }

    /// The host does not know the token of a session in a slot: the next login is in the same slot.
    mutating func loseInSlot(_ index: Int, _ now: NIODeadline, _ actions: inout [Action]) {
        let session = sessions[index]
        defer { actions.append(.forget(session.token)) }
        if session.isEnding || session.owner != .slot {
            leaveSlot(of: sessions.remove(at: index), &actions)
            return
        }
        sessions[index].token = TokenEpoch(tick: 0)
        sessions[index].goodAsOf = TokenEpoch(tick: 0)
        sessions[index].hasWorked = false
        sessions[index].phase = .opening(.drop, abandoned: queue.isEmpty ? now + settings.abandonedTime : nil)
        actions.append(.empty(session.id, session.token))
    }

    /// The session that came with the slot of pinned work was logged out.
    mutating func cleared(
        _ index: Int,
        abandoned: NIODeadline?,
        _ now: NIODeadline,
        _ actions: inout [Action]
    ) {
        let session = sessions[index]
        defer { actions.append(.forget(session.token)) }
        if session.isEnding || abandoned != nil || session.slot == nil {
            leaveSlot(of: sessions.remove(at: index), &actions)
            return
        }
        actions.append(.empty(session.id, session.token))
        sessions[index].token = TokenEpoch(tick: 0)
        logInToSlot(index, now, &actions)
    }

    /// The session holds global fields from now on, so it is taken out of its slot's hands.
    mutating func makePrivate(_ token: TokenEpoch, _ actions: inout [Action]) {
        guard let index = sessions.firstIndex(where: { $0.token == token && $0.owner == .slot }) else { return }
        sessions[index].owner = .pool
        actions.append(.empty(sessions[index].id, token))
    }

    /// Pinned work that waits for a slot for so long gets an idle session's slot: all slots may be this pool's own.
    mutating func convertForPinned(_ now: NIODeadline, _ actions: inout [Action]) {
        while let waiting = sessions.firstIndex(where: { nextConversion(to: $0).map { $0 <= now } ?? false }),
            let id = longestIdleInSlot
        {
            let opening = sessions.remove(at: waiting)
            actions.append(.cancelOpening(opening.id))
            guard let index = index(of: id), case .opening(_, let abandoned) = opening.phase else { return }
            idle.removeAll { $0 == id }
            sessions[index].owner = .pool
            sessions[index].phase = .opening(.clear, abandoned: abandoned)
            sessions[index].hasWorked = false
            actions.append(.logOut(id, sessions[index].token))
        }
    }

    /// When pinned work that waits for a slot gets that of an idle session; `nil` if there is none.
    func nextConversion(to session: Session) -> NIODeadline? {
        guard session.isTakingSlot, session.owner == .pool, !session.isEnding, longestIdleInSlot != nil else {
            return nil
        }
        return session.lastUse + settings.longestPatience
    }

    private var longestIdleInSlot: SessionID? {
        longestIdle { id in index(of: id).map { sessions[$0].owner == .slot && !sessions[$0].isEnding } ?? false }
    }
}
