import CustomDump
import OpenCombine
import Testing

@testable import FMData

/// The state machines of `merge` and `combineLatest`: events go in, steps come out.
@Suite struct JoinMachineTests {
    private enum Trouble: Error, Equatable { case first, second }

    private typealias Merge = MergeMachine<String, Trouble>
    private typealias Latest = CombineLatestMachine<String, Trouble>

    /// Calls `next` until there are no more steps.
    private func steps<Machine: JoinMachine>(
        _ machine: inout Machine,
        mayDeliver: Bool = true
    ) -> [JoinStep<Machine.Output, Machine.Failure>] where Machine.Output: Equatable, Machine.Failure == Trouble {
        var steps: [JoinStep<Machine.Output, Trouble>] = []
        while true {
            let step = machine.next(mayDeliver: mayDeliver)
            if step == .rest { return steps }
            steps.append(step)
            if step == .deliverElsewhere { return steps }
        }
    }

    // MARK: Merge

    @Test func nothingIsAskedOfAnybodyBeforeDemand() {
        var machine = Merge(inletCount: 2)
        expectNoDifference(steps(&machine), [])
        machine.requested(.max(3))
        expectNoDifference(steps(&machine), [.ask(inlet: 0, .max(3)), .ask(inlet: 1, .max(3))])
    }

    @Test func unlimitedDemandAsksNoMoreThanTheWindowAhead() {
        var machine = Merge(inletCount: 1, window: 2)
        machine.requested(.unlimited)
        expectNoDifference(steps(&machine), [.ask(inlet: 0, .max(2))])
        machine.received("a", from: 0)
        expectNoDifference(steps(&machine), [.value("a"), .ask(inlet: 0, .max(1))])
    }

    @Test func whatIsNotAskedForWaits() {
        var machine = Merge(inletCount: 2)
        machine.requested(.max(1))
        _ = steps(&machine)
        machine.received("a", from: 1)
        machine.received("b", from: 0)
        // "b" was requested before "a" turned out to be the first value; it is kept.
        expectNoDifference(steps(&machine), [.value("a")])
        machine.requested(.max(1))
        expectNoDifference(steps(&machine), [.ask(inlet: 1, .max(1)), .value("b")])
    }

    @Test func itEndsWithTheLastOfThemAfterTheirValues() {
        var machine = Merge(inletCount: 2)
        machine.requested(.unlimited)
        _ = steps(&machine)
        machine.finished(.finished, from: 0)
        expectNoDifference(steps(&machine), [])
        machine.received("a", from: 1)
        machine.finished(.finished, from: 1)
        expectNoDifference(steps(&machine), [.value("a"), .end(.finished)])
        expectNoDifference(steps(&machine), [])
    }

    @Test func aFailureComesAfterTheValuesBeforeItAndAsksNothingMore() {
        var machine = Merge(inletCount: 2)
        machine.requested(.unlimited)
        _ = steps(&machine)
        machine.received("a", from: 0)
        machine.finished(.failure(.first), from: 1)
        machine.finished(.failure(.second), from: 0)
        expectNoDifference(steps(&machine), [.value("a"), .end(.failure(.first))])
    }

    @Test func anEndWithoutDemandIsTold() {
        var machine = Merge(inletCount: 1)
        machine.finished(.finished, from: 0)
        expectNoDifference(steps(&machine), [.end(.finished)])
        var empty = Merge(inletCount: 0)
        expectNoDifference(steps(&empty), [.end(.finished)])
    }

    @Test func elsewhereOnlyQuestionsAreAsked() {
        var machine = Merge(inletCount: 1)
        machine.requested(.max(2))
        expectNoDifference(steps(&machine, mayDeliver: false), [.ask(inlet: 0, .max(2))])
        machine.received("a", from: 0)
        expectNoDifference(steps(&machine, mayDeliver: false), [.deliverElsewhere])
        machine.finished(.finished, from: 0)
        expectNoDifference(steps(&machine, mayDeliver: false), [.deliverElsewhere])
        expectNoDifference(steps(&machine), [.value("a"), .end(.finished)])
    }

    // MARK: Latest

    @Test func aWholeIsThereWhenEachHasItsFirst() {
        var machine = Latest(inletCount: 2)
        expectNoDifference(steps(&machine), [])
        machine.requested(.max(5))
        expectNoDifference(steps(&machine), [.ask(inlet: 0, .unlimited), .ask(inlet: 1, .unlimited)])
        machine.received("a", from: 0)
        expectNoDifference(steps(&machine), [])
        machine.received("1", from: 1)
        expectNoDifference(steps(&machine), [.value(["a", "1"])])
        machine.received("b", from: 0)
        expectNoDifference(steps(&machine), [.value(["b", "1"])])
    }

    @Test func aSlowSubscriberMissesWhatIsOutOfDateAndNotTheLatest() {
        var machine = Latest(inletCount: 2)
        machine.requested(.max(1))
        _ = steps(&machine)
        machine.received("a", from: 0)
        machine.received("1", from: 1)
        expectNoDifference(steps(&machine), [.value(["a", "1"])])
        for value in ["b", "c", "d"] { machine.received(value, from: 0) }
        expectNoDifference(steps(&machine), [])
        machine.requested(.max(3))
        expectNoDifference(steps(&machine), [.value(["d", "1"])])
    }

    @Test func itEndsWhenAllHaveOrAWholeCannotBe() {
        var machine = Latest(inletCount: 2)
        machine.requested(.unlimited)
        _ = steps(&machine)
        machine.received("a", from: 0)
        machine.finished(.finished, from: 0)
        expectNoDifference(steps(&machine), [])
        machine.received("1", from: 1)
        machine.finished(.finished, from: 1)
        expectNoDifference(steps(&machine), [.value(["a", "1"]), .end(.finished)])

        var without = Latest(inletCount: 2)
        without.requested(.unlimited)
        _ = steps(&without)
        without.finished(.finished, from: 1)
        expectNoDifference(steps(&without), [.end(.finished)])
    }

    @Test func theFirstFailureEndsItWithoutAWhole() {
        var machine = Latest(inletCount: 2)
        machine.requested(.unlimited)
        _ = steps(&machine)
        machine.received("a", from: 0)
        machine.received("1", from: 1)
        machine.finished(.failure(.first), from: 0)
        expectNoDifference(steps(&machine), [.end(.failure(.first))])
    }
}
