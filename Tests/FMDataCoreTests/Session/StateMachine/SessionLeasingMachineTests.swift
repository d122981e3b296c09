import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// Which request gets which session, and in which order.
@Suite struct SessionLeasingMachineTests {
    @Test func theFirstWishStartsALoginAndTheOthersJoinIt() {
        var pool = SessionMachineFixture()
        let (answer, actions) = pool.request()
        expectNoDifference(answer, .waiting(.of(1)))
        expectNoDifference(actions, [.logIn(.of(1)), .alarm(.seconds(30))])
        expectNoDifference(pool.request().actions, [])
        expectNoDifference(pool.request().actions, [])

        expectNoDifference(pool.loggedIn(1), [.announce(.loggedIn(.of(1))), .grant(1, session: 1, token: 1)])
        expectNoDifference(pool.release(1, of: 1), [.grant(2, session: 1, token: 1, hasWorked: true)])
        expectNoDifference(pool.release(2, of: 1), [.grant(3, session: 1, token: 1, hasWorked: true)])
        expectNoDifference(pool.release(3, of: 1), [])
    }

    @Test func anIdleSessionIsGivenAtOnceAndNothingElseHappens() {
        var pool = SessionMachineFixture()
        pool.open(1)
        let (answer, actions) = pool.request()
        expectNoDifference(answer, .granted(.of(2, session: 1, token: 1, hasWorked: true)))
        expectNoDifference(actions, [])
        expectNoDifference(pool.release(2, of: 1), [])
    }

