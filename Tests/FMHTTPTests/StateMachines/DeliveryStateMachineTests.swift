import OpenCombine
import Testing

@testable import FMHTTP

struct DeliveryStateMachineTests {
    private typealias Machine = DeliveryStateMachine<Int>

    private func started(_ demand: Subscribers.Demand) -> Machine {
        var machine = Machine(maximumBuffered: 3)
        #expect(machine.requested(demand) == .start)
        return machine
    }

    /// All steps that can be delivered now; each value returns this demand.
    private func drain(_ machine: inout Machine, more: Subscribers.Demand = .none) -> [String] {
        var steps: [String] = []
        while true {
            switch machine.next() {
            case .value(let value):
                steps.append("\(value)")
                if machine.delivered(more) { steps.append("resume") }
            case .completion(let completion):
                return steps + ["\(completion)"]
            case .rest:
                return steps
            }
        }
    }

    @Test func nothingBeforeDemand() {
        var machine = Machine(maximumBuffered: 3)
        #expect(machine.requested(.none) == .none)
        #expect(machine.flush() == false)
        #expect(machine.requested(.max(1)) == .start)
    }

    @Test func demandIsABudget() {
        var machine = started(.max(1))
        for value in 1...3 { machine.received(value) }
        #expect(machine.flush() == true)
        #expect(drain(&machine) == ["1"])
        #expect(machine.flush() == false)
        #expect(machine.requested(.max(1)) == .deliver)
        #expect(drain(&machine) == ["2"])
    }

    @Test func demandReturnedWithAValueCounts() {
        var machine = started(.max(1))
        for value in 1...3 { machine.received(value) }
        _ = machine.flush()
        #expect(drain(&machine, more: .max(1)) == ["1", "2", "3"])
    }

    @Test func oneDeliversAtATime() {
        var machine = started(.unlimited)
        machine.received(1)
        #expect(machine.flush() == true)
        machine.received(2)
        #expect(machine.flush() == false)
        #expect(machine.requested(.max(1)) == .none)
        #expect(drain(&machine) == ["1", "2"])
    }

    @Test func theEndComesAfterTheValues() {
        var machine = started(.max(1))
        machine.received(1)
        machine.received(2)
        machine.finished(.finished)
        _ = machine.flush()
        #expect(drain(&machine) == ["1"])
        #expect(machine.requested(.max(1)) == .deliver)
        #expect(drain(&machine) == ["2", "finished"])
        #expect(machine.requested(.max(1)) == .none)
        #expect(machine.flush() == false)
    }

    @Test func theEndNeedsNoDemand() {
        var machine = started(.max(1))
        machine.received(1)
        _ = machine.flush()
        _ = drain(&machine)
        machine.finished(.finished)
        #expect(machine.flush() == true)
        #expect(drain(&machine) == ["finished"])
    }

    @Test func onlyTheFirstEndCounts() {
        var machine = started(.max(1))
        machine.finished(.failure(HTTPClientError(code: .shutdown, outcome: .notSent)))
        machine.finished(.finished)
        _ = machine.flush()
        #expect(drain(&machine).first?.contains("failure") == true)
    }

    @Test func readingStopsAndGoesOnWithDemand() {
        var machine = started(.max(1))
        machine.received(1)
        #expect(machine.wantsMore() == false)
        _ = machine.flush()
        #expect(drain(&machine) == ["1"])
        #expect(machine.requested(.max(1)) == .resume)
        #expect(machine.requested(.max(1)) == .none, "it was told already")
    }

    @Test func readingGoesOnWhenAValueBringsDemand() {
        var machine = started(.max(1))
        machine.received(1)
        #expect(machine.wantsMore() == false)
        _ = machine.flush()
        #expect(drain(&machine, more: .max(1)) == ["1", "resume"])
    }

    @Test func unlimitedDemandDoesNotFillTheMemory() {
        var machine = started(.unlimited)
        for value in 1...3 { machine.received(value) }
        #expect(machine.wantsMore() == false)
        _ = machine.flush()
        #expect(drain(&machine) == ["1", "resume", "2", "3"])
    }

    @Test func afterCancellationNothing() {
        var machine = started(.unlimited)
        machine.received(1)
        #expect(machine.flush() == true)
        #expect(machine.cancelled() == true)
        #expect(machine.cancelled() == false)
        machine.received(2)
        machine.finished(.finished)
        #expect(drain(&machine) == [])
        #expect(machine.flush() == false)
        #expect(machine.requested(.unlimited) == .none)
    }

    @Test func cancelledBeforeDemandItNeverStarts() {
        var machine = Machine(maximumBuffered: 3)
        #expect(machine.cancelled() == true)
        #expect(machine.requested(.unlimited) == .none)
    }
}
