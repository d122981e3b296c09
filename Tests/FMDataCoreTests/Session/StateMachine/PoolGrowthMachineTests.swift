import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// When a pool opens more sessions than one, and how many at once.
@Suite struct PoolGrowthMachineTests {
    /// A pool whose only session is in use, and whose login took this long.
    private func busyPool(loginTook time: TimeAmount, maximumSessions: Int = 8) -> SessionMachineFixture {
        var pool = SessionMachineFixture { $0.maximumSessions = maximumSessions }
        _ = pool.request()
        pool.pass(time)
        _ = pool.loggedIn(1)
        return pool
    }

    private func logins(_ actions: [SessionMachineFixture.Action]) -> Int {
        actions.count { if case .logIn = $0 { true } else { false } }
    }

    @Test func untilALoginHasSucceededOnlyOneIsTried() {
        var pool = SessionMachineFixture { $0.maximumSessions = 8 }
        for _ in 0..<20 { _ = pool.request() }
        expectNoDifference(pool.machine.status.loggingIn, 1)
    }

    @Test func whoWaitsLessThanALoginTakesCausesNone() {
        var pool = busyPool(loginTook: .milliseconds(200))
        let (answer, actions) = pool.request()
        expectNoDifference(answer, .waiting(.of(2)))
        expectNoDifference(actions, [.alarm(.milliseconds(400))])
        pool.pass(.milliseconds(199))
        expectNoDifference(pool.release(1, of: 1), [.grant(2, session: 1, token: 1, hasWorked: true)])
        // The alarm was set for the request that waited.
        expectNoDifference(logins(pool.wake(after: .milliseconds(1))), 0)
    }

    @Test func whoWaitsAsLongAsALoginTakesCausesOne() {
        var pool = busyPool(loginTook: .milliseconds(200))
        _ = pool.request()
        _ = pool.request()
        expectNoDifference(logins(pool.wake(after: .milliseconds(199))), 0)
        // Two requests wait, but only as many logins run at once as there are open sessions: one.
        expectNoDifference(pool.wake(after: .milliseconds(1)).first, .logIn(.of(2)))
        expectNoDifference(pool.machine.status.loggingIn, 1)
    }

    @Test func theWaitCountsAnewFromEachSessionThatCame() {
        var pool = busyPool(loginTook: .milliseconds(200))
        for _ in 0..<3 { _ = pool.request() }
        _ = pool.wake(after: .milliseconds(200))
        pool.pass(.milliseconds(100))
        expectNoDifference(pool.loggedIn(2).first, .grant(2, session: 2, token: 2))
        expectNoDifference(logins(pool.wake(after: .milliseconds(99))), 0)
        expectNoDifference(logins(pool.wake(after: .milliseconds(1))), 2)
    }

    @Test func aPoolDoublesWhileTheDemandLasts() {
        var pool = busyPool(loginTook: .milliseconds(20))
        for _ in 0..<200 { _ = pool.request() }
        var steps: [Int] = []
        while pool.machine.status.sessions < 8 {
            let first = pool.machine.sessions.count
            steps.append(logins(pool.wake(after: .milliseconds(20))))
            pool.pass(.milliseconds(20))
            for session in first..<pool.machine.sessions.count { _ = pool.loggedIn(session + 1) }
        }
        expectNoDifference(steps, [1, 2, 4])
        expectNoDifference(pool.machine.status.sessions, 8)
        expectNoDifference(logins(pool.wake(after: .seconds(1))), 0)
    }

    @Test func aLoginThatTookLongMakesNobodyWaitLongerThanASecond() {
        var pool = busyPool(loginTook: .seconds(20))
        _ = pool.request()
        expectNoDifference(logins(pool.wake(after: .milliseconds(999))), 0)
        expectNoDifference(logins(pool.wake(after: .milliseconds(1))), 1)
    }

    @Test func aReplayAsksForThePlaceOfTheSessionItLost() {
        var pool = busyPool(loginTook: .milliseconds(200))
        _ = pool.request()
        _ = pool.wake(after: .milliseconds(200))
        _ = pool.loggedIn(2)
        _ = pool.release(1, of: 1)
        _ = pool.request()
        expectNoDifference(pool.release(3, of: 1, .refused), [.forget(.of(1)), .announce(.loggedIn(.of(2)))])
        expectNoDifference(pool.request(.replay).actions.first, .logIn(.of(3)))
    }

    @Test func withoutAnySessionInUseNobodyWaitsForNothing() {
        var pool = busyPool(loginTook: .milliseconds(200))
        _ = pool.release(1, of: 1)
        _ = pool.logOut()
        _ = pool.loggedOut(1)
        for _ in 0..<3 { _ = pool.request() }
        expectNoDifference(pool.machine.status.loggingIn, 1)
    }

    @Test func aPoolOfOneSetsNoAlarmForGrowth() {
        var pool = busyPool(loginTook: .milliseconds(200), maximumSessions: 1)
        expectNoDifference(pool.request().actions, [])
    }

    // MARK: The published token

    @Test func oneTokenIsShownAsLongAsItsSessionIsOpen() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        _ = pool.request()
        expectNoDifference(pool.loggedIn(1).first, .announce(.loggedIn(.of(1))))
        _ = pool.request()
        expectNoDifference(pool.loggedIn(2), [.grant(2, session: 2, token: 2)])
        _ = pool.release(1, of: 1)
        _ = pool.release(2, of: 2)
        _ = pool.request()
        _ = pool.request()
        // Session 1 has ended, so session 2's token is shown.
        expectNoDifference(pool.release(4, of: 1, .refused), [.forget(.of(1)), .announce(.loggedIn(.of(2)))])
        // The last session has ended: its token stays until there is another one.
        expectNoDifference(pool.release(3, of: 2, .refused), [.forget(.of(2))])
    }

    @Test func aTrimmedSessionIsNotShownAnyMore() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        pool.open(2)
        pool.pass(.seconds(59))
        _ = pool.request()
        expectNoDifference(pool.release(3, of: 2), [])
        expectNoDifference(
            pool.wake(after: .seconds(1)).prefix(2),
            [.logOut(1, token: 1), .announce(.loggedIn(.of(2)))]
        )
    }

    // MARK: Expiry

    @Test func theExpiryIsThatOfTheSessionUsedLast() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        expectNoDifference(pool.machine.expiry, nil)
        pool.open(2)
        expectNoDifference(pool.machine.expiry, SessionMachineFixture.at(.seconds(900)))
        pool.pass(.seconds(30))
        _ = pool.request()
        _ = pool.release(3, of: 2)
        expectNoDifference(pool.machine.expiry, SessionMachineFixture.at(.seconds(930)))
        _ = pool.logOut()
        expectNoDifference(pool.machine.expiry, nil)
    }
}
