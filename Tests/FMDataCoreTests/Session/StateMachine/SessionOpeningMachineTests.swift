import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// How many logins are made, when, and what their failures mean for the waiting requests.
@Suite struct SessionOpeningMachineTests {
    @Test func refusedCredentialsReachEveryWaiterAndAreNotTriedAgain() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        _ = pool.request()
        expectNoDifference(
            pool.loginFailed(1, .credentialsRefused),
            [.announce(.lost), .refuse(1, .loginFailed), .refuse(2, .loginFailed)]
        )
        expectNoDifference(pool.machine.status.failedLogins, 1)
    }

    @Test func aLoginThatBreaksFailsItsWaitersButNotTheCredentials() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        expectNoDifference(pool.loginFailed(1, .other), [.refuse(1, .loginFailed)])
        expectNoDifference(pool.request().actions.first, .logIn(.of(2)))
    }

    @Test func whileOtherSessionsServeAFailedLoginOnlyPutsOffTheNext() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        pool.open(1)
        _ = pool.request()
        _ = pool.request()
        // The request waits for session 1; the next login is tried after the pause.
        expectNoDifference(pool.loginFailed(2, .other), [.alarm(.seconds(1))])
        expectNoDifference(pool.wake(after: .seconds(1)).first, .logIn(.of(3)))
        expectNoDifference(pool.release(2, of: 1).first, .grant(3, session: 1, token: 1, hasWorked: true))
    }

    @Test func theLastSessionsEndEndsThePause() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        pool.open(1)
        _ = pool.request()
        _ = pool.request()
        _ = pool.loginFailed(2, .other)
        expectNoDifference(pool.release(2, of: 1, .refused), [.forget(.of(1)), .logIn(.of(3))])
    }

    @Test func aFullHostIsTriedAgainAfterAPauseThatDoubles() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        expectNoDifference(pool.loginFailed(1, .hostFull), [.alarm(.seconds(1))])
        expectNoDifference(pool.wake(after: .milliseconds(999)), [.alarm(.seconds(1))])
        expectNoDifference(pool.wake(after: .milliseconds(1)), [.logIn(.of(2)), .alarm(.seconds(30))])
        expectNoDifference(pool.loginFailed(2, .hostFull), [.alarm(.seconds(3))])
        expectNoDifference(pool.wake(after: .seconds(2)).first, .logIn(.of(3)))
        expectNoDifference(
            pool.loggedIn(3),
            [.announce(.loggedIn(.of(1))), .grant(1, session: 3, token: 1)]
        )
    }

    @Test func whoWaitsForAHostThatStaysFullGetsItsAnswer() {
        var pool = SessionMachineFixture { $0.waitingTime = .milliseconds(500) }
        _ = pool.request()
        _ = pool.loginFailed(1, .hostFull)
        expectNoDifference(pool.wake(after: .milliseconds(500)).first, .refuse(1, .hostStayedFull))
    }

    @Test func aFullHostShrinksThePoolToWhatItHas() {
        var pool = SessionMachineFixture { $0.maximumSessions = 4 }
        pool.open(2)
        for _ in 0..<3 { _ = pool.request() }
        expectNoDifference(pool.machine.limit, 4)
        expectNoDifference(pool.loginFailed(3, .hostFull), [.alarm(.seconds(1))])
        expectNoDifference(pool.machine.limit, 2)
        // One more session is tried after the pause; if it succeeds, another one.
        expectNoDifference(pool.wake(after: .seconds(1)).first, .logIn(.of(4)))
        expectNoDifference(pool.machine.limit, 3)
    }

    @Test func aLoginFromBeforeTheRefusalDoesNotEndThePause() {
        var pool = SessionMachineFixture { $0.maximumSessions = 8 }
        pool.open(2)
        for _ in 0..<6 { _ = pool.request() }
        expectNoDifference(pool.machine.status.loggingIn, 2)
        // The host had room for one of the two logins.
        _ = pool.loginFailed(3, .hostFull)
        expectNoDifference(pool.loggedIn(4), [.grant(5, session: 4, token: 3)])
        expectNoDifference(pool.machine.status.loggingIn, 0)
        expectNoDifference(pool.machine.status.limit, 3)
        // The three sessions serve all requests; the next attempt comes after a longer pause.
        expectNoDifference(pool.release(4, of: 1), [.grant(6, session: 1, token: 1, hasWorked: true)])
        expectNoDifference(pool.wake(after: .seconds(1)).first, .logIn(.of(5)))
        _ = pool.loginFailed(5, .hostFull)
        expectNoDifference(pool.machine.status.limit, 3)
        expectNoDifference(pool.wake(after: .seconds(1)).first, .alarm(.seconds(3)))
        expectNoDifference(pool.wake(after: .seconds(1)).first, .logIn(.of(6)))
    }

    @Test func withoutAnySessionAFullHostIsWaitedForNoLongerThanItsDeadline() {
        var pool = SessionMachineFixture { $0.maximumSessions = 8 }
        _ = pool.request()
        for (login, pause) in [(1, 1), (2, 2), (3, 4)] as [(Int, Int64)] {
            _ = pool.loginFailed(login, .hostFull)
            expectNoDifference(pool.wake(after: .seconds(pause)).first, .logIn(.of(login + 1)))
        }
        // A later request has the same time limit, counted from its own beginning.
        _ = pool.request()
        expectNoDifference(pool.loginFailed(4, .hostFull), [.alarm(.seconds(10))])
        expectNoDifference(pool.wake(after: .seconds(3)), [.refuse(1, .hostStayedFull), .alarm(.seconds(15))])
        expectNoDifference(pool.wake(after: .seconds(5)).first, .logIn(.of(5)))
        // An attempt under way is waited for, even beyond the deadline.
        expectNoDifference(pool.wake(after: .seconds(5)), [.alarm(.seconds(30))])
        expectNoDifference(pool.loginFailed(5, .hostFull).first, .refuse(2, .hostStayedFull))
    }

    /// The pauses are so short that many attempts fit in: the request survives 9 or 10 refusals in a row.
    @Test(arguments: [9, 10])
    func manyRefusalsAtTheVeryFirstLoginEndInOneThatSucceeds(count: Int) {
        var pool = SessionMachineFixture {
            $0.minimumBackOff = .milliseconds(1)
            $0.maximumBackOff = .milliseconds(10)
        }
        _ = pool.request()
        for login in 1...count {
            expectNoDifference(pool.loginFailed(login, .hostFull).count, 1)
            expectNoDifference(pool.wake(after: .milliseconds(10)).first, .logIn(.of(login + 1)))
        }
        expectNoDifference(
            pool.loggedIn(count + 1),
            [.announce(.loggedIn(.of(1))), .grant(1, session: count + 1, token: 1)]
        )
        expectNoDifference(pool.machine.limit, 1)
    }

    @Test func aRequestThatMeetsAFullHostGivesItsSessionUp() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        pool.open(2)
        _ = pool.request()
        _ = pool.request()
        let actions = pool.release(3, of: 2, .hostFull)
        expectNoDifference(actions.first, .logOut(2, token: 2))
        expectNoDifference(pool.machine.limit, 1)
    }

    @Test func jitterTakesTheUpperHalf() {
        var low = BackOff(minimum: .seconds(1), maximum: .seconds(10))
        var high = low
        expectNoDifference(
            (0..<5).map { _ in low.next(jitter: 0) },
            [500, 1000, 2000, 4000, 5000].map(TimeAmount.milliseconds)
        )
        expectNoDifference((0..<5).map { _ in high.next(jitter: 1) }, [1, 2, 4, 8, 10].map(TimeAmount.seconds))
        for _ in 0..<100 { _ = high.next(jitter: 1) }
        expectNoDifference(high.next(jitter: 7), .seconds(10))
        high.reset()
        expectNoDifference(high.next(jitter: 1), .seconds(1))
    }

    @Test func anAdoptedTokenServesWhoWaits() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        let actions = pool.adopt(isOwned: true)
        expectNoDifference(
            actions,
            [.announce(.loggedIn(.of(1))), .grant(1, session: 2, token: 1), .alarm(.seconds(5))]
        )
        // The login that was under way is not needed any more, so its session is logged out.
        expectNoDifference(pool.loggedIn(1).first, .logOut(1, token: 2))
    }

    @Test func anAdoptedTokenTakesThePlaceOfTheOneThatIsThere() {
        var pool = SessionMachineFixture()
        pool.open(1)
        expectNoDifference(
            pool.adopt(isOwned: false),
            [.announce(.loggedIn(.of(2))), .logOut(1, token: 1), .alarm(.seconds(10))]
        )
        expectNoDifference(pool.request().answer, .granted(.of(2, session: 2, token: 2, hasWorked: true)))
    }

    @Test func aStrangersTokenIsUsedUntilItIsRefusedAndNeverLoggedOutUnasked() {
        var pool = SessionMachineFixture()
        _ = pool.adopt(isOwned: false)
        expectNoDifference(pool.wake(after: .hours(10)), [])
        expectNoDifference(pool.request().answer, .granted(.of(1, session: 1, token: 1, hasWorked: true)))
        _ = pool.release(1, of: 1)
        expectNoDifference(pool.shutdown(), [.forget(.of(1)), .finish(1)])
    }

    @Test func replacedCredentialsEndTheOldSessionsWhenTheirRequestsDo() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        pool.open(2)
        _ = pool.request()
        expectNoDifference(pool.replaceCredentials().first, .logOut(1, token: 1))
        // One place becomes free when session 1 is logged out.
        expectNoDifference(pool.request().actions.contains(.logIn(.of(3))), false)
        expectNoDifference(pool.loggedOut(1).contains(.logIn(.of(3))), true)
        expectNoDifference(pool.release(3, of: 2).first, .logOut(2, token: 2))
        expectNoDifference(pool.loggedIn(3).contains(.grant(4, session: 3, token: 3)), true)
    }
}
