import FMTestSupport
import NIOCore
import Testing

@testable import FMHTTP

struct DeliveryCrewStateMachineTests {
    private typealias Machine = DeliveryCrewStateMachine<Int>
    private typealias WorkerID = Machine.WorkerID

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private var machine = Machine(patience: .milliseconds(1), busyPollLimit: .zero)
    private let first = WorkerID(number: 1)
    private let second = WorkerID(number: 2)

    private func at(_ microseconds: Int64) -> NIODeadline { Self.start + .microseconds(microseconds) }

    /// The delivery that a worker gets; `nil` when it leaves.
    private mutating func next(for id: WorkerID, now: NIODeadline) -> Int? { machine.delivery(for: id, now: now) }

    @Test mutating func oneWorkerDeliversAllInOrderAndLeaves() {
        #expect(machine.submitted(1, now: at(0)) == .init(start: first, wakeAt: at(1000)))
        #expect(machine.submitted(2, now: at(10)) == .init())
        #expect(machine.submitted(3, now: at(20)) == .init())
        #expect((0..<4).map { _ in next(for: first, now: at(30)) } == [1, 2, 3, nil])
        #expect(machine.workerCount == 0)
        // Nothing waits any more, so nobody looks again.
        #expect(machine.timePassed(now: at(1000)) == .init())
        #expect(machine.submitted(4, now: at(2000)) == .init(start: second, wakeAt: at(3000)))
    }

    @Test mutating func aBlockedWorkerIsReplacedWhenTimePasses() {
        _ = machine.submitted(1, now: at(0))
        #expect(next(for: first, now: at(5)) == 1)
        // The worker does not come back for this one.
        #expect(machine.submitted(2, now: at(10)) == .init())
        #expect(machine.timePassed(now: at(1000)) == .init(wakeAt: at(2000)))
        #expect(machine.timePassed(now: at(2000)) == .init(start: second, wakeAt: at(3000)))
        #expect(next(for: second, now: at(2010)) == 2)
        #expect(next(for: second, now: at(2020)) == nil)
        #expect(machine.workerCount == 1)
    }

    /// The one who blocks delays others once, not each time.
    @Test mutating func aWorkerKnownToBeBlockedIsNotCountedOn() {
        _ = machine.submitted(1, now: at(0))
        #expect(next(for: first, now: at(5)) == 1)
        for round in 1...5 {
            let now = at(Int64(2000 + round * 100))
            let id = WorkerID(number: round + 1)
            #expect(machine.submitted(2, now: now).start == id)
            #expect(next(for: id, now: now) == 2)
            #expect(next(for: id, now: now) == nil)
        }
        #expect(machine.workerCount == 1)
        // It comes back in the end.
        #expect(next(for: first, now: at(9000)) == nil)
        #expect(machine.workerCount == 0)
    }

    /// A worker that looks out for the next delivery, 200 µs long, because the last ones came quickly.
    private mutating func pollingWorker(now: Int64) -> WorkerID {
        machine = Machine(patience: .milliseconds(1), busyPollLimit: .microseconds(200))
        for number in 1...BusyPolling.row.lowerBound + 1 {
            let id = WorkerID(number: number)
            #expect(machine.submitted(number, now: at(now)).start == id)
            #expect(machine.next(for: id, now: at(now)) == .deliver(number))
            #expect(machine.next(for: id, now: at(now)) == (number > BusyPolling.row.lowerBound ? .poll : .leave))
        }
        return WorkerID(number: BusyPolling.row.lowerBound + 1)
    }

    @Test mutating func whoPollsTakesTheNextDelivery() {
        let id = pollingWorker(now: 0)
        #expect(machine.next(for: id, now: at(199)) == .poll)
        #expect(machine.submitted(9, now: at(199)).start == nil)
        #expect(machine.next(for: id, now: at(199)) == .deliver(9))
        #expect(machine.next(for: id, now: at(300)) == .poll)
    }

    @Test mutating func aPollEnds() {
        let id = pollingWorker(now: 0)
        #expect(machine.next(for: id, now: at(200)) == .leave)
        #expect(machine.workerCount == 0)
        // That was not quick.
        let another = machine.submitted(9, now: at(300)).start
        #expect(another.map { machine.next(for: $0, now: at(301)) } == .deliver(9))
        #expect(another.map { machine.next(for: $0, now: at(302)) } == .leave)
    }

    @Test mutating func whoIsToldToStopPollingLeaves() {
        let id = pollingWorker(now: 0)
        machine.stopPolling()
        #expect(machine.next(for: id, now: at(1)) == .leave)
    }

    @Test mutating func whoIsNotAloneDoesNotPoll() {
        let id = pollingWorker(now: 0)
        _ = machine.submitted(8, now: at(10))
        #expect(machine.next(for: id, now: at(10)) == .deliver(8))
        // It stays at that one, and another is started.
        let another = machine.submitted(9, now: at(1100)).start
        #expect(another.map { machine.next(for: $0, now: at(1100)) } == .deliver(9))
        #expect(another.map { machine.next(for: $0, now: at(1100)) } == .leave)
    }

    @Test mutating func forTooMuchWorkWorkersAreAddedOneAtATime() {
        _ = machine.submitted(1, now: at(0))
        #expect(next(for: first, now: at(0)) == 1)
        for number in 2...9 { _ = machine.submitted(number, now: at(10)) }
        #expect(next(for: first, now: at(900)) == 2)
        #expect(machine.submitted(10, now: at(1010)).start == second)
        #expect(machine.submitted(11, now: at(1020)).start == nil)
        #expect(next(for: first, now: at(1800)) == 3)
        #expect(machine.timePassed(now: at(2000)).start == nil)
        #expect(machine.timePassed(now: at(2010)).start == WorkerID(number: 3))
        #expect(machine.workerCount == 3)
    }

    /// Whatever happens, what waits has a worker that is not done with its last delivery, or somebody who will look.
    @Test(arguments: 0..<20) func nothingWaitsForEver(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var machine = Machine(patience: .milliseconds(1), busyPollLimit: .zero)
        var now: Int64 = 0
        var wakes: [NIODeadline] = []
        var submitted = 0
        var delivered: [Int] = []
        // Workers that ask for more when they are scheduled; one that blocks never does.
        var busy: [WorkerID] = []
        var blockedCount = 0
        func carryOut(_ actions: Machine.Actions) {
            if let id = actions.start { busy.append(id) }
            if let wakeAt = actions.wakeAt { wakes.append(wakeAt) }
        }
        func work(_ index: Int) {
            if let next = machine.delivery(for: busy[index], now: at(now)) {
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

extension DeliveryCrewStateMachine {
    fileprivate mutating func delivery(for id: WorkerID, now: NIODeadline) -> Delivery? {
        switch next(for: id, now: now) {
        case .deliver(let delivery): delivery
        case .poll, .leave: nil
        }
    }
}
