import FMTestSupport
import NIOCore
import Testing

@testable import FMHTTP

struct DeliveryCrewStateMachineTests {
    private typealias Machine = DeliveryCrewStateMachine<Int>

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private var machine = Machine(patience: .milliseconds(1))

    private func at(_ microseconds: Int64) -> NIODeadline { Self.start + .microseconds(microseconds) }

    @Test mutating func oneWorkerDeliversAllInOrderAndLeaves() {
        #expect(machine.submitted(1, now: at(0)) == .init(startsWorker: true, wakeAt: at(1000)))
        #expect(machine.submitted(2, now: at(10)) == .init())
        #expect(machine.submitted(3, now: at(20)) == .init())
        #expect([machine.next(), machine.next(), machine.next(), machine.next()] == [1, 2, 3, nil])
        #expect(machine.workerCount == 0)
        // Nothing waits any more, so nobody looks again.
        #expect(machine.timePassed(now: at(1000)) == .init())
        #expect(machine.submitted(4, now: at(2000)) == .init(startsWorker: true, wakeAt: at(3000)))
    }

    @Test mutating func aBlockedWorkerIsReplacedWhenTimePasses() {
        _ = machine.submitted(1, now: at(0))
        #expect(machine.next() == 1)
        // The worker does not come back for this one.
        #expect(machine.submitted(2, now: at(10)) == .init())
        #expect(machine.timePassed(now: at(1000)) == .init(startsWorker: false, wakeAt: at(2000)))
        #expect(machine.timePassed(now: at(2000)) == .init(startsWorker: true, wakeAt: at(3000)))
        #expect(machine.next() == 2)
        #expect(machine.next() == nil)
        #expect(machine.workerCount == 1)
    }

    @Test mutating func aBlockedWorkerIsReplacedByTheNextDelivery() {
        _ = machine.submitted(1, now: at(0))
        #expect(machine.next() == 1)
        _ = machine.submitted(2, now: at(10))
        #expect(machine.submitted(3, now: at(1011)).startsWorker)
        #expect(machine.workerCount == 2)
    }

    @Test mutating func workersAreAddedOneAtATime() {
        _ = machine.submitted(1, now: at(0))
        #expect(machine.next() == 1)
        for number in 2...9 { _ = machine.submitted(number, now: at(10)) }
        #expect(machine.submitted(10, now: at(1010)).startsWorker)
        #expect(!machine.submitted(11, now: at(1020)).startsWorker)
        #expect(!machine.timePassed(now: at(2000)).startsWorker)
        #expect(machine.timePassed(now: at(2010)).startsWorker)
        #expect(machine.workerCount == 3)
    }

    /// Whatever happens, what waits has a worker that is not done with its last delivery, or somebody who will look.
    @Test(arguments: 0..<20) func nothingWaitsForEver(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var machine = Machine(patience: .milliseconds(1))
        var now: Int64 = 0
        var wakes: [NIODeadline] = []
        var submitted = 0
        var delivered: [Int] = []
        // Workers that would ask for more when scheduled; a blocked one never asks again.
        var busy = 0
        var blocked = 0
        func carryOut(_ actions: Machine.Actions) {
            if actions.startsWorker { busy += 1 }
            if let wakeAt = actions.wakeAt { wakes.append(wakeAt) }
        }
        for _ in 0..<2000 {
            now += Int64.random(in: 0...400, using: &random)
            while let due = wakes.first, due <= at(now) {
                wakes.removeFirst()
                carryOut(machine.timePassed(now: at(now)))
            }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                submitted += 1
                carryOut(machine.submitted(submitted, now: at(now)))
            case 4..<9 where busy > 0:
                if let next = machine.next() { delivered.append(next) } else { busy -= 1 }
            case 9 where busy > 0 && blocked < 5:
                busy -= 1
                blocked += 1
            default:
                break
            }
        }
        while delivered.count < submitted {
            if busy == 0 {
                guard !wakes.isEmpty else { break }
                now += 1000
                wakes.removeFirst()
                carryOut(machine.timePassed(now: at(now)))
            } else if let next = machine.next() {
                delivered.append(next)
            } else {
                busy -= 1
            }
        }
        #expect(delivered == Array(1...submitted))
    }
}
