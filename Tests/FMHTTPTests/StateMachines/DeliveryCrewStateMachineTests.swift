import FMTestSupport
import NIOCore
import Testing

@testable import FMHTTP

struct DeliveryCrewStateMachineTests {
    private typealias Machine = DeliveryCrewStateMachine<Int>
    private typealias WorkerID = Machine.WorkerID

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private var machine = Machine(slowAfter: .milliseconds(1))
    private let first = WorkerID(number: 1)
    private let second = WorkerID(number: 2)

    private func at(_ microseconds: Int64) -> NIODeadline { Self.start + .microseconds(microseconds) }

    @Test mutating func oneWorkerDeliversAllInOrderAndLeaves() {
        #expect(machine.submitted(1, now: at(0)) == .init(start: first, wakeAt: at(1000)))
        #expect(machine.submitted(2, now: at(10)) == .init())
        #expect(machine.submitted(3, now: at(20)) == .init())
        #expect((0..<4).map { _ in machine.next(for: first, now: at(30)) } == [1, 2, 3, nil])
        // No delivery waits any more, so no further wake-up is scheduled.
        #expect(machine.timePassed(now: at(1000)) == .init())
        #expect(machine.submitted(4, now: at(2000)) == .init(start: second, wakeAt: at(3000)))
    }

    @Test mutating func aBlockedWorkerIsReplacedWhenTimePasses() {
        _ = machine.submitted(1, now: at(0))
        #expect(machine.next(for: first, now: at(5)) == 1)
        // The worker does not finish, so it does not take this one.
        #expect(machine.submitted(2, now: at(10)) == .init())
        #expect(machine.timePassed(now: at(1000)) == .init(wakeAt: at(2000)))
        #expect(machine.timePassed(now: at(2000)) == .init(start: second, wakeAt: at(3000)))
        #expect(machine.next(for: second, now: at(2010)) == 2)
        #expect(machine.next(for: second, now: at(2020)) == nil)
        // The second worker has ended, and the first is still at its delivery.
        #expect(machine.submitted(3, now: at(2030)).start == WorkerID(number: 3))
    }

    /// A blocked worker delays others once, not each time.
    @Test mutating func aWorkerKnownToBeBlockedIsNotCountedOn() {
        _ = machine.submitted(1, now: at(0))
        #expect(machine.next(for: first, now: at(5)) == 1)
        for round in 1...5 {
            let now = at(Int64(2000 + round * 100))
            let id = WorkerID(number: round + 1)
            #expect(machine.submitted(2, now: now).start == id)
            #expect(machine.next(for: id, now: now) == 2)
            #expect(machine.next(for: id, now: now) == nil)
        }
        // It continues in the end, and ends like any other.
        #expect(machine.next(for: first, now: at(9000)) == nil)
        #expect(machine.submitted(3, now: at(9000)).start == WorkerID(number: 7))
    }

    @Test mutating func forTooMuchWorkWorkersAreAddedOneAtATime() {
        _ = machine.submitted(1, now: at(0))
        #expect(machine.next(for: first, now: at(0)) == 1)
        for number in 2...9 { _ = machine.submitted(number, now: at(10)) }
        #expect(machine.next(for: first, now: at(900)) == 2)
        #expect(machine.submitted(10, now: at(1010)).start == second)
        #expect(machine.submitted(11, now: at(1020)).start == nil)
        #expect(machine.next(for: first, now: at(1800)) == 3)
        #expect(machine.timePassed(now: at(2000)).start == nil)
        #expect(machine.timePassed(now: at(2010)).start == WorkerID(number: 3))
    }

    /// In every state, a waiting delivery has a worker that has not finished its last one, or a wake-up is scheduled.
    @Test(arguments: 0..<20) func nothingWaitsForEver(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var machine = Machine(slowAfter: .milliseconds(1))
        var now: Int64 = 0
        var wakes: [NIODeadline] = []
        var submitted = 0
        var delivered: [Int] = []
        // Workers that ask for the next delivery when they are scheduled; one that blocks never does.
        var busy: [WorkerID] = []
        var blockedCount = 0
        func carryOut(_ actions: Machine.Actions) {
            if let id = actions.start { busy.append(id) }
            if let wakeAt = actions.wakeAt { wakes.append(wakeAt) }
        }
        func work(_ index: Int) {
            if let next = machine.next(for: busy[index], now: at(now)) {
                delivered.append(next)
            } else {
                busy.remove(at: index)
            }
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
            case 4..<9 where !busy.isEmpty:
                work(busy.indices.randomElement(using: &random) ?? 0)
            case 9 where !busy.isEmpty && blockedCount < 5:
                busy.removeLast()
                blockedCount += 1
            default:
                break
            }
        }
        while delivered.count < submitted {
            if !busy.isEmpty {
                work(0)
            } else if !wakes.isEmpty {
                now += 1000
                wakes.removeFirst()
                carryOut(machine.timePassed(now: at(now)))
            } else {
                break
            }
        }
        #expect(delivered == Array(1...submitted))
    }
}
