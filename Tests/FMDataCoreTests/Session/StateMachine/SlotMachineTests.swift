import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// Sessions are opened in slots of a budget that others share.
@Suite struct SlotMachineTests {
    private static let life = TimeAmount.seconds(14 * 60 + 30)

    private func makePool(_ maximumSessions: Int = 8) -> SessionMachineFixture {
        SessionMachineFixture {
            $0.hasBudget = true
            $0.maximumSessions = maximumSessions
        }
    }

    /// A pool with one request that is served in a slot which came with a token.
    private func makeBusyPool(waiting: Int = 0) -> SessionMachineFixture {
        var pool = makePool()
        _ = pool.request()
        _ = pool.slotGranted(1, hasToken: true, waiting: waiting)
        return pool
    }

    /// A pool with one session, leased, whose token is on the way into its slot.
    private func makePuttingPool(waiting: Int = 0) -> SessionMachineFixture {
        var pool = makePool()
        _ = pool.request()
        _ = pool.slotGranted(1, waiting: waiting)
        _ = pool.loggedIn(1)
        return pool
    }

    // MARK: Taking

    @Test func aLoginHappensOnlyInASlot() {
        var pool = makePool()
        expectNoDifference(pool.request().actions, [.take(1), .alarm(.seconds(30))])
        expectNoDifference(pool.slotGranted(1), [.logIn(.of(1))])
        expectNoDifference(
            pool.loggedIn(1),
            [.put(1, token: 1), .announce(.loggedIn(.of(1))), .grant(1, session: 1, token: 1)]
        )
    }

    @Test func aSlotWithATokenNeedsNoLogin() {
        var pool = makePool()
        _ = pool.request()
        expectNoDifference(
            pool.slotGranted(1, hasToken: true),
            [.announce(.loggedIn(.of(1))), .grant(1, session: 1, token: 1, hasWorked: true)]
        )
        expectNoDifference(pool.machine.status.logins, 0)
    }

