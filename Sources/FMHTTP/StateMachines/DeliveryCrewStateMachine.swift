internal import NIOCore

/// How many workers deliver to the subscribers of one client, and who of them takes what.
///
/// One worker is enough as long as it keeps up, and cheapest: it finds the next delivery without being woken for it. A worker
/// that has been at one delivery for longer than `patience` is not counted on: its subscriber blocks or takes its time. When no
/// other one is there, or when the oldest delivery has waited that long, another is started. So a subscriber that blocks delays
/// others by that span once, and stalls nobody. Who finds nothing to do leaves, but the only one may look out for the next
/// delivery for a moment.
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

    /// What a worker does next.
    enum Step {
        case deliver(Delivery)
        /// Nothing is there; ask again at once.
        case poll
        case leave
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
    private var polling: BusyPolling

    init(patience: TimeAmount, busyPollLimit: TimeAmount) {
        self.patience = patience
        polling = BusyPolling(limit: busyPollLimit)
    }

    var workerCount: Int { workers.count }

    mutating func submitted(_ delivery: Delivery, now: NIODeadline) -> Actions {
        waiting.append(Waiting(delivery: delivery, since: now))
        polling.waitEnded(now: now)
        return staff(now: now)
    }

    /// What a worker does now that it was started, or is done with what it did last.
    mutating func next(for id: WorkerID, now: NIODeadline) -> Step {
        guard let index = workers.firstIndex(where: { $0.id == id }) else { return .leave }
        // Also who polls is not at a delivery.
        workers[index].since = now
        if let next = waiting.popFirst() {
            return .deliver(next.delivery)
        }
        polling.waitBegan(now: now)
        if workers.count == 1, let deadline = polling.deadline, now < deadline { return .poll }
        workers.remove(at: index)
        return .leave
    }

    /// The one who polls is in somebody's way.
    mutating func stopPolling() { polling.forget() }

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

extension DeliveryCrewStateMachine.Step: Equatable where Delivery: Equatable {}
