internal import NIOCore

/// How many workers deliver to the subscribers of one client, and who of them takes what.
///
/// One worker is enough as long as it keeps up, and cheapest: it finds the next delivery without being woken for it. A worker
/// that has been at one delivery for longer than `patience` is not counted on: its subscriber blocks or takes its time. When no
/// other one is there, or when the oldest delivery has waited that long, another is started. So a subscriber that blocks delays
/// others by that span once, and stalls nobody. A worker that finds nothing to do leaves.
///
/// Pure: time is passed in; it holds what it is given and runs nothing.
struct DeliveryCrewStateMachine<Delivery: Sendable>: Sendable {
    struct WorkerID: Hashable, Sendable {
        let number: Int
    }

    /// What the shell is to do after an event.
    struct Actions: Equatable {
        var start: WorkerID?
        /// Call `timePassed` then.
        var wakeAt: NIODeadline?
    }

    private struct Worker: Sendable {
        let id: WorkerID
        /// When it was started, or took its delivery.
        var since: NIODeadline
    }

    private struct Waiting: Sendable {
        let delivery: Delivery
        let since: NIODeadline
    }

    private let patience: TimeAmount
    private var waiting = CircularBuffer<Waiting>(initialCapacity: 16)
    private var workers: [Worker] = []
    private var lastWorker = 0
    private var lastStart = NIODeadline.uptimeNanoseconds(0)
    private var isWakeSet = false

    init(patience: TimeAmount) { self.patience = patience }

    mutating func submitted(_ delivery: Delivery, now: NIODeadline) -> Actions {
        waiting.append(Waiting(delivery: delivery, since: now))
        return staff(now: now)
    }

    /// What a worker delivers now that it was started, or is done with its last delivery; `nil` when it leaves.
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
        let isSomebodyQuick = workers.contains { now < $0.since + patience }
        // For too much work not more than one each time: the last one needs a moment to show whether it was enough.
        if !isSomebodyQuick || now >= max(oldest.since, lastStart) + patience {
            lastWorker += 1
            lastStart = now
            let id = WorkerID(number: lastWorker)
            workers.append(Worker(id: id, since: now))
            actions.start = id
        }
        if !isWakeSet {
            isWakeSet = true
            actions.wakeAt = now + patience
        }
        return actions
    }
}
