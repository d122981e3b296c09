import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataFleet

/// What a member holds, and when it says so.
@Suite struct SlotMemberMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func at(_ amount: TimeAmount) -> NIODeadline { Self.start + amount }

    private func makeHolder() -> SlotMemberMachine {
        var machine = SlotMemberMachine(renewal: .seconds(3))
        _ = machine.granted(2, .init(lease: "l", sealed: [1]), now: Self.start)
        return machine
    }

    @Test func leasesAreRenewedWhileSlotsAreHeld() {
        var machine = SlotMemberMachine(renewal: .seconds(3))
        expectNoDifference(
            machine.granted(2, .init(lease: "l", sealed: nil), now: Self.start),
            [.setAlarm(at(.seconds(3)))]
        )
        expectNoDifference(machine.granted(1, .init(lease: "k", sealed: nil), now: at(.seconds(1))), [])
        expectNoDifference(machine.wakeUp(), [.keep([1: "k", 2: "l"])])
        expectNoDifference(machine.kept([1: "k", 2: "l"], [], now: at(.seconds(4))), [.setAlarm(at(.seconds(7)))])
        expectNoDifference(machine.ended(slot: 2, lease: "l", now: at(.seconds(5))), [])
        expectNoDifference(machine.ended(slot: 1, lease: "k", now: at(.seconds(5))), [.cancelAlarm])
    }

    /// Two sessions with the token of one slot would end each other's: the earlier one's user has to know.
    @Test func aSlotThatTheMemberItselfTakesAfterItsLeaseHasEndedWasLost() {
        var machine = makeHolder()
        expectNoDifference(
            machine.granted(2, .init(lease: "m", sealed: [1]), now: at(.seconds(60))),
            [.tell(slot: 2, lease: "l", .lost)]
        )
        // What is said of the earlier lease from now on changes nothing.
        _ = machine.ended(slot: 2, lease: "l", now: at(.seconds(60)))
        expectNoDifference(machine.wakeUp(), [.keep([2: "m"])])
    }

    @Test func theSameGrantTwiceLosesNothing() {
        var machine = makeHolder()
        expectNoDifference(machine.granted(2, .init(lease: "l", sealed: [1]), now: at(.seconds(1))), [])
    }

    @Test func aSlotThatIsBeingGivenBackIsNotRenewed() {
        var machine = makeHolder()
        machine.giving(slot: 2, lease: "l")
        expectNoDifference(machine.wakeUp(), [.keep([:])])
    }

    @Test func aGivingWithoutAnAnswerIsRepeatedWhenTheStoreAnswers() {
        var machine = makeHolder()
        machine.giving(slot: 2, lease: "l")
        machine.returned(slot: 2, lease: "l")
        expectNoDifference(machine.connected(), [.keep([2: "l"])])
        expectNoDifference(
            machine.kept([2: "l"], [], now: at(.seconds(1))).first,
            .giveAgain(slot: 2, lease: "l", put: nil)
        )
        machine.returned(slot: 2, lease: "l")
        _ = machine.connected()
        // The store came back empty, so its token is put before.
        expectNoDifference(
            machine.kept([2: "l"], [.again(2)], now: at(.seconds(2))).first,
            .giveAgain(slot: 2, lease: "l", put: [1])
        )
    }

    @Test func aSlotThatCouldNotBeGivenBackIsUsedAgain() {
        var machine = makeHolder()
        machine.giving(slot: 2, lease: "l")
        expectNoDifference(machine.takeBack()?.slot, nil)
        machine.returned(slot: 2, lease: "l")
        expectNoDifference(machine.takeBack()?.slot, 2)
        expectNoDifference(machine.takeBack()?.slot, nil)
    }

    @Test func nothingIsLostWhileTheStoreIsAway() {
        var machine = makeHolder()
        _ = machine.wakeUp()
        expectNoDifference(machine.kept([2: "l"], nil, now: at(.seconds(60))), [.setAlarm(at(.seconds(63)))])
        expectNoDifference(machine.held[2]?.lease, "l")
    }

    @Test func aSlotThatSomebodyElseHoldsIsLost() {
        var machine = makeHolder()
        _ = machine.wakeUp()
        expectNoDifference(
            machine.kept([2: "l"], [.lost(2)], now: at(.seconds(3))),
            [.tell(slot: 2, lease: "l", .lost)]
        )
        expectNoDifference(machine.held, [:])
    }

    @Test func newsOfAnEarlierLeaseMeanNothing() {
        var machine = makeHolder()
        _ = machine.ended(slot: 2, lease: "l", now: Self.start)
        _ = machine.granted(2, .init(lease: "m", sealed: [1]), now: Self.start)
        expectNoDifference(machine.kept([2: "l"], [.lost(2), .again(2)], now: at(.seconds(3))), [])
        expectNoDifference(machine.ended(slot: 2, lease: "l", now: Self.start), [])
        expectNoDifference(machine.held[2]?.lease, "m")
    }

    @Test func aTokenThatTheStoreForgotIsAskedFor() {
        var machine = makeHolder()
        _ = machine.wakeUp()
        expectNoDifference(
            machine.kept([2: "l"], [.again(2)], now: at(.seconds(3))).first,
            .tell(slot: 2, lease: "l", .forgotten)
        )
    }

    @Test func aTokenThatIsForgottenWhileItsSlotIsGivenIsPutBefore() {
        var machine = makeHolder()
        _ = machine.wakeUp()
        machine.giving(slot: 2, lease: "l")
        expectNoDifference(machine.takeForgotten(slot: 2, lease: "l"), nil)
        _ = machine.kept([2: "l"], [.again(2)], now: at(.seconds(3)))
        expectNoDifference(machine.takeForgotten(slot: 2, lease: "k"), nil)
        expectNoDifference(machine.takeForgotten(slot: 2, lease: "l"), [1])
        expectNoDifference(machine.takeForgotten(slot: 2, lease: "l"), nil)
    }

    @Test func aSlotWithoutATokenHasNoneToPutAgain() {
        var machine = makeHolder()
        machine.dropped(slot: 2, lease: "l")
        _ = machine.wakeUp()
        expectNoDifference(machine.kept([2: "l"], [.again(2)], now: at(.seconds(3))), [.setAlarm(at(.seconds(6)))])
    }

    @Test func aNewConnectionIsToldAtOnce() {
        var machine = makeHolder()
        expectNoDifference(machine.connected(), [.keep([2: "l"])])
        expectNoDifference(machine.connected(), [])
        var other = SlotMemberMachine(renewal: .seconds(3))
        expectNoDifference(other.connected(), [])
    }

    @Test func messagesAreHints() {
        var machine = makeHolder()
        expectNoDifference(machine.message("g"), [.ring])
        expectNoDifference(machine.message("r2"), [.tell(slot: 2, lease: "l", .recalled)])
        for text in ["r1", "r", "rx", "", "x2"] { expectNoDifference(machine.message(text), []) }
    }

    @Test func aRecallIsToldOnceAndAlsoWhenItsMessageIsLost() {
        var machine = makeHolder()
        _ = machine.wakeUp()
        expectNoDifference(
            machine.kept([2: "l"], [.recalled(2)], now: at(.seconds(3))).first,
            .tell(slot: 2, lease: "l", .recalled)
        )
        expectNoDifference(machine.message("r2"), [])
        _ = machine.wakeUp()
        expectNoDifference(machine.kept([2: "l"], [.recalled(2)], now: at(.seconds(6))), [.setAlarm(at(.seconds(9)))])
    }

    @Test func aSessionWithoutASlotEndsWhenTheStoreIsBack() {
        var machine = SlotMemberMachine(renewal: .seconds(3))
        expectNoDifference(machine.grantedPrivately("p", now: Self.start), [.setAlarm(at(.seconds(3)))])
        expectNoDifference(machine.wakeUp(), [.keep([:])])
        expectNoDifference(machine.kept([:], nil, now: at(.seconds(3))), [.setAlarm(at(.seconds(6)))])
        _ = machine.wakeUp()
        expectNoDifference(
            machine.kept([:], [], now: at(.seconds(6))),
            [.tell(slot: 0, lease: "p", .recalled), .setAlarm(at(.seconds(9)))]
        )
        expectNoDifference(machine.ended(slot: 0, lease: "p", now: at(.seconds(7))), [.cancelAlarm])
    }
}
