import NIOConcurrencyHelpers
import OpenCombine

/// Several publishers of one type as one, as its machine decides, and on the actor that is given.
struct JoinPublisher<Upstream: Publisher, Machine: JoinMachine>: Publisher
where Machine.Input == Upstream.Output, Machine.Failure == Upstream.Failure {
    typealias Output = Machine.Output
    typealias Failure = Machine.Failure

    let upstreams: [Upstream]
    let machine: Machine
    /// Where values are handed over; `nil` is on whatever thread they arrive.
    var actor: ActorTurn?

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        let subscription = JoinSubscription(machine, on: actor, downstream: subscriber)
        let inlets = subscription.inlets(for: upstreams)
        // Before the publishers, any of which may have something to say at once.
        subscriber.receive(subscription: subscription)
        for (upstream, inlet) in Swift.zip(upstreams, inlets) { upstream.subscribe(inlet) }
        // Without a publisher no call will come that lets the machine say that it has finished.
        if upstreams.isEmpty { subscription.go() }
    }
}

/// The shell around a ``JoinMachine``: publishers on one side, a subscriber on the other, either of which may call in while
/// the other is being served. Whoever finds somebody at work only leaves a note in the machine.
final class JoinSubscription<Machine: JoinMachine, Downstream: Subscriber>: Subscription, ActorWorker,
    @unchecked Sendable
where Downstream.Input == Machine.Output, Downstream.Failure == Machine.Failure {
    // @unchecked: `lock` guards every `var`; the subscriber is called by the one who works, so one call at a time.
    private let lock = NIOLock()
    private let actor: ActorTurn?
    private var machine: Machine
    private var downstream: Downstream?
    private var upstreams: [any Subscription] = []
    private var worker = SoleWorker()

    init(_ machine: Machine, on actor: ActorTurn?, downstream: Downstream) {
        self.machine = machine
        self.actor = actor
        self.downstream = downstream
    }

    /// The subscribers of the publishers. They keep what is asked of them until they have been subscribed.
    fileprivate func inlets<Upstream: Publisher>(for upstreams: [Upstream]) -> [Inlet<Upstream>]
    where Upstream.Output == Machine.Input, Upstream.Failure == Machine.Failure {
        let inlets = upstreams.indices.map { Inlet<Upstream>(index: $0, of: self) }
        lock.withLock { self.upstreams = inlets }
        return inlets
    }

    // MARK: From downstream

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        lock.withLock { machine.requested(demand) }
        go()
    }

    func cancel() {
        let (downstream, upstreams) = letGo()
        for upstream in upstreams { upstream.cancel() }
        // The subscriber may be deinitialised here, which may run anything, so not under the lock.
        withExtendedLifetime(downstream) {}
    }

    // MARK: From the publishers

    fileprivate func receive(_ value: Machine.Input, from inlet: Int) {
        lock.withLock { machine.received(value, from: inlet) }
        go()
    }

    fileprivate func receive(completion: Subscribers.Completion<Machine.Failure>, from inlet: Int) {
        lock.withLock { machine.finished(completion, from: inlet) }
        go()
    }

    // MARK: Work

    fileprivate func go() {
        if lock.withLock({ worker.start() }) { goOn(mayDeliver: actor.map(\.isHere) ?? true) }
    }

    private func goOn(mayDeliver: Bool) {
        while true {
            switch lock.withLock({ lockedStep(mayDeliver: mayDeliver) }) {
            case .value(let value):
                guard let downstream = lock.withLock({ self.downstream }) else { return }
                let more = downstream.receive(value)
                if more > .none { lock.withLock { machine.requested(more) } }
            case .end(let completion):
                let (downstream, upstreams) = letGo()
                for upstream in upstreams { upstream.cancel() }
                downstream?.receive(completion: completion)
                return
            case .ask(let inlet, let demand):
                lock.withLock { upstreams.indices.contains(inlet) ? upstreams[inlet] : nil }?.request(demand)
            case .deliverElsewhere:
                // Still at work: what comes until the actor has its turn waits for it.
                actor?.ask(for: self)
                return
            case .rest:
                return
            }
        }
    }

    private func lockedStep(mayDeliver: Bool) -> JoinStep<Machine.Output, Machine.Failure> {
        guard downstream != nil else { return .rest }
        let step = machine.next(mayDeliver: mayDeliver)
        if case .rest = step { worker.stop() }
        return step
    }

    /// The actor's turn.
    func work() { goOn(mayDeliver: true) }

    private func letGo() -> (Downstream?, [any Subscription]) {
        lock.withLock {
            defer {
                downstream = nil
                upstreams = []
            }
            return (downstream, upstreams)
        }
    }
}

/// The subscriber of one of the publishers. It holds demand and cancellation back until its publisher has sent the
/// subscription.
private final class Inlet<Upstream: Publisher>: Subscriber, Subscription, @unchecked Sendable {
    typealias Input = Upstream.Output
    typealias Failure = Upstream.Failure

    // @unchecked: `lock` guards the variables; the subscription to which values go guards itself.
    private let lock = NIOLock()
    private let receiveValue: (Input) -> Void
    private let receiveEnd: (Subscribers.Completion<Failure>) -> Void
    private var subscription: (any Subscription)?
    private var demand = Subscribers.Demand.none
    private var isOver = false

    init<Machine: JoinMachine, Downstream: Subscriber>(
        index: Int,
        of join: JoinSubscription<Machine, Downstream>
    )
    where
        Machine.Input == Input, Machine.Failure == Failure,
        Downstream.Input == Machine.Output, Downstream.Failure == Machine.Failure
    {
        receiveValue = { join.receive($0, from: index) }
        receiveEnd = { join.receive(completion: $0, from: index) }
    }

    func receive(subscription: any Subscription) {
        let (isWanted, demand) = lock.withLock {
            guard !isOver, self.subscription == nil else { return (false, Subscribers.Demand.none) }
            self.subscription = subscription
            return (true, self.demand)
        }
        if !isWanted { return subscription.cancel() }
        if demand > .none { subscription.request(demand) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        receiveValue(input)
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        lock.withLock {
            isOver = true
            subscription = nil
        }
        receiveEnd(completion)
    }

    func request(_ demand: Subscribers.Demand) {
        let subscription = lock.withLock {
            if self.subscription == nil { self.demand += demand }
            return self.subscription
        }
        subscription?.request(demand)
    }

    func cancel() {
        let subscription = lock.withLock {
            defer {
                isOver = true
                self.subscription = nil
            }
            return self.subscription
        }
        subscription?.cancel()
    }
}
