internal import NIOCore

/// Decides how many workers deliver to the subscribers of one client, and which worker takes which delivery.
///
/// One worker is enough as long as it keeps up, and cheapest: it takes the next delivery without being woken. A worker
/// whose delivery takes longer than `slowAfter` does not count: its subscriber blocks or is slow. If there is no other
/// worker, or if the oldest delivery has waited that long, another is started. So a blocking subscriber delays others
/// by that span once, and stops none. A worker that finds no delivery ends.
///
/// Pure: time is passed in; it stores the deliveries but does not run them.
struct DeliveryCrewStateMachine<Delivery: Sendable>: Sendable {
    struct WorkerID: Hashable, Sendable {
        let number: Int
    }

    /// What the owner must do after an event.
    struct Actions: Equatable {
        var start: WorkerID?
        /// When to call `timePassed`.
        var wakeAt: NIODeadline?
    }

    private struct Worker: Sendable {
        let id: WorkerID
        /// The time of its start, or of taking its current delivery.
        var since: NIODeadline
    }

    private struct Waiting: Sendable {
        let delivery: Delivery
        let since: NIODeadline
    }

    private let slowAfter: TimeAmount
    private var waiting = CircularBuffer<Waiting>(initialCapacity: 16)
    private var workers: [Worker] = []
    private var lastWorker = 0
    private var lastStart = NIODeadline.uptimeNanoseconds(0)
    private var isWakeSet = false

    init(slowAfter: TimeAmount) { self.slowAfter = slowAfter }

    mutating func submitted(_ delivery: Delivery, now: NIODeadline) -> Actions {
        waiting.append(Waiting(delivery: delivery, since: now))
        return staff(now: now)
    }

    /// The next delivery for a worker that was started or has finished its last one; `nil` if the worker must end.
    mutating func next(for id: WorkerID, now: NIODeadline) -> Delivery? {
        guard let index = workers.firstIndex(where: { $0.id == id }) else { return nil }
        guard let next = waiting.popFirst() else {
            workers.remove(at: index)
            return nil
        }
        workers[index].since = now
        return next.delivery
    }

    mutating func timePassed(now: NIODeadline) -> Actions {
        isWakeSet = false
        return staff(now: now)
    }

    private mutating func staff(now: NIODeadline) -> Actions {
        var actions = Actions()
        guard let oldest = waiting.first else { return actions }
        let isSomebodyQuick = workers.contains { now < $0.since + slowAfter }
        // Against a backlog, at most one worker is started per `slowAfter`: the last one needs a moment to show whether
        // it was enough.
        if !isSomebodyQuick || now >= max(oldest.since, lastStart) + slowAfter {
            lastWorker += 1
            lastStart = now
            let id = WorkerID(number: lastWorker)
            workers.append(Worker(id: id, since: now))
            actions.start = id
        }
        if !isWakeSet {
            isWakeSet = true
            actions.wakeAt = now + slowAfter
        }
        return actions
    }
}
