import Foundation
import NIOCore

/// A virtual computer: its threads take turns on the one real thread, and its clock advances when no thread has a job.
/// The next thread is drawn; each virtual thread runs its own jobs in order.
///
/// Source of the idea: FoundationDB's simulation
/// ([Will Wilson, Strange Loop 2014](https://www.youtube.com/watch?v=4fFDFbi3toc)).
final class VirtualMachine: @unchecked Sendable {
    // Sendable because all code that uses a machine runs inside `run`, on one real thread.

    typealias Job = () -> Void

    /// A thread of the machine, by its index.
    struct Thread: Equatable {
        fileprivate let place: Int
    }

    struct AlarmID: Hashable {
        fileprivate let number: Int
    }

    private struct Alarm {
        let thread: Thread
        let job: Job
        /// Called instead if the world ends before.
        let drop: Job?
    }

    private(set) var now = NIODeadline.uptimeNanoseconds(3_600_000_000_000)
    let start: NIODeadline
    /// The thread whose turn it is; `nil` between turns.
    private(set) var current: Thread?
    /// The number of turns so far: it reveals a world that never comes to rest.
    private(set) var turns = 0

    private var queues: [CircularBuffer<Job>] = []
    /// The indices of the threads that have jobs and do not stand still.
    private var ready: [Int] = []
    /// The indices of the threads that stand still.
    private var halted: Set<Int> = []
    private var alarms: [Int: Alarm] = [:]
    private var deadlines = Heap()
    private var lastAlarm = 0
    private var chance: Chance
    private let realThread = pthread_self()

    init(seed: UInt64) {
        start = now
        chance = Chance(seed: seed, purpose: .turns)
    }

    func makeThread() -> Thread {
        queues.append(CircularBuffer(initialCapacity: 16))
        return Thread(place: queues.count - 1)
    }

    func post(on thread: Thread, _ job: @escaping Job) {
        precondition(
            pthread_equal(realThread, pthread_self()) != 0,
            "Something runs on a thread that is not of this world"
        )
        if queues[thread.place].isEmpty, !halted.contains(thread.place) { ready.append(thread.place) }
        queues[thread.place].append(job)
    }

    /// Lets the threads stand still, as `SIGSTOP` does: jobs and alarms reach them, and wait. Called by another thread.
    func halt(_ threads: [Thread]) {
        for thread in threads {
            halted.insert(thread.place)
            ready.removeAll { $0 == thread.place }
        }
    }

    /// Lets the threads go on.
    func resume(_ threads: [Thread]) {
        for thread in threads where halted.remove(thread.place) != nil && !queues[thread.place].isEmpty {
            ready.append(thread.place)
        }
    }

    /// Calls the job at that time, after all that was due before.
    @discardableResult
    func schedule(
        at deadline: NIODeadline,
        on thread: Thread,
        _ job: @escaping Job,
        orDrop drop: Job? = nil
    ) -> AlarmID {
        lastAlarm += 1
        alarms[lastAlarm] = Alarm(thread: thread, job: job, drop: drop)
        deadlines.insert(Deadline(instant: max(deadline, now), alarm: lastAlarm))
        return AlarmID(number: lastAlarm)
    }

    func callOff(_ alarm: AlarmID) { alarms[alarm.number] = nil }

    /// The reason why a run ended.
    enum Rest {
        /// There is nothing left to do, now or later.
        case idle
        case timeIsOver
        /// The limit of turns was reached.
        case restless
    }

    /// Runs the machine until there is nothing left to do, this time has passed, or this number of turns was taken.
    @discardableResult
    func run(for span: TimeAmount = .hours(24 * 365), turns limit: Int = 2_000_000) -> Rest {
        let end = now + span
        let lastTurn = turns + limit
        while true {
            if ready.isEmpty {
                guard let next = nextDeadline() else { return .idle }
                guard next <= end else {
                    now = end
                    return .timeIsOver
                }
                now = max(now, next)
                ring()
                continue
            }
            guard turns < lastTurn else { return .restless }
            turns += 1
            takeTurn()
        }
    }

    /// Ends the world: pending jobs are dropped.
    func end() {
        while let first = deadlines.popFirst() { alarms.removeValue(forKey: first.alarm)?.drop?() }
    }

    private func takeTurn() {
        let choice = ready.count == 1 ? 0 : chance.below(ready.count)
        let place = ready[choice]
        let job = queues[place].removeFirst()
        if queues[place].isEmpty { ready.swapRemove(at: choice) }
        current = Thread(place: place)
        job()
        current = nil
    }

    private func nextDeadline() -> NIODeadline? {
        while let first = deadlines.first {
            if alarms[first.alarm] != nil { return first.instant }
            deadlines.popFirst()
        }
        return nil
    }

    /// Passes every alarm that is due to its thread.
    private func ring() {
        while let first = deadlines.first, first.instant <= now {
            deadlines.popFirst()
            if let alarm = alarms.removeValue(forKey: first.alarm) { post(on: alarm.thread, alarm.job) }
        }
    }

    private struct Deadline {
        let instant: NIODeadline
        let alarm: Int
    }

    /// A heap of deadlines: the earliest is first; of two at the same time the one that was set first.
    private struct Heap {
        private var deadlines: [Deadline] = []

        var first: Deadline? { deadlines.first }

        mutating func insert(_ deadline: Deadline) {
            deadlines.append(deadline)
            var child = deadlines.count - 1
            while child > 0, Self.isEarlier(deadlines[child], deadlines[(child - 1) / 2]) {
                deadlines.swapAt(child, (child - 1) / 2)
                child = (child - 1) / 2
            }
        }

        @discardableResult
        mutating func popFirst() -> Deadline? {
            guard let first = deadlines.first else { return nil }
            let last = deadlines.removeLast()
            guard !deadlines.isEmpty else { return first }
            deadlines[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in [2 * parent + 1, 2 * parent + 2]
                where child < deadlines.count && Self.isEarlier(deadlines[child], deadlines[least]) {
                    least = child
                }
                if least == parent { return first }
                deadlines.swapAt(parent, least)
                parent = least
            }
        }

        private static func isEarlier(_ left: Deadline, _ right: Deadline) -> Bool {
            (left.instant, left.alarm) < (right.instant, right.alarm)
        }
    }
}

extension Array {
    /// Removes an element and puts the last one in its place.
    fileprivate mutating func swapRemove(at index: Int) {
        swapAt(index, count - 1)
        removeLast()
    }
}
