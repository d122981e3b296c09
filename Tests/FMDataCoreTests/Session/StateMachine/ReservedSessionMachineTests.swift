import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// A reserved session holds state that the others lack, such as global fields: requests get only this one while it
/// lives.
@Suite struct ReservedSessionMachineTests {
    /// A pool of three idle sessions, of which the second is reserved.
    private func confinedPool() -> SessionMachineFixture {
        var pool = SessionMachineFixture { $0.maximumSessions = 3 }
        pool.open(3)
        _ = pool.confine(to: 2)
        return pool
    }

    @Test func requestsGetTheKeeperAlone() {
        var pool = confinedPool()
        expectNoDifference(pool.request().answer, .granted(.of(4, session: 2, token: 2, hasWorked: true)))
        // Other sessions are idle and more could be opened, but they lack the state.
        expectNoDifference(pool.request().answer, .waiting(.of(5)))
        expectNoDifference(pool.request(.replay).answer, .waiting(.of(6)))
        expectNoDifference(pool.wake(after: .seconds(20)), [.alarm(.seconds(30))])
        expectNoDifference(pool.release(4, of: 2), [.grant(5, session: 2, token: 2, hasWorked: true)])
        expectNoDifference(pool.release(5, of: 2), [.grant(6, session: 2, token: 2, hasWorked: true)])
    }

    @Test func pinnedWorkNeverGetsIt() {
        var pool = confinedPool()
        expectNoDifference(pool.request(.pinned).answer, .granted(.of(4, session: 3, token: 3, hasWorked: true)))
        expectNoDifference(pool.request(.pinned).answer, .granted(.of(5, session: 1, token: 1, hasWorked: true)))
        // The third one waits for one of these to end, not for the reserved session.
        expectNoDifference(pool.request(.pinned).answer, .waiting(.of(6)))
        expectNoDifference(pool.release(4, of: 3, .retired).first, .logOut(3, token: 3))
        expectNoDifference(pool.loggedOut(3), [.forget(3), .logIn(.of(4))])
        expectNoDifference(pool.loggedIn(4).first, .grant(6, session: 4, token: 4))
    }

    @Test func aLoginOfWhichOnlyPinnedWorkHasAnyUseIsStartedForThatAlone() {
        var pool = SessionMachineFixture { $0.maximumSessions = 3 }
        pool.open(1)
        _ = pool.confine(to: 1)
        _ = pool.request()
        for _ in 0..<5 { _ = pool.request() }
        // The other five wait for the reserved session, which pinned work cannot use. So its login starts at once
        // instead of waiting for one of them to be served.
        expectNoDifference(pool.request(.pinned).actions.first, .logIn(.of(2)))
        expectNoDifference(pool.loggedIn(2).first, .grant(8, session: 2, token: 2))
        expectNoDifference(pool.machine.status.waiting, 5)
    }

    @Test func whoWantsTheOnlySessionIsToldSo() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.confine(to: 1)
        expectNoDifference(pool.request(.pinned).answer, .refused(.onlySessionIsKept))
        // The reserved session has ended, so there is no state to preserve.
        _ = pool.request()
        _ = pool.release(2, of: 1, .refused)
        expectNoDifference(pool.request(.pinned).answer, .waiting(.of(3)))
    }

    @Test func itIsNotTrimmedThoughItLiesIdleBesideOthers() {
        var pool = confinedPool()
        expectNoDifference(
            pool.wake(after: .seconds(60)),
            [.logOut(1, token: 1), .logOut(3, token: 3), .announce(.loggedIn(.of(2))), .alarm(.seconds(70))]
        )
        expectNoDifference(pool.machine.idle, [.of(2)])
        _ = pool.loggedOut(1)
        _ = pool.loggedOut(3)
        _ = pool.wake(after: .seconds(809))
        expectNoDifference(pool.machine.idle, [.of(2)])
        expectNoDifference(pool.wake(after: .seconds(1)).first, .logOut(2, token: 2))
    }

    @Test func aFullHostTakesTheOthers() {
        var pool = confinedPool()
        _ = pool.request()
        expectNoDifference(pool.release(4, of: 2, .hostFull).first, .logOut(1, token: 1))
        _ = pool.loggedOut(1)
        _ = pool.request()
        expectNoDifference(pool.release(5, of: 2, .hostFull).first, .logOut(3, token: 3))
        expectNoDifference(pool.machine.idle, [.of(2)])
    }

    @Test(arguments: [SessionOutcome.refused, .broken])
    func whenItIsLostAnyOtherWillDo(outcome: SessionOutcome) {
        var pool = confinedPool()
        _ = pool.request()
        for _ in 0..<2 { _ = pool.request() }
        let grants = pool.release(4, of: 2, outcome).filter { if case .grant = $0 { true } else { false } }
        expectNoDifference(
            grants,
            [.grant(5, session: 3, token: 3, hasWorked: true), .grant(6, session: 1, token: 1, hasWorked: true)]
        )
    }

    @Test func whatHasGoneIsNoKeeper() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        pool.open(2)
        _ = pool.confine(to: 9)
        expectNoDifference(pool.request().answer, .granted(.of(3, session: 2, token: 2, hasWorked: true)))
        expectNoDifference(pool.request().answer, .granted(.of(4, session: 1, token: 1, hasWorked: true)))
    }

    @Test func theLastOneThatIsNamedIsIt() {
        var pool = confinedPool()
        _ = pool.confine(to: 3)
        expectNoDifference(pool.request().answer, .granted(.of(4, session: 3, token: 3, hasWorked: true)))
        expectNoDifference(pool.request().answer, .waiting(.of(5)))
    }
}
