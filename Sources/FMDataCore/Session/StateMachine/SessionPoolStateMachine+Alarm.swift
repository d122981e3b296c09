import NIOCore

// What is due at which time. There is one alarm, set to the earliest instant at which something is due. It may fire
// early (what it was set for no longer applies), but never late.
extension SessionPoolStateMachine {
    /// The alarm fired. It is set again even if it fired too early, since it fires only once.
    mutating func wakeUp(now: NIODeadline) -> [Action] {
        alarm = nil
        var actions: [Action] = []
        settle(now, &actions)
        return actions
    }

    /// Does everything that is due, except for ending the surplus: surplus sessions are offered to waiting requests
    /// first.
    mutating func passTime(_ now: NIODeadline, _ actions: inout [Action]) {
        if let opensNotBefore, opensNotBefore <= now { self.opensNotBefore = nil }
        refuseLate(now, &actions)
        giveUpOpenings(now, &actions)
        giveUpLogOuts(now, &actions)
        repeatLogOuts(now, &actions)
        takeBackLeases(now, &actions)
        passSlotsOn(now, &actions)
        endIdle(now, &actions)
    }

    /// Sets the alarm if something is due before it fires. It is never postponed: an early alarm costs less than
    /// setting it again with each request.
    mutating func setAlarm(_ now: NIODeadline, _ actions: inout [Action]) {
        guard let due = nextDue(now) else {
            if isShutDown, sessions.isEmpty, alarm != nil {
                alarm = nil
                actions.append(.cancelAlarm)
            }
            return
        }
        if let alarm, alarm <= due { return }
        alarm = due
        actions.append(.setAlarm(due))
    }

    func isExpired(_ session: Session, now: NIODeadline) -> Bool {
        session.owner != .stranger && session.lastUse + settings.idleTime <= now
    }

    func isTrimmed(_ id: SessionID, _ now: NIODeadline) -> Bool {
        guard let index = index(of: id), sessions[index].owner != .stranger else { return false }
        return sessions[index].lastUse + settings.trimTime <= now
    }

    private func nextDue(_ now: NIODeadline) -> NIODeadline? {
        var due: NIODeadline?
        func note(_ instant: NIODeadline) { due = min(due ?? instant, instant) }
        if let earliest = queue.earliestDeadline {
            note(earliest)
            if let opensNotBefore { note(opensNotBefore) }
            // If the time to grow has passed already, growth waits for something else: room, or a login under way.
            if let growth = nextGrowth, growth > now { note(growth) }
        }
        if let first = queue.first, isShutOut { note(first.since + settings.fullHostTime) }
        let trimTime = lastingCount > 1 ? min(settings.trimTime, settings.idleTime) : settings.idleTime
        let reservedSession = reservedSession?.id
        for session in sessions {
            switch session.phase {
            case .opening(_, let abandoned), .visiting(let abandoned):
                if let abandoned { note(abandoned) }
                if let conversion = nextConversion(to: session), conversion > now { note(conversion) }
            case .idle:
                if let giving = nextGiving(of: session, now) { note(giving) }
                if session.owner == .stranger { break }
                note(session.lastUse + (session.id == reservedSession ? settings.idleTime : trimTime))
            case .leased:
                if let forced { note(forced) }
            case .loggingOut(let until, let again):
                note(min(until, again ?? until))
            }
        }
        return due
    }

    /// When a shutdown takes the leases back.
    private var forced: NIODeadline? {
        endings.compactMap { ending in
            switch ending.kind {
            case .logOut: nil
            case .shutdown(let forced, _): forced
            }
        }.min()
    }

    private mutating func refuseLate(_ now: NIODeadline, _ actions: inout [Action]) {
        if queue.isEmpty { return }
        for late in queue.removeLate(now) {
            let refusal: LeaseRefusal =
                switch late.limit {
                case .call: .callDeadlinePassed
                case .pool: isShutOut ? .hostStayedFull : .deadlinePassed
                }
            actions.append(.refuse(late.id, refusal))
        }
        while isShutOut, let first = queue.first, first.since + settings.fullHostTime <= now {
            _ = queue.remove(first.id)
            actions.append(.refuse(first.id, .hostStayedFull))
        }
        if queue.isEmpty { abandonOpenings(now) }
    }

    /// Whether the host is full and the pool has no session, open or being opened, that could serve meanwhile.
    ///
    /// With a budget other members have the sessions, and one of these comes with a slot.
    var isShutOut: Bool { hostIsFull && !settings.hasBudget && !sessions.contains(where: \.mayServe) }

    /// A token that still comes is logged out. If none comes, the server may have a session that the client cannot end.
    private mutating func giveUpOpenings(_ now: NIODeadline, _ actions: inout [Action]) {
        for session in sessions {
            switch session.phase {
            case .opening(let stage, let abandoned?) where abandoned <= now:
                if stage == .logIn || stage == .clear { noteLeftSession(now) }
            case .visiting(let abandoned?) where abandoned <= now:
                noteLeftSession(now)
            case .opening, .visiting, .idle, .leased, .loggingOut:
                continue
            }
            sessions.removeAll { $0.id == session.id }
            actions.append(session.isBeingCleared ? .cancelLogOut(session.id) : .cancelOpening(session.id))
            leaveSlot(of: session, &actions)
            if session.token.tick > 0 { actions.append(.forget(session.token)) }
        }
    }

    private mutating func repeatLogOuts(_ now: NIODeadline, _ actions: inout [Action]) {
        for index in sessions.indices {
            guard case .loggingOut(let until, let again?) = sessions[index].phase, again <= now else { continue }
            sessions[index].phase = .loggingOut(until: until, again: nil)
            actions.append(.logOut(sessions[index].id, sessions[index].token))
        }
    }

    private mutating func giveUpLogOuts(_ now: NIODeadline, _ actions: inout [Action]) {
        for session in sessions {
            guard case .loggingOut(let until, _) = session.phase, until <= now else { continue }
            sessions.removeAll { $0.id == session.id }
            noteLeftSession(now)
            actions.append(.cancelLogOut(session.id))
            leaveSlot(of: session, &actions)
            actions.append(.forget(session.token))
        }
    }

    private mutating func takeBackLeases(_ now: NIODeadline, _ actions: inout [Action]) {
        guard let forced, forced <= now else { return }
        for id in sessions.map(\.id) {
            if let index = index(of: id), case .leased = sessions[index].phase { end(index, now, &actions) }
        }
    }
}
