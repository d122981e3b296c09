import NIOCore

// Ending sessions: one, the surplus, or all of them.
extension SessionPoolStateMachine {
    /// Logs out what is open, after the requests that were made before. The pool goes on: a later request logs in
    /// again.
    mutating func logOut(now: NIODeadline) -> (id: EndingID, actions: [Action]) {
        var actions: [Action] = []
        let id = nextEnding()
        endings.append(SessionEnding(id: id, kind: .logOut, after: newestLease))
        settle(now, &actions)
        return (id, actions)
    }

    /// Logs out everything and refuses all requests, including those that wait. It is over at the deadline; requests
    /// under way have the part of that time that is not reserved for the logouts.
    mutating func shutdown(now: NIODeadline) -> (id: EndingID, actions: [Action]) {
        isShutDown = true
        var actions: [Action] = queue.removeAll().map { .refuse($0.id, .isShutDown) }
        let time = settings.shutdownTime
        let giveUpTime = max(time - settings.logOutTime, .nanoseconds(time.nanoseconds / 2))
        let id = nextEnding()
        endings.append(
            SessionEnding(id: id, kind: .shutdown(forced: now + giveUpTime, deadline: now + time), after: newestLease)
        )
        for index in sessions.indices { abandon(index, now) }
        settle(now, &actions)
        return (id, actions)
    }

    /// The server has ended the session. Has no effect if the logout was given up before.
    mutating func logOutFinished(_ id: SessionID, now: NIODeadline) -> [Action] {
        logOutEnded(id, isLeft: false, now: now)
    }

    /// The logout failed. It is repeated if the failure `isPassing` and there is time.
    mutating func logOutFailed(_ id: SessionID, isPassing: Bool, jitter: Double, now: NIODeadline) -> [Action] {
        let pause = BackOff(minimum: settings.minimumBackOff, maximum: settings.maximumBackOff).pause(jitter: jitter)
        guard isPassing, let index = index(of: id), case .loggingOut(let until, nil) = sessions[index].phase,
            now + pause < until
        else {
            return logOutEnded(id, isLeft: true, now: now)
        }
        sessions[index].phase = .loggingOut(until: until, again: now + pause)
        var actions: [Action] = []
        settle(now, &actions)
        return actions
    }

    private mutating func logOutEnded(_ id: SessionID, isLeft: Bool, now: NIODeadline) -> [Action] {
        guard let index = index(of: id) else { return [] }
        var actions: [Action] = []
        if case .opening(.clear, let abandoned) = sessions[index].phase {
            if isLeft { noteLeftSession(now) }
            cleared(index, abandoned: abandoned, now, &actions)
            settle(now, &actions)
            return actions
        }
        guard sessions[index].isLoggingOut else { return [] }
        let session = sessions.remove(at: index)
        if isLeft { noteLeftSession(now) }
        leaveSlot(of: session, &actions)
        actions.append(.forget(session.token))
        settle(now, &actions)
        return actions
    }

    /// Counts a session that the server may still have: its logout failed, or its token never arrived.
    mutating func noteLeftSession(_ now: NIODeadline) {
        totals.sessionsLeft += 1
        for place in endings.indices { endings[place].left += 1 }
        leftUntil.removeAll { $0 <= now }
        leftUntil.append(now + settings.lifeTime)
    }

    /// Begins the endings for which no older request waits any more.
    mutating func beginEndings(_ now: NIODeadline, _ actions: inout [Action]) {
        for place in endings.indices where endings[place].upTo == nil {
            if let first = queue.first, first.id <= endings[place].after { continue }
            switch endings[place].kind {
            case .logOut: endAll(isAsked: true, now, &actions)
            case .shutdown: endAll(isAsked: false, now, &actions)
            }
            endings[place].upTo = newestSession
        }
    }

    mutating func finishEndings(_ now: NIODeadline, _ actions: inout [Action]) {
        endings.removeAll { ending in
            // An external login has no session of this database yet, so only a shutdown waits for it.
            let oldest = sessions.first { ending.kind != .logOut || !$0.isVisiting }?.id
            guard let upTo = ending.upTo, oldest.map({ $0 > upTo }) ?? true else { return false }
            if ending.kind == .logOut, !sessions.contains(where: \.mayServe) {
                shown = nil
                actions.append(.announce(.loggedOut))
            }
            switch ending.kind {
            case .logOut: actions.append(.finish(ending.id, left: ending.left))
            // No later ending will report sessions that were left before.
            case .shutdown: actions.append(.finish(ending.id, left: leftUntil.count { $0 > now }))
            }
            return true
        }
    }

