import NIOCore

// Failed logins, a full host, refused tokens: when to try again, and when to refuse the waiting requests.
extension SessionPoolStateMachine {
    /// A login failed. Has no effect if it was cancelled before.
    ///
    /// Requests keep waiting as long as there is a chance: other sessions serve meanwhile, the host is full and may
    /// have room later, or the failure was temporary and attempts are left.
    ///
    /// - Parameter mayHaveOpened: whether the host may have opened a session without having said so.
    mutating func loginFailed(
        _ id: SessionID,
        _ failure: LoginFailure,
        mayHaveOpened: Bool = false,
        jitter: Double,
        now: NIODeadline
    ) -> [Action] {
        guard let index = index(of: id), case .opening(let stage, _) = sessions[index].phase else { return [] }
        let session = sessions.remove(at: index)
        let wasEnding = session.isEnding
        if stage != .slot { totals.failedLogins += 1 }
        var actions: [Action] = []
        if session.slot != nil {
            switch failure {
            case .hostFull: actions.append(.giveToFullHost(id))
            case .credentialsRefused: actions.append(.giveAfterRefusal(id))
            case .passing, .other:
                actions.append(mayHaveOpened ? .giveAfterLostLogin(id) : .give(id, without: nil, life: nil))
            }
        }
        // A login with replaced credentials says nothing about the requests that wait now.
        if !wasEnding {
            let othersServe = sessions.contains(where: \.mayServe)
            if failure == .hostFull, settings.hasBudget {
                // The budget decides who logs in next; here a pause is enough.
                hostIsFull = true
                opensNotBefore = now + backOff.least(jitter: jitter)
            } else if failure == .hostFull {
                hostIsFull = true
                shrink(to: activeCount, jitter: jitter, now: now)
            } else if othersServe {
                opensNotBefore = now + backOff.next(jitter: jitter)
            } else if failure == .passing, failuresInARow + 1 < settings.loginAttempts {
                failuresInARow += 1
                opensNotBefore = now + backOff.next(jitter: jitter)
            } else {
                failuresInARow = 0
                backOff.reset()
                if failure == .credentialsRefused {
                    credentialsAreProven = false
                    shown = nil
                    actions.append(.announce(.lost))
                }
                actions += queue.removeAll().map { .refuse($0.id, .loginFailed) }
            }
        }
        settle(now, &actions)
        return actions
    }

    /// A login succeeded.
    mutating func noteLogin(_ now: NIODeadline) {
        failuresInARow = 0
        // The login may have been sent before the host reported that it is full, so it does not prove that there is
        // room again.
        if hostIsFull, let opensNotBefore, opensNotBefore > now { return }
        backOff.reset()
        hostIsFull = false
        opensNotBefore = nil
    }

    /// The host is full: allow no more sessions than this, and pause.
    mutating func shrink(to count: Int, jitter: Double, now: NIODeadline) {
        limit = min(limit, max(1, count))
        opensNotBefore = now + backOff.next(jitter: jitter)
    }

    /// A token was refused that had never worked. After the second such refusal in a row, further logins would only
    /// pile up sessions: requests do not reach the machine that opened them, or it forgets them at once.
    mutating func noteRefusal(ofFresh token: TokenEpoch, jitter: Double, now: NIODeadline) {
        // Tokens that were opened side by side and end together, as when the host restarts, count once.
        guard token > lastRefusal else { return }
        lastRefusal = epoch
        refusalsInARow += 1
        guard tokensAreRefused else { return }
        // After the pause, one login at a time shows whether tokens are still refused.
        credentialsAreProven = false
        opensNotBefore = now + refusalBackOff.next(jitter: jitter)
    }

    /// The server has accepted the token of a request whose lease began at that tick.
    mutating func noteTokenTaken(since: TokenEpoch) {
        guard refusalsInARow > 0, since >= lastRefusal else { return }
        refusalsInARow = 0
        refusalBackOff.reset()
        credentialsAreProven = true
    }

    mutating func forgetTrouble() {
        backOff.reset()
        refusalBackOff.reset()
        hostIsFull = false
        failuresInARow = 0
        refusalsInARow = 0
        opensNotBefore = nil
    }

    /// During the pause after refused tokens, waiting requests fail, unless an open session may serve them.
    mutating func refuseWhileTokensAreRefused(_ actions: inout [Action]) {
        guard tokensAreRefused, opensNotBefore != nil, !sessions.contains(where: \.mayServe) else { return }
        actions += queue.removeAll().map { .refuse($0.id, .tokensRefused) }
    }

    /// Whether logins are paused because the last one failed, or its token was refused, and there is a reason to wait.
    var isPausing: Bool {
        guard opensNotBefore != nil else { return false }
        return hostIsFull || tokensAreRefused || failuresInARow > 0 || sessions.contains(where: \.mayServe)
    }

    private var tokensAreRefused: Bool { refusalsInARow >= 2 }
}