    @Test func whoWaitsForASlotAsksForNoOther() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.request()
        pool.pass(.seconds(5))
        expectNoDifference(pool.request().actions, [])
        _ = pool.slotGranted(1, hasToken: true)
        _ = pool.wake(after: .seconds(1))
        expectNoDifference(pool.machine.sessions.count(where: \.isTakingSlot), 1)
    }

    @Test func aTakingThatNobodyWaitsForIsCancelled() {
        var pool = makePool()
        _ = pool.request()
        expectNoDifference(pool.withdraw(1), [.alarm(.seconds(5))])
        expectNoDifference(pool.wake(after: .seconds(5)), [.cancelOpening(.of(1))])
        // The slot was on its way.
        expectNoDifference(pool.slotGranted(1, hasToken: true), [.give(1)])
    }

    @Test func aSlotThatComesWhenNobodyWaitsIsGivenBack() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.withdraw(1)
        expectNoDifference(pool.slotGranted(1, hasToken: true), [.give(1)])
        expectNoDifference(pool.machine.sessions, [])
    }

    @Test func withoutABudgetNoSlotIsTaken() {
        var pool = SessionMachineFixture()
        expectNoDifference(pool.request().actions.first, .logIn(.of(1)))
    }

    // MARK: Recall

    @Test func aRecalledSlotIsGivenBackAfterTheRequestUnderWay() {
        var pool = makeBusyPool()
        pool.pass(.seconds(1))
        expectNoDifference(pool.recalled(1), [])
        expectNoDifference(pool.release(1, of: 1), [.give(1, life: Self.life), .forget(1)])
        expectNoDifference(pool.machine.sessions, [])
    }

    @Test func aSlotIsUsedForAQuantumAtLeast() {
        var pool = makeBusyPool(waiting: 1)
        pool.pass(.milliseconds(100))
        expectNoDifference(pool.release(1, of: 1), [.alarm(.milliseconds(250))])
        guard case .granted = pool.request().answer else { return #expect(Bool(false), "it still serves") }
        pool.pass(.milliseconds(100))
        _ = pool.release(2, of: 1)
        expectNoDifference(
            pool.wake(after: .milliseconds(50)),
            [.give(1, life: Self.life - .milliseconds(50)), .forget(1)]
        )
    }

    @Test func afterTheQuantumTheNextRequestStandsInLineAgain() {
        var pool = makeBusyPool(waiting: 1)
        expectNoDifference(pool.request().actions.first, .take(2))
        pool.pass(.milliseconds(300))
        expectNoDifference(pool.release(1, of: 1), [.give(1, life: Self.life), .forget(1)])
        expectNoDifference(pool.machine.status.waiting, 1)
    }

    @Test func aSlotServesOneRequestHoweverLongItsLoginTook() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.slotGranted(1, waiting: 3)
        pool.pass(.seconds(1))
        expectNoDifference(
            pool.loggedIn(1),
            [.put(1, token: 1), .announce(.loggedIn(.of(1))), .grant(1, session: 1, token: 1)]
        )
        _ = pool.putDone(1, token: 1)
        expectNoDifference(pool.release(1, of: 1), [.give(1, life: Self.life), .forget(1)])
    }

    @Test func aRecallThatComesBeforeTheSlotCounts() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.recalled(1)
        _ = pool.slotGranted(1, hasToken: true)
        pool.pass(.seconds(1))
        expectNoDifference(pool.release(1, of: 1).first, .give(1, life: Self.life))
    }

    @Test func anIdleSlotThatIsRecalledIsGivenAtOnce() {
        var pool = makeBusyPool()
        _ = pool.release(1, of: 1)
        pool.pass(.seconds(10))
        expectNoDifference(pool.recalled(1), [.give(1, life: Self.life - .seconds(10)), .forget(1)])
    }

    // MARK: Losing

    @Test func aLostSlotIsLetGoSilently() {
        var pool = makeBusyPool()
        _ = pool.release(1, of: 1)
        expectNoDifference(pool.slotLost(1), [.forget(1)])
        expectNoDifference(pool.machine.sessions, [])
    }

    @Test func aSlotThatIsLostDuringARequestIsLetGoAfterIt() {
        var pool = makeBusyPool()
        expectNoDifference(pool.slotLost(1), [])
        expectNoDifference(pool.release(1, of: 1), [.forget(1)])
        expectNoDifference(pool.machine.sessions, [])
    }

    @Test func logOutLeavesASessionWhoseSlotIsLost() {
        var pool = makeBusyPool()
        _ = pool.slotLost(1)
        _ = pool.logOut()
        expectNoDifference(pool.release(1, of: 1), [.forget(1), .announce(.loggedOut), .finish(1)])
    }

    @Test func aLoginWhoseSlotIsLostIsLoggedOut() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.slotGranted(1)
        // The waiting request stands in line for another slot.
        expectNoDifference(pool.slotLost(1), [.take(2)])
        expectNoDifference(pool.loggedIn(1).first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.forget(1)])
    }

    @Test func aTokenWhosePutIsRefusedIsLoggedOut() {
        var pool = makePuttingPool()
        expectNoDifference(pool.putRefused(1, token: 1), [])
        expectNoDifference(pool.release(1, of: 1).first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.forget(1)])
    }

    /// As after a standstill: the news of the loss arrives before the answer to the put, which will be a refusal.
    @Test func aSlotThatIsLostBeforeItsTokenIsThereLeavesNoSession() {
        var idle = makePuttingPool()
        _ = idle.release(1, of: 1)
        expectNoDifference(idle.slotLost(1).first, .logOut(1, token: 1))
        expectNoDifference(idle.putRefused(1, token: 1), [])

        var busy = makePuttingPool()
        expectNoDifference(busy.slotLost(1), [])
        expectNoDifference(busy.putRefused(1, token: 1), [])
        expectNoDifference(busy.release(1, of: 1).first, .logOut(1, token: 1))
    }

    @Test func aSlotThatIsLostAfterItsTokenWasThereIsLetGoSilently() {
        var pool = makePuttingPool()
        _ = pool.putDone(1, token: 1)
        _ = pool.release(1, of: 1)
        expectNoDifference(pool.slotLost(1), [.forget(1)])
    }

    @Test func aRecalledSlotIsGivenWhenItsTokenIsThere() {
        var pool = makePuttingPool(waiting: 1)
        pool.pass(.seconds(1))
        expectNoDifference(pool.release(1, of: 1), [])
        expectNoDifference(pool.putDone(1, token: 1), [.give(1, life: Self.life), .forget(1)])
    }

    @Test func aTokenThatTheBudgetForgotIsPutAgain() {
        var pool = makeBusyPool()
        _ = pool.release(1, of: 1)
        pool.pass(.seconds(60))
        expectNoDifference(pool.slotForgotten(1), [.put(1, token: 1, life: Self.life - .seconds(60))])
    }

    // MARK: Refused tokens

    @Test func aTokenThatTheHostRefusesIsDroppedAndTheReplayLogsInInTheSameSlot() {
        var pool = makeBusyPool()
        expectNoDifference(pool.release(1, of: 1, .refused).prefix(2), [.empty(1, token: 1), .forget(1)])
        _ = pool.request(.replay)
        expectNoDifference(pool.emptied(1), [.logIn(.of(1))])
        expectNoDifference(pool.loggedIn(1).first, .put(1, token: 3))
    }

    @Test func theReplayMayComeAfterTheTokenIsDropped() {
        var pool = makeBusyPool()
        _ = pool.release(1, of: 1, .refused)
        expectNoDifference(pool.emptied(1), [])
        expectNoDifference(pool.request(.replay).actions, [.logIn(.of(1))])
    }

    @Test func anEmptySlotThatNobodyNeedsIsGivenBack() {
        var pool = makeBusyPool()
        _ = pool.release(1, of: 1, .refused)
        _ = pool.emptied(1)
        expectNoDifference(pool.wake(after: .seconds(5)), [.cancelOpening(.of(1)), .give(1)])
    }

    @Test func aSlotThatIsNotHeldForCertainIsNotLoggedInTo() {
        var pool = makeBusyPool()
        _ = pool.release(1, of: 1, .refused)
        _ = pool.request(.replay)
        expectNoDifference(pool.emptied(1, isHeld: false), [.take(2)])
    }

    // MARK: Failed logins

    @Test func aFullHostIsTold() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.slotGranted(1)
        expectNoDifference(pool.loginFailed(1, .hostFull).first, .giveToFullHost(.of(1)))
    }

    @Test func aFullHostFailsNoRequestSinceOthersHaveTheSessions() {
        var pool = makePool()
        _ = pool.request()
        pool.pass(.seconds(15))
        _ = pool.slotGranted(1)
        let actions = pool.loginFailed(1, .hostFull)
        expectNoDifference(actions, [.giveToFullHost(.of(1)), .alarm(.seconds(16))])
        expectNoDifference(pool.wake(after: .seconds(1)).first, .take(2))
        expectNoDifference(pool.slotGranted(2, hasToken: true).last, .grant(1, session: 2, token: 1, hasWorked: true))
    }

    @Test func refusedCredentialsAreTold() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.slotGranted(1)
        expectNoDifference(
            pool.loginFailed(1, .credentialsRefused),
            [.giveAfterRefusal(.of(1)), .announce(.lost), .refuse(1, .loginFailed)]
        )
    }

    @Test func aSlotWhoseLoginFailsIsGivenBackEmpty() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.slotGranted(1)
        expectNoDifference(pool.loginFailed(1, .passing).first, .give(1))
    }

    @Test func aLoginThatMayHaveOpenedASessionLeavesItsSlot() {
        var pool = makePool()
        _ = pool.request()
        _ = pool.slotGranted(1)
        expectNoDifference(pool.loginFailed(1, .passing, mayHaveOpened: true).first, .giveAfterLostLogin(.of(1)))

        var other = makePool()
        _ = other.request()
        _ = other.slotGranted(1)
        _ = other.withdraw(1)
        expectNoDifference(other.wake(after: .seconds(5)), [.cancelOpening(.of(1)), .giveAfterLostLogin(.of(1))])
    }

    // MARK: Ends

    @Test func aShutdownGivesTheSlotsWithTheirTokens() {
        var pool = makeBusyPool()
        _ = pool.release(1, of: 1)
        expectNoDifference(pool.shutdown(), [.give(1, life: Self.life), .forget(1), .finish(1), .cancelAlarm])
    }

    @Test func logOutClosesTheSessionAndGivesAnEmptySlot() {
        var pool = makeBusyPool()
        _ = pool.release(1, of: 1)
        expectNoDifference(pool.logOut().first, .logOut(1, token: 1))
        expectNoDifference(
            pool.loggedOut(1),
            [.give(1, without: 1), .forget(1), .announce(.loggedOut), .finish(1)]
        )
    }

    @Test func aSessionThatIsNotNeededAnyMoreIsLoggedOutAndItsSlotGivenBackEmpty() {
        var pool = makeBusyPool()
        _ = pool.request()
        _ = pool.wake(after: .zero)
        _ = pool.slotGranted(2, hasToken: true)
        _ = pool.release(1, of: 1)
        _ = pool.release(2, of: 2)
        expectNoDifference(pool.wake(after: .seconds(60)).first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1).first, .give(1, without: 1))
    }

    // MARK: Pinned work

    @Test func pinnedWorkHasASessionThatIsNeverPut() {
        var pool = makePool()
        expectNoDifference(pool.request(.pinned).actions.first, .take(1))
        _ = pool.slotGranted(1)
        expectNoDifference(pool.loggedIn(1), [.announce(.loggedIn(.of(1))), .grant(1, session: 1, token: 1)])
        // It is not recalled.
        pool.pass(.seconds(10))
        expectNoDifference(pool.recalled(1), [])
        expectNoDifference(pool.release(1, of: 1, .retired).first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1), [.give(1, without: 1), .forget(1)])
    }

    @Test func pinnedWorkEndsTheSessionThatCameWithItsSlot() {
        var pool = makePool()
        _ = pool.request(.pinned)
        expectNoDifference(pool.slotGranted(1, hasToken: true), [.logOut(1, token: 1)])
        expectNoDifference(pool.loggedOut(1), [.empty(1, token: 1), .logIn(.of(1)), .forget(1)])
        expectNoDifference(pool.emptied(1), [])
        expectNoDifference(pool.loggedIn(1).last, .grant(1, session: 1, token: 2))
    }

    /// Otherwise two members that wait for one slot would log in and out for ever.
    @Test func pinnedWorkIsServedHoweverLongItsLoginTook() {
        var pool = makePool()
        _ = pool.request(.pinned)
        _ = pool.slotGranted(1, hasToken: true, waiting: 1)
        pool.pass(.seconds(2))
        _ = pool.loggedOut(1)
        pool.pass(.seconds(2))
        expectNoDifference(pool.loggedIn(1).last, .grant(1, session: 1, token: 2))
    }

    @Test func pinnedWorkGetsAnIdleSlotOfItsOwnPoolWhenThereIsNoOther() {
        var pool = makeBusyPool()
        _ = pool.release(1, of: 1)
        expectNoDifference(pool.request(.pinned).actions.first, .take(2))
        expectNoDifference(pool.wake(after: .seconds(1)).prefix(2), [.cancelOpening(.of(2)), .logOut(1, token: 1)])
        expectNoDifference(pool.loggedOut(1), [.empty(1, token: 1), .logIn(.of(1)), .forget(1)])
        expectNoDifference(pool.slotGranted(2), [.give(2)])
    }

    @Test func aSessionThatHoldsGlobalsIsTakenOutOfItsSlotAndIsNotRecalled() {
        var pool = makeBusyPool()
        expectNoDifference(pool.confine(to: 1), [.empty(1, token: 1)])
        _ = pool.release(1, of: 1)
        pool.pass(.seconds(1))
        expectNoDifference(pool.recalled(1), [])
        expectNoDifference(pool.shutdown().first, .logOut(1, token: 1))
        expectNoDifference(pool.loggedOut(1).first, .give(1, without: 1))
    }

    @Test func aSessionOutsideOfTheBudgetIsLoggedOutWhenItIsRecalled() {
        var pool = makePool()
        _ = pool.request()
        expectNoDifference(pool.slotGranted(1, isPrivate: true), [.logIn(.of(1))])
        expectNoDifference(pool.loggedIn(1), [.announce(.loggedIn(.of(1))), .grant(1, session: 1, token: 1)])
        pool.pass(.seconds(1))
        _ = pool.recalled(1)
        expectNoDifference(pool.release(1, of: 1).first, .logOut(1, token: 1))
    }
}
