import NIOCore

// Leasing and releasing sessions.
extension SessionPoolStateMachine {
    /// Requests a session.
    ///
    /// - Parameter callDeadline: when the request's call must have ended; `nil` if the call has no time limit.
    mutating func request(
        _ purpose: LeasePurpose,
        until callDeadline: NIODeadline? = nil,
        now: NIODeadline
    ) -> (answer: LeaseAnswer, actions: [Action]) {
        if isShutDown { return (.refused(.isShutDown), []) }
        if let callDeadline, callDeadline <= now { return (.refused(.callDeadlinePassed), []) }
        if purpose == .pinned, reservedSession != nil, settings.maximumSessions == 1 {
            return (.refused(.onlySessionIsKept), [])
        }
        let giveUpTime = now + settings.waitingTime
        let isCallNearer = callDeadline.map { $0 < giveUpTime } ?? false
        let entry = LeaseQueue.Entry(
            id: nextLease(),
            purpose: purpose,
            goodSince: purpose == .replay ? epoch : TokenEpoch(tick: 0),
            since: now,
            deadline: min(callDeadline ?? giveUpTime, giveUpTime),
            limit: isCallNearer ? .call : .pool
        )
        if queue.isEmpty, let place = idle.lastIndex(where: { isFit($0, for: entry) && isLasting($0, now) }) {
            return (.granted(grant(idle.remove(at: place), to: entry.id)), [])
        }
        if queue.count >= settings.maximumWaiting { return (.refused(.queueIsFull), []) }
        queue.append(entry)
        var actions: [Action] = []
        settle(now, &actions)
        return (.waiting(entry.id), actions)
    }

    /// From now on requests get only this session, as long as it lives: it is reserved because it holds state that the
    /// others lack. Work that needs a session of its own gets another one. Has no effect if the session has ended.
    mutating func confine(to token: TokenEpoch, now: NIODeadline) -> [Action] {
        kept = token
        var actions: [Action] = []
        makePrivate(token, &actions)
        settle(now, &actions)
        return actions
    }

    /// The reserved session, to which requests are confined.
    var reservedSession: Session? {
        kept.flatMap { token in sessions.first { $0.token == token && $0.isOpen } }
    }

    /// The session that has been idle for the longest time, except the reserved one.
    func longestIdle(where isMeant: (SessionID) -> Bool = { _ in true }) -> SessionID? {
        let reservedSession = reservedSession?.id
        return idle.first { $0 != reservedSession && isMeant($0) }
    }

    /// Withdraws a request. Has no effect if it was answered already.
    mutating func withdraw(_ lease: LeaseID, now: NIODeadline) -> [Action] {
        guard queue.remove(lease) != nil else { return [] }
        var actions: [Action] = []
        if queue.isEmpty { abandonOpenings(now) }
        settle(now, &actions)
        return actions
    }

    /// A lease ended. Has no effect if it ended before.
    mutating func release(
        _ lease: LeaseID,
        of id: SessionID,
        _ outcome: SessionOutcome,
        jitter: Double,
        now: NIODeadline
    ) -> [Action] {
        guard let index = index(of: id), case .leased(lease, let since) = sessions[index].phase else { return [] }
        var actions: [Action] = []
        switch outcome {
        case .used:
            noteUse(index, since: since, now: now)
            park(index)
            let isQuiet = queue.isEmpty && endings.isEmpty && sessions.count <= limit
            if isQuiet, !sessions[index].isEnding, !sessions[index].isRecalled {
                // Nothing else changed, so nothing else can be due earlier.
                if alarm.map({ $0 <= now + min(settings.trimTime, settings.idleTime) }) != true {
                    setAlarm(now, &actions)
                }
                return actions
            }
        case .unused:
            park(index)
        case .refused where sessions[index].hasWorked:
            totals.refusals += 1
            _ = tick()
            lose(index, now, &actions)
        case .refused:
            // Behind a load balancer another machine than the refusing one may have given the token and still have the
            // session.
            let token = sessions[index].token
            condemn(index, &actions)
            noteRefusal(ofFresh: token, jitter: jitter, now: now)
        case .broken:
            condemn(index, &actions)
        case .hostFull:
            // A full host may have answered without checking the token.
            sessions[index].lastUse = now
            park(index)
            shrink(to: activeCount - 1, jitter: jitter, now: now)
        case .retired:
            noteUse(index, since: since, now: now)
            sessions[index].isEnding = true
            park(index)
        }
        settle(now, &actions)
        return actions
    }