    /// Ends every session as soon as it is not leased any more. `isAsked`: the program called `logOut()`, so stored
    /// sessions are closed as well, instead of being left to other users of the store.
    mutating func endAll(isAsked: Bool, _ now: NIODeadline, _ actions: inout [Action]) {
        let storeIsUntouched = !sessions.contains { $0.owner == .store && !$0.isLoggingOut }
        for index in sessions.indices where !sessions[index].isLoggingOut && !sessions[index].isVisiting {
            sessions[index].isEnding = true
            abandon(index, now)
            guard isAsked, sessions[index].owner != .nobody else { continue }
            if sessions[index].owner == .store, sessions[index].token.tick > 0 {
                actions.append(.drop(sessions[index].token))
            }
            sessions[index].owner = .pool
        }
        endIdle(now, &actions)
        if isAsked, settings.hasStore, storeIsUntouched {
            // A session that only the store knows is closed as well.
            let id = nextSession()
            let giveUpTime = now + settings.logOutTime
            sessions.append(
                Session(
                    id: id,
                    owner: .pool,
                    phase: .opening(.load, abandoned: giveUpTime),
                    isEnding: true,
                    lastUse: now
                )
            )
            actions.append(.load(id))
        }
    }

    /// Ends sessions beyond the limit (the host was full, or one was adopted), and sessions beyond the first that have
    /// not been used for some time.
    mutating func endSurplus(_ now: NIODeadline, _ actions: inout [Action]) {
        while lastingCount > limit, let oldest = longestIdle(), let index = index(of: oldest) {
            end(index, now, &actions)
        }
        while lastingCount > 1, let oldest = longestIdle(where: { isTrimmed($0, now) }), let index = index(of: oldest) {
            // Nobody waits for its slot, so its session is not needed.
            close(index, now, &actions)
        }
    }

    /// Makes room for a session that was brought from outside.
    mutating func dismissOne(_ now: NIODeadline) {
        let victim =
            idle.first.flatMap(index(of:))
            ?? sessions.firstIndex(where: \.mayServe)
        guard let victim else { return }
        sessions[victim].isEnding = true
        abandon(victim, now)
    }

    /// Ends the idle sessions that have expired or are marked as ending.
    mutating func endIdle(_ now: NIODeadline, _ actions: inout [Action]) {
        for id in idle {
            guard let index = index(of: id) else { continue }
            if sessions[index].isEnding {
                end(index, now, &actions)
            } else if isExpired(sessions[index], now: now) {
                close(index, now, &actions)
            }
        }
    }

    /// Ends an idle session that no owner of its slot after this one needs.
    private mutating func close(_ index: Int, _ now: NIODeadline, _ actions: inout [Action]) {
        if sessions[index].owner == .slot { sessions[index].owner = .pool }
        end(index, now, &actions)
    }

    /// Ends a session that is idle, or whose lease is taken back.
    mutating func end(_ index: Int, _ now: NIODeadline, _ actions: inout [Action]) {
        let session = sessions[index]
        idle.removeAll { $0 == session.id }
        if !session.isRefused { totals.logouts += 1 }
        switch session.owner {
        case .pool: actions.append(.logOut(session.id, session.token))
        case .store: actions.append(.leave(session.id, session.token))
        case .slot:
            sessions.remove(at: index)
            actions += [.give(session.id, without: nil, life: lifeLeft(of: session, now)), .forget(session.token)]
            return
        case .stranger, .nobody:
            sessions.remove(at: index)
            actions.append(.forget(session.token))
            return
        }
        sessions[index].isEnding = true
        sessions[index].phase = .loggingOut(until: deadline ?? now + settings.logOutTime, again: nil)
    }

    /// When a shutdown is over.
    private var deadline: NIODeadline? {
        endings.compactMap { ending in
            switch ending.kind {
            case .logOut: nil
            case .shutdown(_, let deadline): deadline
            }
        }.min()
    }

    /// The number of sessions that serve or will serve requests.
    var lastingCount: Int { sessions.count(where: \.mayServe) }
}
