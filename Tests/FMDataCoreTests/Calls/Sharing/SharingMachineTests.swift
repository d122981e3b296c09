import CustomDump
import FMData
import Testing

@testable import FMDataCore

/// Which subscribers share a request: events go in, actions come out.
@Suite struct SharingMachineTests {
    private typealias Machine = SharingMachine<String>

    @Test func whoAsksForTheSameJoinsAndWhoAsksForSomethingElseBegins() {
        var machine = Machine()
        expectNoDifference(machine.joined(1, "a"), .begin(flight: 1))
        expectNoDifference(machine.joined(2, "a"), .wait(flight: 1))
        expectNoDifference(machine.joined(3, "b"), .begin(flight: 2))
        expectNoDifference(machine.ended(1), [1, 2])
        expectNoDifference(machine.ended(2), [3])
    }

    @Test func whoComesAfterTheEndBeginsAnew() {
        var machine = Machine()
        _ = machine.joined(1, "a")
        _ = machine.ended(1)
        expectNoDifference(machine.joined(2, "a"), .begin(flight: 2))
        // Late events of the first flight do not affect the second.
        expectNoDifference(machine.ended(1), [])
        expectNoDifference(machine.left(1, 1), false)
        expectNoDifference(machine.joined(3, "a"), .wait(flight: 2))
    }

    @Test func theLastWhoLeavesCancels() {
        var machine = Machine()
        _ = machine.joined(1, "a")
        _ = machine.joined(2, "a")
        expectNoDifference(machine.left(1, 1), false)
        expectNoDifference(machine.left(1, 1), false)
        expectNoDifference(machine.left(2, 1), true)
        expectNoDifference(machine.ended(1), [])
        expectNoDifference(machine.joined(3, "a"), .begin(flight: 2))
    }

    @Test func afterAWriteNobodyJoinsWhatBeganBefore() {
        var machine = Machine()
        _ = machine.joined(1, "a")
        machine.wrote()
        expectNoDifference(machine.joined(2, "a"), .begin(flight: 2))
        expectNoDifference(machine.joined(3, "a"), .wait(flight: 2))
        // The end of the earlier flight leaves the other one open.
        expectNoDifference(machine.ended(1), [1])
        expectNoDifference(machine.joined(4, "a"), .wait(flight: 2))
        expectNoDifference(machine.ended(2), [2, 3, 4])
    }
}
