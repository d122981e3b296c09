import NIOCore

// Sessions that come from outside: by an external login, or with a token that the program supplies.
extension SessionPoolStateMachine {
    /// An external login begins, which will bring its session. Returns `nil` after a shutdown.
    mutating func logInExternally(now: NIODeadline) -> (id: SessionID?, actions: [Action]) {
        if isShutDown { return (nil, []) }
        let id = nextSession()
        sessions.append(Session(id: id, owner: .pool, phase: .visiting(abandoned: nil), lastUse: now))
        return (id, [])
    }

    /// The external login was cancelled. It gets some time to end; then its session is logged out.
    mutating func abandonVisit(_ id: SessionID, now: NIODeadline) -> [Action] {
        guard let index = index(of: id) else { return [] }
        var actions: [Action] = []
        abandon(index, now)
        settle(now, &actions)
        return actions
    }

    /// The external login failed.
    mutating func visitFailed(_ id: SessionID, now: NIODeadline) -> [Action] {
        guard let index = index(of: id), case .visiting = sessions[index].phase else { return [] }
        sessions.remove(at: index)
        var actions: [Action] = []
        settle(now, &actions)
        return actions
    }

    /// Takes a token that was opened elsewhere, and makes room for it if the pool is full. With `isOwned` it is logged
    /// out like the others; without, it is used until the server refuses it.
    ///
    /// - Parameters:
    ///   - externalLogin: the external login that brought it. If that was abandoned, the session is logged out.
    ///   - isOutOfDate: whether its account has been replaced since.
    mutating func adopt(
        isOwned: Bool,
        from externalLogin: SessionID? = nil,
        isOutOfDate: Bool = false,
        now: NIODeadline
    ) -> (token: TokenEpoch, isWanted: Bool, actions: [Action]) {
        var actions: [Action] = []
        if let externalLogin {
            guard let index = index(of: externalLogin) else { return (logOutStray(now, &actions), false, actions) }
            guard sessions[index].phase == .visiting(abandoned: nil), !isOutOfDate else {
                // The session ends in the place of its login, so that a shutdown waits for it.
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
        // The caller of the login expects its token to be shown.
        shown = token
        actions.append(.announce(.loggedIn(token)))
        settle(now, &actions)
        return (token, true, actions)
    }

    /// Logs out a session that cannot be used.
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
