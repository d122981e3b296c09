import NIOCore

// Sessions that come from outside: by a login that somebody makes for himself, or with a token that he has.
extension SessionPoolStateMachine {
    /// Somebody logs in, and will bring the session along. `nil` when the pool takes no more.
    mutating func visit(now: NIODeadline) -> (id: SessionID?, actions: [Action]) {
        if isShutDown { return (nil, []) }
        let id = nextSession()
        sessions.append(Session(id: id, owner: .pool, phase: .visiting(abandoned: nil), lastUse: now))
        return (id, [])
    }

    /// He does not want it any more: the login has some time to end, and its session is logged out.
    mutating func abandonVisit(_ id: SessionID, now: NIODeadline) -> [Action] {
        guard let index = index(of: id) else { return [] }
        var actions: [Action] = []
        abandon(index, now)
        settle(now, &actions)
        return actions
    }

    /// His login failed.
    mutating func visitFailed(_ id: SessionID, now: NIODeadline) -> [Action] {
        guard let index = index(of: id), case .visiting = sessions[index].phase else { return [] }
        sessions.remove(at: index)
        var actions: [Action] = []
        settle(now, &actions)
        return actions
    }

    /// A token that was opened elsewhere. It makes room for itself when the pool is full. With `isOwned` it is logged
    /// out with the others; without, it is used until the server refuses it.
    ///
    /// - Parameters:
    ///   - visit: the login that has brought it; nobody has any use for it when that was abandoned.
    ///   - isOutOfDate: whether it is of an account that has been replaced since.
    mutating func adopt(
        isOwned: Bool,
        from visit: SessionID? = nil,
        isOutOfDate: Bool = false,
        now: NIODeadline
    ) -> (token: TokenEpoch, isWanted: Bool, actions: [Action]) {
        var actions: [Action] = []
        if let visit {
            guard let index = index(of: visit) else { return (logOutStray(now, &actions), false, actions) }
            guard sessions[index].phase == .visiting(abandoned: nil), !isOutOfDate else {
                // In its place, so that a shutdown waits for its end.
                let token = receiveToken(index, now: now)
                end(index, now, &actions)
                settle(now, &actions)
                return (token, false, actions)
            }
            sessions.remove(at: index)
        } else if isShutDown || isOutOfDate {
            if isOwned { return (logOutStray(now, &actions), false, actions) }
            let token = tick()
            return (token, false, [.forget(token)])
        }
        if lastingCount >= limit { dismissOne(now) }
        sessions.append(
            Session(
                id: nextSession(),
                owner: isOwned ? .pool : .stranger,
                phase: .opening(.logIn, abandoned: nil),
                lastUse: now
            )
        )
        let token = receiveToken(sessions.count - 1, now: now)
        sessions[sessions.count - 1].goodAsOf = token
        sessions[sessions.count - 1].hasWorked = !isOwned
        park(sessions.count - 1)
        pressure.relieve(now)
        // Whoever brought it wants to see it.
        shown = token
        actions.append(.announce(.loggedIn(token)))
        settle(now, &actions)
        return (token, true, actions)
    }

    /// A session of which nobody has any use.
    mutating func logOutStray(_ now: NIODeadline, _ actions: inout [Action]) -> TokenEpoch {
        sessions.append(
            Session(id: nextSession(), owner: .pool, phase: .opening(.logIn, abandoned: nil), lastUse: now)
        )
        let token = receiveToken(sessions.count - 1, now: now)
        end(sessions.count - 1, now, &actions)
        settle(now, &actions)
        return token
    }
}
