import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// Logins with temporary failures, and new tokens that the server refuses.
@Suite struct LoginTroubleMachineTests {
    private typealias Action = SessionPoolStateMachine.Action

    // MARK: Logins with temporary failures

    @Test func aLoginThatFailsInPassingIsRepeatedForThoseWhoWait() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        _ = pool.request()
        expectNoDifference(pool.loginFailed(1, .passing), [.alarm(.seconds(1))])
        expectNoDifference(pool.wake(after: .seconds(1)), [.logIn(.of(2)), .alarm(.seconds(30))])
        expectNoDifference(pool.loginFailed(2, .passing), [.alarm(.seconds(3))])
        expectNoDifference(pool.wake(after: .seconds(2)), [.logIn(.of(3)), .alarm(.seconds(30))])
        expectNoDifference(
            pool.loggedIn(3),
            [.announce(.loggedIn(.of(1))), .grant(1, session: 3, token: 1)]
        )
    }

    @Test func whoComesMeanwhileWaitsForTheSameAttempt() {
        var pool = SessionMachineFixture { $0.maximumSessions = 4 }
        _ = pool.request()
        _ = pool.loginFailed(1, .passing)
        expectNoDifference(pool.request(), (.waiting(.of(2)), []))
        expectNoDifference(pool.wake(after: .seconds(1)).first, .logIn(.of(2)))
    }

    @Test func whenTheBudgetIsUsedUpAllAreTold() {
        var pool = SessionMachineFixture { $0.loginAttempts = 2 }
        _ = pool.request()
        _ = pool.loginFailed(1, .passing)
        _ = pool.request()
        _ = pool.wake(after: .seconds(1))
        expectNoDifference(pool.loginFailed(2, .passing), [.refuse(1, .loginFailed), .refuse(2, .loginFailed)])
        // The next request has the whole budget again, and no pause.
        expectNoDifference(pool.request().actions.first, .logIn(.of(3)))
        expectNoDifference(pool.loginFailed(3, .passing).contains(.refuse(3, .loginFailed)), false)
    }

    @Test(arguments: [SessionPoolStateMachine.LoginFailure.other, .credentialsRefused])
    func whatAnotherAttemptWouldNotChangeIsToldAtOnce(failure: SessionPoolStateMachine.LoginFailure) {
        var pool = SessionMachineFixture()
        _ = pool.request()
        expectNoDifference(pool.loginFailed(1, failure).contains(.refuse(1, .loginFailed)), true)
    }

    @Test func theTimeOfACallIsNoLongerForThat() {
        var pool = SessionMachineFixture()
        _ = pool.request(within: .milliseconds(500))
        _ = pool.loginFailed(1, .passing)
        expectNoDifference(pool.wake(after: .milliseconds(500)).first, .refuse(1, .callDeadlinePassed))
    }

    // MARK: Tokens that are refused

    /// Such refusals occur if a server's logins and requests reach different machines. After two of them the pool stops
    /// logging in.
    @Test func afterTheSecondRefusalOfAFreshTokenNobodyLogsIn() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        _ = pool.loggedIn(1)
        // The refused session may live on the machine that opened it, so it is logged out.
        expectNoDifference(pool.release(1, of: 1, .refused).first, .logOut(1, token: 1))
        expectNoDifference(pool.request(.replay).answer, .waiting(.of(2)))
        expectNoDifference(pool.loggedOut(1), [.forget(1), .logIn(.of(2))])
        _ = pool.loggedIn(2)
        expectNoDifference(pool.release(2, of: 2, .refused).first, .logOut(2, token: 3))
        // All later requests fail with the same refusal at once.
        expectNoDifference(pool.request(), (.waiting(.of(3)), [.refuse(3, .tokensRefused)]))
        expectNoDifference(pool.request(.pinned).actions, [.refuse(4, .tokensRefused)])
        _ = pool.loggedOut(2)
        expectNoDifference(pool.request().actions, [.refuse(5, .tokensRefused)])
    }

    @Test func whoWaitsHearsItToo() {
        var pool = stormyPool()
        _ = pool.loggedOut(1)
        _ = pool.request()
        _ = pool.request()
        _ = pool.loggedIn(2)
        let told = pool.release(2, of: 2, .refused).filter { if case .refuse = $0 { true } else { false } }
        expectNoDifference(told, [.refuse(3, .tokensRefused)])
    }

    @Test func thePauseGrowsWithEachFurtherRefusalAndOneLoginAtATimeShowsWhetherItIsOver() {
        var pool = pausingPool()
        var session = 3
        for pause in [Int64(1), 2, 4, 8, 16, 32, 60, 60] {
            _ = pool.wake(after: .milliseconds(pause * 1000 - 1))
            expectNoDifference(refusals(pool.request().actions), 1)
            pool.pass(.milliseconds(1))
            let (answer, actions) = pool.request()
            guard case .waiting(let lease) = answer else { return #expect(Bool(false), "\(answer)") }
            expectNoDifference(actions.filter { $0 == .logIn(.of(session)) }.count, 1)
            _ = pool.loggedIn(session)
            _ = pool.release(lease.number, of: session, .refused)
            _ = pool.loggedOut(session)
            session += 1
        }
    }

    @Test func aTokenThatWorksEndsThePause() {
        var pool = pausingPool()
        pool.pass(.seconds(1))
        _ = pool.request()
        _ = pool.loggedIn(3)
        _ = pool.release(3, of: 3)
        // One more refusal is the first in a row again.
        _ = pool.request()
        expectNoDifference(pool.release(4, of: 3, .refused), [.forget(5)])
        expectNoDifference(pool.request().actions.first, .logIn(.of(4)))
    }

    /// A session that has worked ends after a while, as sessions do. That is no reason to pause.
    @Test func sessionsThatHaveWorkedMayBeRefusedInARow() {
        var pool = SessionMachineFixture { $0.maximumSessions = 3 }
        pool.open(3)
        for lease in 4...6 { expectNoDifference(pool.request().answer.lease, .of(lease)) }
        _ = pool.release(4, of: 3, .refused)
        _ = pool.release(5, of: 2, .refused)
        _ = pool.release(6, of: 1, .refused)
        expectNoDifference(pool.request(.replay).actions.first, .logIn(.of(4)))
    }

    /// Sessions that were open at the same time end together when the host restarts. That counts as one refusal.
    @Test func whatWasGivenBeforeTheFirstRefusalCountsOnce() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        _ = pool.request()
        _ = pool.loggedIn(1)
        _ = pool.request()
        _ = pool.wake(after: .seconds(1))
        _ = pool.loggedIn(2)
        _ = pool.release(1, of: 1, .refused)
        _ = pool.release(2, of: 2, .refused)
        _ = pool.loggedOut(1)
        expectNoDifference(pool.request(.replay).actions.first, .logIn(.of(3)))
    }

    /// A host that is full need not have checked the token, so 956 does not count as a success of the token.
    @Test func aFullHostDoesNotShowThatATokenIsGood() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        _ = pool.loggedIn(1)
        _ = pool.release(1, of: 1, .hostFull)
        expectNoDifference(pool.request().answer, .granted(.of(2, session: 1, token: 1, hasWorked: false)))
        expectNoDifference(pool.release(2, of: 1, .refused).first, .logOut(1, token: 1))
        _ = pool.loggedOut(1)
        // So the refusal of the next token is the second in a row.
        pool.pass(.seconds(1))
        _ = pool.request(.replay)
        _ = pool.loggedIn(2)
        _ = pool.release(3, of: 2, .refused)
        expectNoDifference(pool.request().actions, [.refuse(4, .tokensRefused)])
    }

    @Test func otherCredentialsAreTriedAtOnce() {
        var pool = pausingPool()
        _ = pool.replaceCredentials()
        expectNoDifference(pool.request().actions.first, .logIn(.of(3)))
    }

    // MARK: -

    /// A pool whose first token was refused at once.
    private func stormyPool() -> SessionMachineFixture {
        var pool = SessionMachineFixture()
        _ = pool.request()
        _ = pool.loggedIn(1)
        _ = pool.release(1, of: 1, .refused)
        return pool
    }

    /// A pool that pauses its logins, since the second token was refused as well.
    private func pausingPool() -> SessionMachineFixture {
        var pool = stormyPool()
        _ = pool.loggedOut(1)
        _ = pool.request()
        _ = pool.loggedIn(2)
        _ = pool.release(2, of: 2, .refused)
        _ = pool.loggedOut(2)
        return pool
    }

    private func refusals(_ actions: [Action]) -> Int {
        actions.count { if case .refuse(_, .tokensRefused) = $0 { true } else { false } }
    }
}

extension SessionPoolStateMachine.LeaseAnswer {
    fileprivate var lease: LeaseID? {
        switch self {
        case .granted(let grant): grant.lease
        case .waiting(let id): id
        case .refused: nil
        }
    }
}

private func expectNoDifference(
    _ answer: (answer: SessionPoolStateMachine.LeaseAnswer, actions: [SessionPoolStateMachine.Action]),
    _ expected: (SessionPoolStateMachine.LeaseAnswer, [SessionPoolStateMachine.Action]),
    line: UInt = #line
) {
    expectNoDifference(answer.answer, expected.0, line: line)
    expectNoDifference(answer.actions, expected.1, line: line)
}
