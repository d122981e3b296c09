package import OpenCombine

/// The values of a publisher as a machine passes them on, delivered on the given actor.
package struct ThroughMachine<Upstream: Publisher, Machine: InletMachine>: MachinePublisher
where Machine.Input == Upstream.Output, Machine.Failure == Upstream.Failure, Machine.Work == Never {
    package typealias Output = Machine.Output
    package typealias Failure = Machine.Failure

    let upstream: Upstream
    package let machine: Machine
    package var actor: ActorTurn?

    package init(upstream: Upstream, machine: Machine, actor: ActorTurn? = nil) {
        self.upstream = upstream
        self.machine = machine
        self.actor = actor
    }

    package func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        let subscription = MachineSubscription(self, downstream: subscriber)
        // Sent before subscribing to the publisher, which may publish at once.
        subscriber.receive(subscription: subscription)
        upstream.subscribe(subscription)
    }
}

/// Hands the values of one publisher over to an actor, in their order and with its completion at the end.
///
/// The publisher is asked for no more values than the subscriber wants, and for at most `window` values ahead of it. So
/// the number of values that wait for a slow subscriber is bounded, and demand reaches back.
struct HandoverMachine<Output, Failure: Error>: InletMachine {
    typealias Input = Output
    typealias Action = SubscriptionAction<Output, Failure, Never>

    private let window: Int
    private var demand = Subscribers.Demand.none
    /// The number of values requested and not yet delivered.
    private var outstanding = 0
    private var waiting: [Output] = []
    private var completion: Subscribers.Completion<Failure>?
    private var isOver = false

    init(window: Int = 16) {
        self.window = window
    }

    mutating func requested(_ demand: Subscribers.Demand) { self.demand += demand }

    mutating func received(_ value: Output) { waiting.append(value) }

    mutating func finished(_ completion: Subscribers.Completion<Failure>) {
        self.completion = self.completion ?? completion
    }

    mutating func next() -> Action? {
        if isOver { return nil }
        let wanted = min(window, demand.max ?? window)
        if completion == nil, outstanding < wanted {
            defer { outstanding = wanted }
            return .ask(wanted - outstanding)
        }
        if !waiting.isEmpty {
            guard demand > .none else { return nil }
            demand -= 1
            outstanding -= 1
            return .value(waiting.removeFirst())
        }
        guard let completion else { return nil }
        isOver = true
        return .end(completion)
    }
}