    /// Leases idle sessions to waiting requests, in order, but polls last. A request that cannot use any idle session
    /// does not hold up the others.
    mutating func serve(_ actions: inout [Action]) {
        var place = idle.count - 1
        while place >= 0, !queue.isEmpty {
            let id = idle[place]
            let entry =
                queue.first { $0.purpose != .poll && isFit(id, for: $0) } ?? queue.first { isFit(id, for: $0) }
            if let entry {
                _ = queue.remove(entry.id)
                idle.remove(at: place)
                actions.append(.grant(grant(id, to: entry.id)))
            }
            place -= 1
        }
    }

    /// Ends every event, except when a session was leased or released and nothing else can have changed. Does what is
    /// due, leases sessions to waiting requests, opens and ends sessions as needed, and sets the alarm.
    mutating func settle(_ now: NIODeadline, _ actions: inout [Action]) {
        passTime(now, &actions)
        serve(&actions)
        // Requests that still wait would be served by one more session.
        notePressure(now)
        refuseWhileTokensAreRefused(&actions)
        beginEndings(now, &actions)
        endSurplus(now, &actions)
        open(now, &actions)
        // A login that has just begun may be for the last of them.
        notePressure(now)
        finishEndings(now, &actions)
        showAnother(&actions)
        setAlarm(now, &actions)
    }

    /// Puts a session among the idle ones, in the order of last use.
    mutating func park(_ index: Int) {
        let lastUse = sessions[index].lastUse
        sessions[index].phase = .idle
        var place = idle.count
        while place > 0, let other = self.index(of: idle[place - 1]), sessions[other].lastUse > lastUse {
            place -= 1
        }
        idle.insert(sessions[index].id, at: place)
    }

    /// Removes a session whose token the server does not know.
    private mutating func lose(_ index: Int, _ now: NIODeadline, _ actions: inout [Action]) {
        if sessions[index].slot != nil { return loseInSlot(index, now, &actions) }
        let session = sessions.remove(at: index)
        if session.owner == .store { actions.append(.drop(session.token)) }
        actions.append(.forget(session.token))
    }

    /// Ends a session that is not usable any more, and logs it out.
    private mutating func condemn(_ index: Int, _ actions: inout [Action]) {
        totals.refusals += 1
        sessions[index].isRefused = true
        _ = tick()
        if sessions[index].owner == .store { actions.append(.drop(sessions[index].token)) }
        switch sessions[index].owner {
        case .pool, .store, .slot: sessions[index].owner = .pool
        case .stranger, .nobody: break
        }
        sessions[index].isEnding = true
        park(index)
    }

    private mutating func noteUse(_ index: Int, since: TokenEpoch, now: NIODeadline) {
        noteTokenTaken(since: since)
        sessions[index].lastUse = now
        sessions[index].goodAsOf = max(sessions[index].goodAsOf, since)
        sessions[index].hasWorked = true
    }

    /// The caller has removed it from `idle`.
    private mutating func grant(_ id: SessionID, to lease: LeaseID) -> Grant {
        guard let index = index(of: id) else { preconditionFailure("An idle session is always among the sessions") }
        sessions[index].phase = .leased(lease, since: epoch)
        sessions[index].slot?.hasServed = true
        return Grant(
            lease: lease,
            session: id,
            token: sessions[index].token,
            hasWorked: sessions[index].hasWorked
        )
    }

    /// Whether an idle session need not be ended or given back now.
    private func isLasting(_ id: SessionID, _ now: NIODeadline) -> Bool {
        guard let index = index(of: id) else { return false }
        return !isExpired(sessions[index], now: now) && !isDueToBeGiven(sessions[index], now)
    }

    private func isFit(_ id: SessionID, for entry: LeaseQueue.Entry) -> Bool {
        guard let index = index(of: id), !sessions[index].isEnding else { return false }
        let reservedSession = reservedSession?.id
        switch entry.purpose {
        case .request, .poll: return reservedSession == nil || reservedSession == id
        case .replay:
            return (reservedSession == nil || reservedSession == id) && sessions[index].goodAsOf >= entry.goodSince
        case .pinned: return reservedSession != id && !sessions[index].isShared
        }
    }
}
