import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// One session of the pool is kept in a store and shared with other processes.
@Suite struct TokenStoreMachineTests {
    private func makePool(_ maximumSessions: Int = 1) -> SessionMachineFixture {
        SessionMachineFixture {
            $0.hasStore = true
            $0.maximumSessions = maximumSessions
        }
    }

    @Test func theStoreIsAskedBeforeALogin() {
        var pool = makePool()
        expectNoDifference(pool.request().actions, [.load(.of(1)), .alarm(.seconds(30))])
        expectNoDifference(
            pool.loaded(1, found: true),
            [.announce(.loggedIn(.of(1))), .grant(1, session: 1, token: 1, hasWorked: true)]
        )
        expectNoDifference(pool.machine.status.logins, 0)
    }

    @Test func anEmptyStoreLeadsToALoginThatIsSaved() {
        var pool = makePool()
        _ = pool.request()
        expectNoDifference(pool.loaded(1, found: false), [.logIn(.of(1))])
        expectNoDifference(
            pool.loggedIn(1),
            [.save(.of(1)), .announce(.loggedIn(.of(1))), .grant(1, session: 1, token: 1)]
        )
    }

    @Test func aDeadEntryIsDroppedAndTheReplayLogsInWithoutAskingAgain() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.loaded(1, found: true)
        expectNoDifference(pool.release(1, of: 1, .refused), [.drop(.of(1)), .forget(.of(1))])
        expectNoDifference(pool.request(.replay).actions.first, .logIn(.of(2)))
        expectNoDifference(pool.loggedIn(2).first, .save(.of(3)))
    }

    @Test func onlyOneSessionIsStored() {
        var pool = makePool(2)
        _ = pool.request()
        _ = pool.loaded(1, found: true)
        expectNoDifference(pool.request().actions.first, .logIn(.of(2)))
        expectNoDifference(pool.loggedIn(2), [.grant(2, session: 2, token: 2)])
    }

    @Test func atTheEndTheStoredSessionIsLeftOpen() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.loaded(1, found: true)
        _ = pool.release(1, of: 1)
        expectNoDifference(pool.shutdown().first, .leave(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.forget(1), .finish(1), .cancelAlarm])
    }

    @Test func logOutClosesTheStoredSession() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.loaded(1, found: true)
        _ = pool.release(1, of: 1)
        expectNoDifference(pool.logOut().prefix(2), [.drop(.of(1)), .logOut(1, token: 1)])
    }

    @Test func logOutClosesASessionThatOnlyTheStoreKnows() {
        var pool = makePool()
        expectNoDifference(pool.logOut(), [.load(.of(1)), .alarm(.seconds(10))])
        expectNoDifference(pool.loaded(1, found: true), [.drop(.of(1)), .logOut(1, token: 1)])
        expectNoDifference(pool.loggedOut(1), [.forget(1), .announce(.loggedOut), .finish(1)])
    }

    @Test func logOutWithAnEmptyStoreIsDone() {
        var pool = makePool()
        _ = pool.logOut()
        expectNoDifference(pool.loaded(1, found: false), [.announce(.loggedOut), .finish(1)])
    }

    @Test func pinnedWorkGetsASessionThatNobodyElseKnows() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.loaded(1, found: true)
        _ = pool.release(1, of: 1)
        expectNoDifference(pool.request(.pinned).actions.first, .leave(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.forget(1), .logIn(.of(2))])
        expectNoDifference(
            pool.loggedIn(2),
            [.announce(.loggedIn(.of(2))), .grant(2, session: 2, token: 2)]
        )
    }

    @Test func aBrokenStoredSessionIsTakenOutAndLoggedOut() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.loaded(1, found: true)
        expectNoDifference(pool.release(1, of: 1, .broken).prefix(2), [.drop(.of(1)), .logOut(1, token: 1)])
    }

    @Test func aLoadThatNobodyWaitsForIsGivenUp() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.withdraw(1)
        expectNoDifference(pool.loaded(1, found: true), [])
        expectNoDifference(pool.machine.sessions, [])
        expectNoDifference(pool.loaded(1, found: false), [])
    }
}
