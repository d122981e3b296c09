import NIOConcurrencyHelpers
import OpenCombine

/// Joins several publishers of one type, as its machine decides, and delivers on the given actor.
struct JoinPublisher<Upstream: Publisher, Machine: JoinMachine>: Publisher
where Machine.Input == Upstream.Output, Machine.Failure == Upstream.Failure {
    typealias Output = Machine.Output
    typealias Failure = Machine.Failure

    let upstreams: [Upstream]
    let machine: Machine
    /// The actor to deliver on; `nil` delivers on the thread on which a value arrives.
    var actor: ActorTurn?

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        let subscription = JoinSubscription(machine, on: actor, downstream: subscriber)
        let inlets = subscription.inlets(for: upstreams)
        // Sent before subscribing to the publishers, since any of them may publish at once.
        subscriber.receive(subscription: subscription)
        for (upstream, inlet) in Swift.zip(upstreams, inlets) { upstream.subscribe(inlet) }
        // Without a publisher, no other call would let the machine finish.
        if upstreams.isEmpty { subscription.go() }
    }
}

/// The shell around a ``JoinMachine``, between several publishers and a subscriber. Either side may call while the
/// other is being served; if a thread is working already, such a call only passes its event to the machine.
final class JoinSubscription<Machine: JoinMachine, Downstream: Subscriber>: Subscription, ActorWorker,
    @unchecked Sendable
where Downstream.Input == Machine.Output, Downstream.Failure == Machine.Failure {
    // @unchecked: `lock` guards every `var`; only the working thread calls the subscriber, so one call at a time.
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

    /// The subscribers of the publishers. They keep demand until they have received their subscription.
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
                // The worker is not stopped: events that come before the actor's turn are handled in that turn.
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

    /// Called on the actor.
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

    // @unchecked: `lock` guards the variables; the subscription that receives the values guards itself.
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
