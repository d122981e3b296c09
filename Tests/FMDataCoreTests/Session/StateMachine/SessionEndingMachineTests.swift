import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// How sessions end: by idleness, by a logout of all, and by a shutdown.
@Suite struct SessionEndingMachineTests {
    @Test func anIdleSessionIsLoggedOutBeforeTheServerDropsIt() {
        var pool = SessionMachineFixture()
        pool.open(1)
        // The alarm was set for the waiting request. An alarm that fires early is set again for the next deadline.
        expectNoDifference(pool.wake(after: .seconds(30)), [.alarm(.seconds(870))])
        expectNoDifference(pool.wake(after: .seconds(839)), [.alarm(.seconds(870))])
        expectNoDifference(pool.wake(after: .seconds(1)), [.logOut(1, token: 1), .alarm(.seconds(880))])
        expectNoDifference(pool.loggedOut(1), [.forget(1)])
        expectNoDifference(pool.machine.status.sessions, 0)
    }

    @Test func anAlarmThatRingsTooEarlyIsSetAgain() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        expectNoDifference(pool.wake(after: .nanoseconds(29_999_999_999)), [.alarm(.seconds(30))])
        expectNoDifference(pool.wake(after: .nanoseconds(1)).first, .refuse(1, .deadlinePassed))
    }

    @Test func useSlidesTheIdleTime() {
        var pool = SessionMachineFixture()
        pool.open(1)
        for lease in 2..<50 {
            pool.pass(.seconds(800))
            expectNoDifference(
                pool.request().answer,
                .granted(.of(lease, session: 1, token: 1, hasWorked: true))
            )
            _ = pool.release(lease, of: 1)
        }
    }

    @Test func aSessionThatIsTooOldIsNotOfferedEvenWhenTheAlarmIsLate() {
        var pool = SessionMachineFixture()
        pool.open(1)
        pool.pass(.seconds(870))
        expectNoDifference(pool.request().actions.first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.forget(1), .logIn(.of(2))])
    }

    @Test func sessionsBeyondTheFirstAreTrimmedTheOldestFirst() {
        var pool = SessionMachineFixture { $0.maximumSessions = 3 }
        pool.open(3)
        pool.pass(.seconds(59))
        expectNoDifference(pool.machine.wakeUp(now: pool.now), [.alarm(.seconds(60))])
        expectNoDifference(
            pool.wake(after: .seconds(1)),
            [.logOut(1, token: 1), .logOut(2, token: 2), .announce(.loggedIn(.of(3))), .alarm(.seconds(70))]
        )
        expectNoDifference(pool.machine.idle, [.of(3)])
    }

    @Test func aLogoutThatHangsIsGivenUp() {
        var pool = SessionMachineFixture()
        pool.open(1)
        expectNoDifference(pool.logOut(), [.logOut(1, token: 1), .alarm(.seconds(10))])
        expectNoDifference(
            pool.wake(after: .seconds(10)),
            [.cancelLogOut(.of(1)), .forget(1), .announce(.loggedOut), .finish(1, left: 1)]
        )
    }

    @Test func logOutWaitsForTheRequestsThatWereThereFirst() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.request()
        _ = pool.request()
        expectNoDifference(pool.logOut(), [])
        _ = pool.request()
        expectNoDifference(pool.release(2, of: 1), [.grant(3, session: 1, token: 1, hasWorked: true)])
        // The last request came after the logout, so it waits for a new session.
        expectNoDifference(pool.release(3, of: 1).first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.forget(1), .logIn(.of(2)), .finish(1)])
    }

    @Test func logOutIsIdempotent() {
        var pool = SessionMachineFixture()
        expectNoDifference(pool.logOut(), [.announce(.loggedOut), .finish(1)])
        pool.open(1)
        _ = pool.logOut()
        expectNoDifference(pool.logOut(), [])
        expectNoDifference(
            pool.loggedOut(1),
            [.forget(1), .announce(.loggedOut), .finish(2), .announce(.loggedOut), .finish(3)]
        )
        expectNoDifference(pool.request().actions.first, .logIn(.of(2)))
    }

    @Test func shutdownRefusesWhoWaitsAndWaitsForWhoWorks() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.request()
        _ = pool.request()
        expectNoDifference(pool.shutdown(), [.refuse(3, .isShutDown), .alarm(.seconds(15))])
        expectNoDifference(pool.request().answer, .refused(.isShutDown))
        expectNoDifference(pool.release(2, of: 1).first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.forget(1), .finish(1), .cancelAlarm])
    }

    @Test func shutdownTakesSessionsAwayWhenItsTimeIsOver() {
        var pool = SessionMachineFixture { $0.shutdownTime = .seconds(5) }
        pool.open(1)
        _ = pool.request()
        // Half of the shutdown's time is reserved for the logouts.
        expectNoDifference(pool.shutdown(), [.alarm(.milliseconds(2500))])
        expectNoDifference(pool.wake(after: .milliseconds(2500)), [.logOut(1, token: 1), .alarm(.seconds(5))])
        expectNoDifference(pool.release(2, of: 1), [])
        expectNoDifference(pool.loggedOut(1), [.forget(1), .finish(1), .cancelAlarm])
    }

    @Test func shutdownDuringALoginLogsItsSessionOut() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        expectNoDifference(pool.shutdown(), [.refuse(1, .isShutDown), .alarm(.seconds(5))])
        expectNoDifference(pool.loggedIn(1), [.logOut(1, token: 1)])
        expectNoDifference(pool.loggedOut(1), [.forget(1), .finish(1), .cancelAlarm])
    }

    @Test func aTokenThatArrivesAfterItsLoginWasCancelledIsLoggedOut() {
        var pool = SessionMachineFixture { $0.abandonedTime = .zero }
        _ = pool.request()
        expectNoDifference(pool.withdraw(1), [.cancelOpening(.of(1))])
        expectNoDifference(pool.loggedIn(1), [.logOut(2, token: 1), .alarm(.seconds(10))])
        expectNoDifference(pool.loginFailed(1, .other), [])
    }
}