    @Test func aLookOfALiveQueryWaitsBehindAllOthers() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.request()
        expectNoDifference(pool.request(.poll).answer, .waiting(.of(3)))
        expectNoDifference(pool.request().answer, .waiting(.of(4)))
        expectNoDifference(pool.request().answer, .waiting(.of(5)))
        expectNoDifference(pool.release(2, of: 1), [.grant(4, session: 1, token: 1, hasWorked: true)])
        expectNoDifference(pool.release(4, of: 1), [.grant(5, session: 1, token: 1, hasWorked: true)])
        expectNoDifference(pool.release(5, of: 1), [.grant(3, session: 1, token: 1, hasWorked: true)])
    }

    @Test func theMostRecentlyUsedSessionComesFirst() {
        var pool = SessionMachineFixture { $0.maximumSessions = 3 }
        pool.open(3)
        expectNoDifference(pool.request().answer, .granted(.of(4, session: 3, token: 3, hasWorked: true)))
        expectNoDifference(pool.request().answer, .granted(.of(5, session: 2, token: 2, hasWorked: true)))
        pool.pass(.seconds(1))
        _ = pool.release(5, of: 2)
        _ = pool.release(4, of: 3)
        expectNoDifference(pool.request().answer, .granted(.of(6, session: 3, token: 3, hasWorked: true)))
    }

    @Test func aLeaseThatWasNotUsedGoesBackToItsPlaceInTheOrder() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        pool.open(2)
        _ = pool.request()
        pool.pass(.seconds(1))
        _ = pool.request()
        expectNoDifference(pool.release(4, of: 1, .used), [])
        expectNoDifference(pool.release(3, of: 2, .unused), [])
        expectNoDifference(pool.machine.idle, [.of(2), .of(1)])
    }

    @Test func aSecondReleaseHasNoEffectEvenWhenTheSessionIsLeasedAnew() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.request()
        _ = pool.release(2, of: 1)
        _ = pool.request()
        expectNoDifference(pool.release(2, of: 1), [])
        expectNoDifference(pool.release(2, of: 1, .refused), [])
        expectNoDifference(pool.machine.status.leased, 1)
    }

    @Test func whoLeavesTheQueueIsPassedOver() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        _ = pool.request()
        _ = pool.request()
        expectNoDifference(pool.withdraw(2), [])
        _ = pool.loggedIn(1)
        expectNoDifference(pool.release(1, of: 1), [.grant(3, session: 1, token: 1, hasWorked: true)])
        expectNoDifference(pool.withdraw(3), [])
    }

    @Test func aFullQueueRefusesAtOnce() {
        var pool = SessionMachineFixture { $0.maximumWaiting = 2 }
        _ = pool.request()
        _ = pool.request()
        expectNoDifference(pool.request().answer, .refused(.queueIsFull))
    }

    @Test func whoWaitsTooLongIsRefusedInOrder() {
        var pool = SessionMachineFixture()
        _ = pool.request()
        pool.pass(.seconds(10))
        _ = pool.request()
        expectNoDifference(pool.wake(after: .seconds(20)), [.refuse(1, .deadlinePassed), .alarm(.seconds(40))])
        expectNoDifference(
            pool.wake(after: .seconds(10)),
            [.refuse(2, .deadlinePassed), .alarm(.seconds(45))]
        )
        // The last request left at 40 seconds, so the login is cancelled 5 seconds later.
        expectNoDifference(pool.wake(after: .seconds(5)), [.cancelOpening(.of(1))])
    }

    @Test func aRefusedTokenIsForgottenAndTheReplayGetsANewOne() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.request()
        expectNoDifference(pool.release(2, of: 1, .refused), [.forget(.of(1))])
        // The alarm of the first request is still set.
        expectNoDifference(pool.request(.replay).actions, [.logIn(.of(2))])
        // Epoch 2 was the refusal, so the new token has epoch 3.
        expectNoDifference(pool.loggedIn(2), [.announce(.loggedIn(.of(3))), .grant(3, session: 2, token: 3)])
    }

    @Test func aLateRefusalCannotHurtANewerToken() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.request()
        _ = pool.release(2, of: 1, .refused)
        _ = pool.request(.replay)
        _ = pool.loggedIn(2)
        expectNoDifference(pool.release(2, of: 1, .refused), [])
        expectNoDifference(pool.release(2, of: 2, .refused), [])
        expectNoDifference(pool.machine.status.refusals, 1)
        expectNoDifference(pool.machine.status.leased, 1)
    }

    @Test func aReplayDoesNotTakeAnIdleSessionThatMayBeDeadToo() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        pool.open(2)
        _ = pool.request()
        _ = pool.release(3, of: 2, .refused)
        // Session 1 is idle, but was opened before the refusal too, so the server may not know it any more either.
        let (answer, actions) = pool.request(.replay)
        expectNoDifference(answer, .waiting(.of(4)))
        expectNoDifference(actions, [.logIn(.of(3))])
    }

    @Test func aReplayTakesASessionThatWorkedSinceTheRefusal() {
        var pool = SessionMachineFixture { $0.maximumSessions = 3 }
        pool.open(3)
        _ = pool.request()
        _ = pool.request()
        _ = pool.release(4, of: 3, .refused)
        _ = pool.request()
        _ = pool.release(6, of: 1, .used)
        // A refusal after the session's last success makes the session doubtful again.
        var doubtful = pool
        _ = doubtful.release(5, of: 2, .refused)
        expectNoDifference(doubtful.request(.replay).answer, .waiting(.of(7)))
        // Here, the refusal is older than that success.
        expectNoDifference(
            pool.request(.replay).answer,
            .granted(.of(7, session: 1, token: 1, hasWorked: true))
        )
    }

    @Test func aDoubtfulSessionMakesRoomWhenThereIsNoOther() {
        var pool = SessionMachineFixture { $0.maximumSessions = 2 }
        pool.open(2)
        pool.machine.limit = 1
        pool.machine.settings.maximumSessions = 1
        _ = pool.request()
        // Session 1 is idle, and the limit is one.
        expectNoDifference(pool.release(3, of: 2, .refused), [.forget(.of(2))])
        expectNoDifference(pool.request(.replay).actions.first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.forget(1), .logIn(.of(3))])
    }

    @Test func pinnedWorkEndsItsSession() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.request(.pinned)
        expectNoDifference(pool.request().actions, [])
        expectNoDifference(pool.release(2, of: 1, .retired).first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.forget(1), .logIn(.of(2))])
    }

    @Test func aBrokenSessionIsLoggedOutAndCountsAsARefusal() {
        var pool = SessionMachineFixture()
        pool.open(1)
        _ = pool.request()
        expectNoDifference(pool.release(2, of: 1, .broken).first, .logOut(1, token: 1))
        expectNoDifference(pool.machine.status.refusals, 1)
    }
}
