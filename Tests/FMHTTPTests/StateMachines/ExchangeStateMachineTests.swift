import Testing

@testable import FMHTTP

struct ExchangeStateMachineTests {
    private let first = ConnectionID(number: 1)
    private let second = ConnectionID(number: 2)

    @Test func startsOnce() {
        var machine = ExchangeStateMachine()
        let starts = (0..<2).map { _ in machine.start() }
        #expect(starts == [true, false])
        #expect(machine.attempt == 1)
    }

    @Test func completesOnce() {
        var machine = ExchangeStateMachine()
        _ = machine.start()
        #expect(machine.begin(on: first) == true)
        let completions = (0..<2).map { _ in machine.completed() }
        #expect(completions == [true, false])
        #expect(machine.failed(mayRepeat: true) == .ignore)
        #expect(machine.cancelled() == .nothing)
    }

    @Test func isRepeatedOnce() {
        var machine = ExchangeStateMachine()
        _ = machine.start()
        _ = machine.begin(on: first)
        #expect(machine.failed(mayRepeat: true) == .retry)
        #expect(machine.attempt == 2)
        #expect(machine.begin(on: second) == true)
        #expect(machine.failed(mayRepeat: true) == .report)
        #expect(machine.failed(mayRepeat: true) == .ignore)
    }

    @Test func isNotRepeatedWhenItMustNotBe() {
        var machine = ExchangeStateMachine()
        _ = machine.start()
        _ = machine.begin(on: first)
        #expect(machine.failed(mayRepeat: false) == .report)
    }

    @Test func isCancelledWhereverItIs() {
        var machine = ExchangeStateMachine()
        #expect(machine.cancelled() == .nothing)
        #expect(machine.start() == false)

        machine = ExchangeStateMachine()
        _ = machine.start()
        #expect(machine.cancelled() == .leaveQueue)
        #expect(machine.begin(on: first) == false, "the pool had chosen it already")

        machine = ExchangeStateMachine()
        _ = machine.start()
        _ = machine.begin(on: first)
        #expect(machine.cancelled() == .stop(first))
        #expect(machine.completed() == false)
        #expect(machine.cancelled() == .nothing)
    }
}
