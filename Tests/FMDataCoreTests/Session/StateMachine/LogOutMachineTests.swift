import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// No session is left on the server, or it is counted: logouts that fail, and logins that are not needed any more.
@Suite struct LogOutMachineTests {
    // MARK: Logouts that fail

    @Test func aLogoutThatFailsInPassingIsRepeated() {
        var pool = SessionMachineFixture()
        pool.open(1)
        expectNoDifference(pool.logOut(), [.logOut(1, token: 1), .alarm(.seconds(10))])
        expectNoDifference(pool.logOutFailed(1), [.alarm(.seconds(1))])
        expectNoDifference(pool.wake(after: .seconds(1)), [.logOut(1, token: 1), .alarm(.seconds(10))])
        expectNoDifference(pool.loggedOut(1), [.forget(1), .announce(.loggedOut), .finish(1)])
        expectNoDifference(pool.machine.status.sessionsLeft, 0)
    }

    @Test func itIsGivenUpWhenItsTimeIsOver() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.logOut()
        for _ in 0..<9 {
            _ = pool.logOutFailed(1)
            expectNoDifference(pool.wake(after: .seconds(1)).first, .logOut(1, token: 1))
        }
        // There is no time left for another pause.
        expectNoDifference(pool.logOutFailed(1), [.forget(1), .announce(.loggedOut), .finish(1, left: 1)])
        expectNoDifference(pool.machine.status.sessionsLeft, 1)
    }

    @Test func whatAnotherAttemptWouldNotChangeIsCountedAtOnce() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.logOut()
        expectNoDifference(
            pool.logOutFailed(1, isPassing: false),
            [.forget(1), .announce(.loggedOut), .finish(1, left: 1)]
        )
    }

    /// The shutdown is the last report, so it also counts sessions whose logout failed before, until they must have
    /// expired on the server.
    @Test func aShutdownTellsOfWhatWasLeftBeforeAsLongAsTheServerMayHaveIt() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.logOut()
        _ = pool.logOutFailed(1, isPassing: false)
        var later = pool
        #expect(pool.shutdown().contains(.finish(2, left: 1)))
        _ = later.wake(after: .minutes(15))
        #expect(later.shutdown().contains(.finish(2)))
    }

    @Test func aLogoutTellsOfItsOwnSessionsOnly() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.logOut()
        _ = pool.logOutFailed(1, isPassing: false)
        expectNoDifference(pool.logOut(), [.announce(.loggedOut), .finish(2)])
    }

    @Test func aShutdownRepeatsThemWithinItsOwnTime() {
        var pool = SessionMachineFixture { $0.shutdownTime = .seconds(20) }
        pool.open(1)
        expectNoDifference(pool.shutdown().first, .logOut(1, token: 1))
        for _ in 0..<19 {
            _ = pool.logOutFailed(1)
            expectNoDifference(pool.wake(after: .seconds(1)).first, .logOut(1, token: 1))
        }
        expectNoDifference(pool.logOutFailed(1), [.forget(1), .finish(1, left: 1), .cancelAlarm])
    }

    @Test func aLogoutThatIsNotAnsweredIsCountedWhenTheShutdownIsOver() {
        var pool = SessionMachineFixture { $0.shutdownTime = .seconds(20) }
        pool.open(1)
        _ = pool.shutdown()
        expectNoDifference(pool.wake(after: .seconds(20)), [.cancelLogOut(.of(1)), .forget(1), .finish(1, left: 1)])
    }

    // MARK: External logins

    @Test func aVisitorBringsHisSessionAlong() {
        var pool = SessionMachineFixture()
        expectNoDifference(pool.logInExternally(), 1)
        expectNoDifference(pool.machine.status.loggingIn, 1)
        let (isWanted, actions) = pool.adopt(from: 1)
        expectNoDifference(isWanted, true)
        expectNoDifference(actions, [.announce(.loggedIn(.of(1))), .alarm(.seconds(870))])
        expectNoDifference(pool.request().answer, .granted(.of(1, session: 2, token: 1)))
    }

    @Test func aVisitThatNobodyWantsAnyMoreIsLoggedOut() {
        var pool = SessionMachineFixture()
        _ = pool.logInExternally()
        expectNoDifference(pool.abandonVisit(1), [.alarm(.seconds(5))])
        let (isWanted, actions) = pool.adopt(from: 1)
        expectNoDifference(isWanted, false)
        expectNoDifference(actions.first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.forget(1)])
    }

    @Test func aVisitThatTakesTooLongIsCancelledAndLoggedOutWhenItsTokenComesAllTheSame() {
        var pool = SessionMachineFixture()
        _ = pool.logInExternally()
        _ = pool.abandonVisit(1)
        expectNoDifference(pool.wake(after: .seconds(5)), [.cancelOpening(.of(1))])
        expectNoDifference(pool.machine.status.sessionsLeft, 1)
        expectNoDifference(pool.adopt(from: 1).actions.first, .logOut(2, token: 1))
    }

    @Test func aShutdownWaitsForAVisitAndLogsItOut() {
        var pool = SessionMachineFixture()
        _ = pool.logInExternally()
        expectNoDifference(pool.shutdown(), [.alarm(.seconds(5))])
        expectNoDifference(pool.adopt(from: 1).actions, [.logOut(1, token: 1)])
        expectNoDifference(pool.loggedOut(1), [.forget(1), .finish(1), .cancelAlarm])
        expectNoDifference(pool.logInExternally(), nil)
    }

    @Test func aLogoutOfTheDatabaseDoesNotConcernAVisit() {
        var pool = SessionMachineFixture()
        _ = pool.logInExternally()
        expectNoDifference(pool.logOut(), [.announce(.loggedOut), .finish(1)])
        expectNoDifference(pool.adopt(from: 1).isWanted, true)
    }

    /// An external login already takes a place in the pool. With a pool of one, a request waits for its session, or for
    /// a new login after it has failed.
    @Test func requestsWaitForAVisitThatTakesTheOnlyPlace() {
        var pool = SessionMachineFixture()
        _ = pool.logInExternally()
        expectNoDifference(pool.request().actions, [.alarm(.seconds(30))])
        expectNoDifference(pool.visitFailed(1).first, .logIn(.of(2)))
    }

    // MARK: Stores that do not keep a token

    @Test func aSessionThatTheStoreDoesNotKeepIsLoggedOut() {
        var pool = SessionMachineFixture { $0.hasStore = true }
        _ = pool.request()
        _ = pool.loaded(1, found: false)
        expectNoDifference(pool.loggedIn(1).first, .save(.of(1)))
        expectNoDifference(pool.storeRefused(1), [])
        _ = pool.release(1, of: 1)
        expectNoDifference(pool.shutdown().first, .logOut(1, token: 1))
    }
}
