internal import NIOCore

/// How many workers deliver to the subscribers of one client, and who of them takes what.
///
/// One worker is enough as long as it keeps up, and cheapest: it finds the next delivery without being woken for it. When the
/// oldest delivery has waited for longer than `patience`, a subscriber blocks or there is more to do than one worker can, and
/// another one is started; so a subscriber that blocks delays others by that span once, and stalls nobody. Who finds nothing
/// to do leaves.
///
/// Pure: time is passed in; it holds what it is given and runs nothing.
struct DeliveryCrewStateMachine<Delivery: Sendable>: Sendable {
    /// What the shell is to do after an event.
    struct Actions: Equatable {
        var startsWorker = false
        /// Call `timePassed` then.
        var wakeAt: NIODeadline?
    }

    private struct Waiting: Sendable {
        let delivery: Delivery
        let since: NIODeadline
    }

    private let patience: TimeAmount
    private var waiting = CircularBuffer<Waiting>(initialCapacity: 16)
    private var lastStart = NIODeadline.uptimeNanoseconds(0)
    private var isWakeSet = false
    private(set) var workerCount = 0

    init(patience: TimeAmount) { self.patience = patience }

    mutating func submitted(_ delivery: Delivery, now: NIODeadline) -> Actions {
        waiting.append(Waiting(delivery: delivery, since: now))
        return staff(now: now)
    }

    /// The next delivery for a worker; without one the worker leaves.
    mutating func next() -> Delivery? {
        if let next = waiting.popFirst() { return next.delivery }
        workerCount -= 1
        return nil
    }

    mutating func timePassed(now: NIODeadline) -> Actions {
        isWakeSet = false
        return staff(now: now)
    }

    private mutating func staff(now: NIODeadline) -> Actions {
        var actions = Actions()
        guard let oldest = waiting.first else { return actions }
        // Not more than one each time: the last one needs a moment before it shows whether it was enough.
        if workerCount == 0 || now >= max(oldest.since, lastStart) + patience {
            workerCount += 1
            lastStart = now
            actions.startsWorker = true
        }
        if !isWakeSet {
            isWakeSet = true
            actions.wakeAt = now + patience
        }
        return actions
    }
}
