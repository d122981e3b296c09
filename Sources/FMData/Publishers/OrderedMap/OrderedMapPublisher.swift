import NIOConcurrencyHelpers
import OpenCombine

/// What a piece of work makes of each value, or of each group of values: several pieces at a time, published in the order of
/// the values.
///
/// Nothing happens before demand, and no more is begun than was asked for. A failure comes after what is published of the values
/// before it. Cancelling cancels the publisher and all work.
struct OrderedMapPublisher<Upstream: Publisher, Output>: Publisher {
    typealias Failure = Upstream.Failure
    typealias Machine = OrderedMapMachine<Upstream.Output, Output, Failure>

    let upstream: Upstream
    let machine: Machine
    /// Calls back when all others have had a turn. Groups of one need none.
    var turn: (any TurnTaker) -> Void = { $0.turnPassed() }
    /// The work on a group, subscribed to once. All that it publishes is what comes of the group.
    let work: ([Upstream.Output]) -> AnyPublisher<[Output], Failure>

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        subscriber.receive(subscription: OrderedMapSubscription(self, downstream: subscriber))
    }
}

/// Who waits until all others have had a turn.
protocol TurnTaker: AnyObject, Sendable {
    func turnPassed()
}

extension Publisher {
    /// What a piece of work makes of each value, in the order of the values; see ``OrderedMapPublisher``.
    ///
    /// - Parameters:
    ///   - concurrency: how many values are worked on at a time.
    ///   - window: how many values may be under way in all, with those that wait for one before them; by default as many as are
    ///     worked on.
    func orderedMap<Result>(
        concurrency: Int,
        window: Int? = nil,
        _ work: @escaping (Output) -> AnyPublisher<[Result], Failure>
    ) -> OrderedMapPublisher<Self, Result> {
        OrderedMapPublisher(upstream: self, machine: OrderedMapMachine(concurrency: concurrency, window: window)) {
            work($0[0])
        }
    }
}

/// The shell around an ``OrderedMapMachine``. Whoever finds somebody at work only leaves a note in the machine.
private final class OrderedMapSubscription<Upstream: Publisher, Output, Downstream: Subscriber>: Subscription,
    Subscriber, TurnTaker, @unchecked Sendable
