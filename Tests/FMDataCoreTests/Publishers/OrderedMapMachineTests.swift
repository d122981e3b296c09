import CustomDump
import FMData
import OpenCombine
import Testing

@testable import FMDataCore

/// Work on several values at a time whose results are delivered in the order of the values: events go in, actions
/// come out.
@Suite struct OrderedMapMachineTests {
    private enum Trouble: Error, Equatable { case one, two }
    private typealias Machine = OrderedMapMachine<Int, String, Trouble>

    /// Calls `next` until there are no more actions.
    private func actions(_ machine: inout Machine) -> [Machine.Action] {
        var actions: [Machine.Action] = []
        while let action = machine.next() { actions.append(action) }
        return actions
    }

    private func received(_ values: Int..., by machine: inout Machine) -> [Machine.Action] {
        for value in values { machine.received(value) }
        return actions(&machine)
    }

    // MARK: One by one

    @Test func nothingIsAskedBeforeDemandAndNoMoreThanDemandedAfterIt() {
        var machine = Machine(concurrency: 4)
        expectNoDifference(actions(&machine), [])
        machine.requested(.max(2))
        expectNoDifference(actions(&machine), [.ask(2)])
        expectNoDifference(received(1, 2, by: &machine), [.work(.begin(group: 1, [1])), .work(.begin(group: 2, [2]))])
        machine.worked(on: 1, ["a"], nil)
        expectNoDifference(actions(&machine), [.value("a")])
    }

    @Test func asManyAreWorkedOnAsAreAllowedAndTheRestWaits() {
        var machine = Machine(concurrency: 2, window: 4)
        machine.requested(.max(3))
        expectNoDifference(actions(&machine), [.ask(3)])
        expectNoDifference(
            received(1, 2, 3, by: &machine),
            [.work(.begin(group: 1, [1])), .work(.begin(group: 2, [2]))]
        )
        machine.worked(on: 1, ["a"], nil)
        expectNoDifference(actions(&machine), [.work(.begin(group: 3, [3])), .value("a")])
    }

    @Test func unlimitedDemandAsksNoMoreThanTheWindowAhead() {
        var machine = Machine(concurrency: 2, window: 3)
        machine.requested(.unlimited)
        expectNoDifference(actions(&machine), [.ask(3)])
        _ = received(1, 2, 3, by: &machine)
        machine.worked(on: 2, ["b"], nil)
        // The third value is worked on although the first holds back the second; a fourth would be one too many.
        expectNoDifference(actions(&machine), [.work(.begin(group: 3, [3]))])
        machine.worked(on: 3, ["c"], nil)
        expectNoDifference(actions(&machine), [])
        machine.worked(on: 1, ["a"], nil)
        expectNoDifference(actions(&machine), [.value("a"), .ask(1), .value("b"), .ask(1), .value("c"), .ask(1)])
    }

    @Test func aValueThatMakesNoneIsMadeUpForByAnother() {
        var machine = Machine(concurrency: 2)
        machine.requested(.max(1))
        _ = actions(&machine)
        _ = received(1, by: &machine)
        machine.worked(on: 1, [], nil)
        expectNoDifference(actions(&machine), [.ask(1)])
    }

