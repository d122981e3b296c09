import CustomDump
import FMData
import OpenCombine
import Testing

@testable import FMDataCore

/// The state machines of `merge` and `combineLatest`: events go in, actions come out.
@Suite struct CombiningMachineTests {
    private enum Trouble: Error, Equatable { case first, second }

    private typealias Merge = MergeMachine<String, Trouble>
    private typealias Latest = CombineLatestMachine<String, Trouble>

    /// Calls `next` until there are no more actions.
    private func actions<Machine: CombiningMachine>(
        _ machine: inout Machine
    ) -> [SubscriptionAction<Machine.Output, Machine.Failure, Never>] {
        var actions: [SubscriptionAction<Machine.Output, Machine.Failure, Never>] = []
        while let action = machine.next() { actions.append(action) }
        return actions
    }

    // MARK: Merge

    @Test func nothingIsAskedOfAnybodyBeforeDemand() {
        var machine = Merge(inletCount: 2)
        expectNoDifference(actions(&machine), [])
        machine.requested(.max(3))
        expectNoDifference(actions(&machine), [.ask(inlet: 0, .max(3)), .ask(inlet: 1, .max(3))])
    }

    @Test func unlimitedDemandAsksNoMoreThanTheWindowAhead() {
        var machine = Merge(inletCount: 1, window: 2)
        machine.requested(.unlimited)
        expectNoDifference(actions(&machine), [.ask(inlet: 0, .max(2))])
        machine.received("a", from: 0)
        expectNoDifference(actions(&machine), [.value("a"), .ask(inlet: 0, .max(1))])
    }

    @Test func whatIsNotAskedForWaits() {
        var machine = Merge(inletCount: 2)
        machine.requested(.max(1))
        _ = actions(&machine)
        machine.received("a", from: 1)
        machine.received("b", from: 0)
        // "b" was requested before "a" turned out to be the first value; it is kept.
        expectNoDifference(actions(&machine), [.value("a")])
        machine.requested(.max(1))
        expectNoDifference(actions(&machine), [.ask(inlet: 1, .max(1)), .value("b")])
    }

    @Test func itEndsWithTheLastOfThemAfterTheirValues() {
        var machine = Merge(inletCount: 2)
        machine.requested(.unlimited)
        _ = actions(&machine)
        machine.finished(.finished, from: 0)
        expectNoDifference(actions(&machine), [])
        machine.received("a", from: 1)
        machine.finished(.finished, from: 1)
        expectNoDifference(actions(&machine), [.value("a"), .end(.finished)])
        expectNoDifference(actions(&machine), [])
    }

    @Test func aFailureComesAfterTheValuesBeforeItAndAsksNothingMore() {
        var machine = Merge(inletCount: 2)
        machine.requested(.unlimited)
        _ = actions(&machine)
        machine.received("a", from: 0)
        machine.finished(.failure(.first), from: 1)
        machine.finished(.failure(.second), from: 0)
        expectNoDifference(actions(&machine), [.value("a"), .end(.failure(.first))])
    }

    @Test func anEndWithoutDemandIsTold() {
        var machine = Merge(inletCount: 1)
        machine.finished(.finished, from: 0)
        expectNoDifference(actions(&machine), [.end(.finished)])
        var empty = Merge(inletCount: 0)
        expectNoDifference(actions(&empty), [.end(.finished)])
    }

    // MARK: Latest

    @Test func aWholeIsThereWhenEachHasItsFirst() {
        var machine = Latest(inletCount: 2)
        expectNoDifference(actions(&machine), [])
        machine.requested(.max(5))
        expectNoDifference(actions(&machine), [.ask(inlet: 0, .unlimited), .ask(inlet: 1, .unlimited)])
        machine.received("a", from: 0)
        expectNoDifference(actions(&machine), [])
        machine.received("1", from: 1)
        expectNoDifference(actions(&machine), [.value(["a", "1"])])
        machine.received("b", from: 0)
        expectNoDifference(actions(&machine), [.value(["b", "1"])])
    }

    @Test func aSlowSubscriberMissesWhatIsOutOfDateAndNotTheLatest() {
        var machine = Latest(inletCount: 2)
        machine.requested(.max(1))
        _ = actions(&machine)
        machine.received("a", from: 0)
        machine.received("1", from: 1)
        expectNoDifference(actions(&machine), [.value(["a", "1"])])
        for value in ["b", "c", "d"] { machine.received(value, from: 0) }
        expectNoDifference(actions(&machine), [])
        machine.requested(.max(3))
        expectNoDifference(actions(&machine), [.value(["d", "1"])])
    }

    @Test func itEndsWhenAllHaveOrAWholeCannotBe() {
        var machine = Latest(inletCount: 2)
        machine.requested(.unlimited)
        _ = actions(&machine)
        machine.received("a", from: 0)
        machine.finished(.finished, from: 0)
        expectNoDifference(actions(&machine), [])
        machine.received("1", from: 1)
        machine.finished(.finished, from: 1)
        expectNoDifference(actions(&machine), [.value(["a", "1"]), .end(.finished)])

        var without = Latest(inletCount: 2)
        without.requested(.unlimited)
        _ = actions(&without)
        without.finished(.finished, from: 1)
        expectNoDifference(actions(&without), [.end(.finished)])
    }

    @Test func theFirstFailureEndsItWithoutAWhole() {
        var machine = Latest(inletCount: 2)
        machine.requested(.unlimited)
        _ = actions(&machine)
        machine.received("a", from: 0)
        machine.received("1", from: 1)
        machine.finished(.failure(.first), from: 0)
        expectNoDifference(actions(&machine), [.end(.failure(.first))])
    }
}
