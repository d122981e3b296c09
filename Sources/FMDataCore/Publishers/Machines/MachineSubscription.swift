import NIOConcurrencyHelpers
package import OpenCombine

/// The shell around a ``SubscriptionMachine``: it takes the lock, passes events in, and carries out the actions outside
/// of the lock, one at a time.
///
/// The subscriber, the publishers it asks and the work under way may call at any time, from any thread and from inside
/// one of its own calls. If a thread is working already, such a call only passes its event to the machine. The end, or
/// a cancel, releases everything: the publisher with its captures, the machine with its values, the subscriber, and
/// what is under way, which is cancelled.
package final class MachineSubscription<Source: MachinePublisher>: Subscription, DeferredWorker, @unchecked Sendable {
    package typealias Machine = Source.Machine
    typealias Action = SubscriptionAction<Source.Output, Source.Failure, Machine.Work>
    typealias Downstream = any Subscriber<Source.Output, Source.Failure>

    // @unchecked: `lock` guards every `var`; only the working thread calls the subscriber, so one call at a time.
    private let lock = NIOLock()
    private let actor: ActorTurn?
    private var worker = SoleWorker()
    private var hasBegun = false
    /// The subscription of the only publisher, for an ``InletMachine``.
    private var upstream: (any Subscription)?
    private var isUpstreamOver = false
    /// Demand from before that publisher has sent its subscription.
    private var asked = Subscribers.Demand.none
    /// The subscribers of several publishers.
    private var inlets: [any Subscription] = []
    /// What is under way, under numbers of its publisher's choice.
    private var works: [Int: any Cancellable] = [:]
    /// `nil` after the end, like `machine` and `downstream`.
    private var source: Source?
    private var downstream: Downstream?
    private var machine: Machine?
    /// The value or the end that waits for the actor's turn.
    private var delivery: Action?

    init(_ source: Source, downstream: Downstream) {
        actor = source.actor
        machine = source.machine
        self.source = source
        self.downstream = downstream
    }

    // MARK: From downstream

    package func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        let first: Source? = lock.withLock {
            machine?.requested(demand)
            defer { hasBegun = true }
            return hasBegun ? nil : source
        }
        first?.begin(self)
        go()
    }

    package func cancel() { letGo().cancel() }

    // MARK: Events

    /// Passes an event to the machine, and carries out what follows. Has no effect after the end.
    package func tell(_ event: (inout Machine) -> Void) {
        change(event)
        go()
    }

    /// Passes an event to the machine, or reads what it knows; the caller then calls ``go()``. Returns `nil` after the
    /// end.
    @discardableResult
    package func change<Result>(_ event: (inout Machine) -> Result) -> Result? {
        lock.withLock {
            worker.noteEvent()
            return machine?.take(event)
        }
    }

    // MARK: What is under way

    /// Registers work, so that the end cancels it. Returns whether it may begin: `false` after the end.
    package func begin(_ work: any Cancellable, as number: Int = 0) -> Bool {
        lock.withLock {
            guard downstream != nil else { return false }
            works[number] = work
            return true
        }
    }

    /// The work has ended by itself.
    package func ended(_ number: Int = 0) {
        let work = lock.withLock { works.removeValue(forKey: number) }
        withExtendedLifetime(work) {}
    }

    /// Makes the subscribers of several publishers, in place of the only one of an ``InletMachine``.
    package func open(_ inlets: [any Subscription]) { lock.withLock { self.inlets = inlets } }

    // MARK: Work

    package func go() {
        if lock.withLock({ worker.start() }) { goOn(mayDeliver: actor?.isHere ?? true) }
    }

    package func goOn() {
        if let (delivery, downstream) = lock.withLock({ lockedDelivery() }) { deliver(delivery, to: downstream) }
        goOn(mayDeliver: true)
    }

    private func goOn(mayDeliver: Bool) {
        var leaves = false
        while let (action, downstream) = lock.withLock({ lockedNext(&leaves) }) {
            switch action {
            case .ask(let inlet, let demand): lock.withLock { lockedUpstream(inlet, demand) }?.request(demand)
            case .work(let work): lock.withLock { source }?.carryOut(work, in: self)
            case .value, .end:
                if let actor, !mayDeliver {
                    // The worker is not stopped: events that come before the actor's turn are handled in that turn.
                    lock.withLock { delivery = action }
                    return actor.ask(for: self)
                }
                deliver(action, to: downstream)
            }
        }
        if leaves { goOnInBackground() }
    }

    private func deliver(_ action: Action, to downstream: Downstream) {
        switch action {
        case .value(let value):
            let more = downstream.receive(value)
            if more > .none { lock.withLock { machine?.delivered(more) } }
        case .end(let completion):
            let remains = letGo()
            remains.cancel()
            remains.downstream?.receive(completion: completion)
        case .ask, .work: break
        }
    }

    /// `nil` when there is nothing to do, or nothing for this thread. An actor's values wait for its turn anyway.
    private func lockedNext(_ leaves: inout Bool) -> (Action, Downstream)? {
        if actor == nil, downstream != nil, worker.leaves() {
            leaves = true
            return nil
        }
        if let downstream, let action = machine?.next() { return (action, downstream) }
        worker.stop()
        return nil
    }

    private func lockedDelivery() -> (Action, Downstream)? {
        guard let delivery = delivery.take(), let downstream else { return nil }
        return (delivery, downstream)
    }

    /// The subscription to ask. Demand is kept as long as there is none.
    private func lockedUpstream(_ inlet: Int, _ demand: Subscribers.Demand) -> (any Subscription)? {
        if inlets.indices.contains(inlet) { return inlets[inlet] }
        if upstream == nil, !isUpstreamOver { asked += demand }
        return upstream
    }

    // MARK: The end

    /// The objects released at the end. They are not released under the lock, since deinitializing them may run any
    /// code.
    private struct ReleasedObjects {
        let source: Source?
        let machine: Machine?
        let delivery: Action?
        let downstream: Downstream?
        let upstream: (any Subscription)?
        let inlets: [any Subscription]
        let works: [Int: any Cancellable]

        func cancel() {
            upstream?.cancel()
            for inlet in inlets { inlet.cancel() }
            for work in works.values { work.cancel() }
        }
    }

    private func letGo() -> ReleasedObjects {
        lock.withLock {
            let remains = ReleasedObjects(
                source: source,
                machine: machine.take(),
                delivery: delivery.take(),
                downstream: downstream,
                upstream: upstream,
                inlets: inlets,
                works: works
            )
            source = nil
            downstream = nil
            upstream = nil
            inlets = []
            works = [:]
            return remains
        }
    }
}