    @Test func aValueThatMakesManyIsHandedOverAsDemanded() {
        var machine = Machine(concurrency: 2)
        machine.requested(.max(1))
        _ = actions(&machine)
        _ = received(1, by: &machine)
        machine.worked(on: 1, ["a", "b", "c"], nil)
        expectNoDifference(actions(&machine), [.value("a")])
        machine.requested(.max(2))
        expectNoDifference(actions(&machine), [.value("b"), .value("c")])
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), [.ask(1)])
    }

    @Test func itEndsAfterTheLastValueAndWithoutDemandForTheEnd() {
        var machine = Machine(concurrency: 2)
        machine.requested(.max(2))
        _ = actions(&machine)
        _ = received(1, 2, by: &machine)
        machine.finished(.finished)
        machine.worked(on: 2, ["b"], nil)
        expectNoDifference(actions(&machine), [])
        machine.worked(on: 1, ["a"], nil)
        expectNoDifference(actions(&machine), [.value("a"), .value("b"), .end(.finished)])
        expectNoDifference(actions(&machine), [])
    }

    @Test func aFailureComesAfterWhatIsBeforeItAndNothingIsBegunMeanwhile() {
        var machine = Machine(concurrency: 2, window: 4)
        machine.requested(.unlimited)
        _ = actions(&machine)
        _ = received(1, 2, 3, by: &machine)
        machine.worked(on: 2, ["b"], .one)
        expectNoDifference(actions(&machine), [])
        machine.worked(on: 1, ["a"], nil)
        expectNoDifference(actions(&machine), [.value("a"), .value("b"), .end(.failure(.one))])
        machine.worked(on: 7, ["never begun"], .two)
        expectNoDifference(actions(&machine), [])
    }

    @Test func aFailureOfTheValuesComesAfterWhatIsMadeOfThoseBeforeIt() {
        var machine = Machine(concurrency: 1, window: 2)
        machine.requested(.unlimited)
        _ = actions(&machine)
        _ = received(1, 2, by: &machine)
        machine.finished(.failure(.one))
        machine.worked(on: 1, ["a"], nil)
        expectNoDifference(actions(&machine), [.work(.begin(group: 2, [2])), .value("a")])
        machine.worked(on: 2, ["b"], nil)
        expectNoDifference(actions(&machine), [.value("b"), .end(.failure(.one))])
    }

    // MARK: In groups

    @Test func groupsAreAskedForAsAWholeAndWorkedOnWhenTheyAreFull() {
        var machine = Machine(groupSize: 3, concurrency: 2)
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), [.ask(3)])
        expectNoDifference(received(1, 2, 3, by: &machine), [.work(.begin(group: 1, [1, 2, 3]))])
        machine.worked(on: 1, ["a", "b", "c"], nil)
        expectNoDifference(actions(&machine), [.value("a")])
        // Results that are ready are delivered before more is requested.
        machine.requested(.max(2))
        expectNoDifference(actions(&machine), [.value("b"), .value("c")])
        machine.requested(.unlimited)
        expectNoDifference(actions(&machine), [.ask(6)])
    }

    @Test func aGroupIsClosedWhenNoneCameInATurn() {
        var machine = Machine(groupSize: 3, concurrency: 1, window: 2)
        machine.requested(.unlimited)
        expectNoDifference(actions(&machine), [.ask(6)])
        expectNoDifference(received(1, by: &machine), [.work(.awaitTurn)])
        expectNoDifference(received(2, by: &machine), [])
        machine.turnPassed()
        expectNoDifference(actions(&machine), [.work(.awaitTurn)])
        machine.turnPassed()
        expectNoDifference(actions(&machine), [.work(.begin(group: 1, [1, 2]))])
    }

    @Test func whileWorkIsUnderWayTheNextGroupGrows() {
        var machine = Machine(groupSize: 3, concurrency: 2, window: 3)
        machine.requested(.unlimited)
        _ = actions(&machine)
        _ = received(1, by: &machine)
        machine.turnPassed()
        expectNoDifference(actions(&machine), [.work(.begin(group: 1, [1]))])
        expectNoDifference(received(2, 3, by: &machine), [])
        machine.turnPassed()
        expectNoDifference(actions(&machine), [])
        machine.worked(on: 1, ["a"], nil)
        expectNoDifference(actions(&machine), [.work(.awaitTurn), .value("a")])
        expectNoDifference(received(4, by: &machine), [.work(.begin(group: 2, [2, 3, 4]))])
    }

    @Test func theLastGroupNeedNotBeFull() {
        var machine = Machine(groupSize: 3, concurrency: 2)
        machine.requested(.unlimited)
        _ = actions(&machine)
        expectNoDifference(received(1, 2, 3, 4, by: &machine), [.work(.begin(group: 1, [1, 2, 3]))])
        machine.finished(.finished)
        expectNoDifference(actions(&machine), [.work(.begin(group: 2, [4]))])
    }

    /// After a group was closed early, fewer values are outstanding than a whole group needs; they form a group once
    /// all have arrived.
    @Test func whatWasAskedForAndHasAllComeIsAGroup() {
        var machine = Machine(groupSize: 3, concurrency: 1, window: 1)
        machine.requested(.max(3))
        expectNoDifference(actions(&machine), [.ask(3)])
        _ = received(1, by: &machine)
        machine.turnPassed()
        expectNoDifference(actions(&machine), [.work(.begin(group: 1, [1]))])
        _ = received(2, 3, by: &machine)
        machine.worked(on: 1, ["a"], nil)
        expectNoDifference(actions(&machine), [.work(.begin(group: 2, [2, 3])), .value("a")])
    }
}