where Downstream.Input == Output, Downstream.Failure == Upstream.Failure {
    typealias Input = Upstream.Output
    typealias Failure = Upstream.Failure
    typealias Source = OrderedMapPublisher<Upstream, Output>

    // @unchecked: `lock` guards every `var`; the subscriber and what `source` holds are called by the one who works, so one call
    // at a time.
    private let lock = NIOLock()
    private var machine: Source.Machine
    /// `nil` when all is over, and so is the next.
    private var source: Source?
    private var downstream: Downstream?
    private var upstream: (any Subscription)?
    /// Asked for before the publisher has sent its subscription.
    private var asked = Subscribers.Demand.none
    private var groups: [Int: GroupSubscriber<Output, Failure>] = [:]
    private var hasBegun = false
    private var worker = SoleWorker()

    init(_ source: Source, downstream: Downstream) {
        machine = source.machine
        self.source = source
        self.downstream = downstream
    }

    // MARK: From downstream

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        let first: Source? = lock.withLock {
            machine.requested(demand)
            defer { hasBegun = true }
            return hasBegun ? nil : source
        }
        first?.upstream.subscribe(self)
        go()
    }

    func cancel() { letGo().cancel() }

    // MARK: From the publisher

    func receive(subscription: any Subscription) {
        let (isWanted, asked) = lock.withLock {
            guard downstream != nil, upstream == nil else { return (false, Subscribers.Demand.none) }
            upstream = subscription
            return (true, self.asked)
        }
        if !isWanted { return subscription.cancel() }
        if asked > .none { subscription.request(asked) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        tell { $0.received(input) }
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        lock.withLock { upstream = nil }
        tell { $0.finished(completion) }
    }

    // MARK: Work

    func turnPassed() { tell { $0.turnPassed() } }

    private func tell(_ event: (inout Source.Machine) -> Void) {
        lock.withLock { event(&machine) }
        go()
    }

    private func go() {
        guard lock.withLock({ worker.start() }) else { return }
        while let (step, source, downstream) = lock.withLock({ lockedStep() }) {
            switch step {
            case .ask(let count): ask(count)
            case .work(let group, let inputs): work(on: group, inputs, source)
            case .awaitTurn: source.turn(self)
            case .value(let value):
                let more = downstream.receive(value)
                if more > .none { lock.withLock { machine.requested(more) } }
            case .end(let completion):
                letGo().cancel()
                downstream.receive(completion: completion)
            case .rest:
                return
            }
        }
    }

    /// `nil` when there is nothing to do.
    private func lockedStep() -> (Source.Machine.Step, Source, Downstream)? {
        if let source, let downstream {
            let step = machine.next()
            guard case .rest = step else { return (step, source, downstream) }
        }
        worker.stop()
        return nil
    }

    private func ask(_ count: Int) {
        let upstream: (any Subscription)? = lock.withLock {
            if self.upstream == nil { asked += count }
            return self.upstream
        }
        upstream?.request(.max(count))
    }

    private func work(on group: Int, _ inputs: [Input], _ source: Source) {
        // It holds this subscription: there may be nobody else who does.
        let subscriber = GroupSubscriber<Output, Failure> { values, failure in
            self.lock.withLock { self.groups[group] = nil }
            self.tell { $0.worked(on: group, values, failure) }
        }
        let isWanted = lock.withLock {
            guard downstream != nil else { return false }
            groups[group] = subscriber
            return true
        }
        if isWanted { source.work(inputs).subscribe(subscriber) }
    }

    // MARK: The end

    /// What is left when all is over. It is held until it has been cancelled: what it captures may run anything when it goes, so
    /// not under the lock.
    private struct Remains {
        var source: Source?
        var downstream: Downstream?
        var subscriptions: [any Cancellable]

        func cancel() {
            for subscription in subscriptions { subscription.cancel() }
        }
    }

    private func letGo() -> Remains {
        lock.withLock {
            defer {
                source = nil
                downstream = nil
                upstream = nil
                groups = [:]
            }
            var subscriptions: [any Cancellable] = Array(groups.values)
            if let upstream { subscriptions.append(upstream) }
            return Remains(source: source, downstream: downstream, subscriptions: subscriptions)
        }
    }
}

/// Keeps what the work on a group publishes until it has ended.
private final class GroupSubscriber<Value, Failure: Error>: Subscriber, Cancellable, @unchecked Sendable {
    typealias Input = [Value]

    // @unchecked: `lock` guards every `var`; the closure is called once.
    private let lock = NIOLock()
    private var values: [Value] = []
    private var subscription: (any Subscription)?
    private var whenDone: (([Value], Failure?) -> Void)?

    init(whenDone: @escaping ([Value], Failure?) -> Void) {
        self.whenDone = whenDone
    }

    func receive(subscription: any Subscription) {
        let isWanted = lock.withLock {
            guard whenDone != nil, self.subscription == nil else { return false }
            self.subscription = subscription
            return true
        }
        if isWanted { subscription.request(.unlimited) } else { subscription.cancel() }
    }

    func receive(_ values: [Value]) -> Subscribers.Demand {
        lock.withLock { self.values += values }
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        let (values, whenDone) = end()
        switch completion {
        case .finished: whenDone?(values, nil)
        case .failure(let failure): whenDone?(values, failure)
        }
    }

    func cancel() {
        let subscription = lock.withLock { self.subscription }
        _ = end()
        subscription?.cancel()
    }

    private func end() -> ([Value], (([Value], Failure?) -> Void)?) {
        lock.withLock {
            defer {
                values = []
                whenDone = nil
                subscription = nil
            }
            return (values, whenDone)
        }
    }
}
