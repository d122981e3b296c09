import NIOConcurrencyHelpers
import OpenCombine

/// Publishes the results of work on each value, or on each group of values: several pieces of work at a time, with the
/// results in the order of the values.
///
/// Nothing happens before demand, and no more work begins than there is demand for. A failure comes after the results
/// of the values before it. Cancelling cancels the publisher and all work.
struct OrderedMapPublisher<Upstream: Publisher, Output>: Publisher {
    typealias Failure = Upstream.Failure
    typealias Machine = OrderedMapMachine<Upstream.Output, Output, Failure>

    let upstream: Upstream
    let machine: Machine
    /// Calls back when all others have had a turn. Groups of one value need none.
    var turn: (any Yielding) -> Void = { $0.turnPassed() }
    /// Makes the work on a group, which is subscribed to once. Everything it publishes is a result of the group.
    let work: ([Upstream.Output]) -> AnyPublisher<[Output], Failure>

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        subscriber.receive(subscription: OrderedMapSubscription(self, downstream: subscriber))
    }
}

/// Waits until all others have had a turn.
protocol Yielding: AnyObject, Sendable {
    func turnPassed()
}

extension Publisher {
    /// Publishes the results of work on each value, in the order of the values; see ``OrderedMapPublisher``.
    ///
    /// - Parameters:
    ///   - concurrency: the number of values that are worked on at a time.
    ///   - window: the number of values that may be under way in total, including those that wait for one before them.
    ///     The default is `concurrency`.
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

/// The shell around an ``OrderedMapMachine``. If a thread is working already, a call only passes its event to the
/// machine.
private final class OrderedMapSubscription<Upstream: Publisher, Output, Downstream: Subscriber>: Subscription,
    Subscriber, Yielding, @unchecked Sendable
where Downstream.Input == Output, Downstream.Failure == Upstream.Failure {
    typealias Input = Upstream.Output
    typealias Failure = Upstream.Failure
    typealias Source = OrderedMapPublisher<Upstream, Output>

    // @unchecked: `lock` guards every `var`; only the working thread calls the subscriber and the closures of `source`,
    // one call at a time.
    private let lock = NIOLock()
    private var machine: Source.Machine
    /// `nil` after the end, like `downstream`.
    private var source: Source?
    private var downstream: Downstream?
    private var upstream: (any Subscription)?
    /// Demand from before the publisher has sent its subscription.
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
        // The closure keeps this subscription alive, since there may be no other reference to it.
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

    /// The objects released at the end. They are kept until they have been cancelled, and not released under the lock,
    /// since deinitializing what they captured may run any code.
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