extension SubscriptionMachine {
    /// Lets a closure change the machine in place.
    fileprivate mutating func take<Result>(_ event: (inout Self) -> Result) -> Result { event(&self) }
}

// MARK: - The publishers

/// The subscription receives the values of the only publisher itself.
extension MachineSubscription: Subscriber where Machine: InletMachine {
    package typealias Input = Machine.Input
    package typealias Failure = Machine.Failure

    package func receive(subscription: any Subscription) {
        let asked: Subscribers.Demand? = lock.withLock {
            guard downstream != nil, upstream == nil, !isUpstreamOver else { return nil }
            upstream = subscription
            return self.asked
        }
        guard let asked else { return subscription.cancel() }
        if asked > .none { subscription.request(asked) }
    }

    package func receive(_ input: Machine.Input) -> Subscribers.Demand {
        change { $0.received(input) }
        go()
        return .none
    }

    package func receive(completion: Subscribers.Completion<Machine.Failure>) {
        let upstream: (any Subscription)? = lock.withLock {
            isUpstreamOver = true
            worker.noteEvent()
            machine?.finished(completion)
            return self.upstream.take()
        }
        withExtendedLifetime(upstream) {}
        go()
    }
}

/// The subscriber of one of several publishers. It holds demand and cancellation back until its publisher has sent the
/// subscription.
final class Inlet<Input, Failure: Error>: Subscriber, Subscription {
    // `lock` guards the variables; the closures' owner guards itself.
    private let lock = NIOLock()
    private let receiveValue: (Input) -> Void
    private let receiveEnd: (Subscribers.Completion<Failure>) -> Void
    private var subscription: (any Subscription)?
    private var demand = Subscribers.Demand.none
    private var isOver = false

    init(receiveValue: @escaping (Input) -> Void, receiveEnd: @escaping (Subscribers.Completion<Failure>) -> Void) {
        self.receiveValue = receiveValue
        self.receiveEnd = receiveEnd
    }

    func receive(subscription: any Subscription) {
        let demand: Subscribers.Demand? = lock.withLock {
            guard !isOver, self.subscription == nil else { return nil }
            self.subscription = subscription
            return self.demand
        }
        guard let demand else { return subscription.cancel() }
        if demand > .none { subscription.request(demand) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        receiveValue(input)
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        withExtendedLifetime(end()) {}
        receiveEnd(completion)
    }

    func request(_ demand: Subscribers.Demand) {
        let subscription = lock.withLock {
            if self.subscription == nil { self.demand += demand }
            return self.subscription
        }
        subscription?.request(demand)
    }

    func cancel() { end()?.cancel() }

    private func end() -> (any Subscription)? {
        lock.withLock {
            isOver = true
            return subscription.take()
        }
    }
}
