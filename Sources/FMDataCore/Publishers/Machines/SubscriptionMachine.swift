package import OpenCombine

/// Decides what a subscription does next: events in, one action after the other out; no subscribers, locks or threads.
/// The shell around it is ``MachineSubscription``.
///
/// It returns no value without demand, and nothing after ``SubscriptionAction/end(_:)``.
package protocol SubscriptionMachine {
    associatedtype Output
    associatedtype Failure: Error
    /// What is done besides asking and delivering.
    associatedtype Work = Never

    /// The subscriber wants more values.
    mutating func requested(_ demand: Subscribers.Demand)
    /// The subscriber has received a value, and wants more in return.
    mutating func delivered(_ more: Subscribers.Demand)
    /// Returns the next action; `nil` when there is nothing to do until the next event.
    mutating func next() -> SubscriptionAction<Output, Failure, Work>?
}

extension SubscriptionMachine {
    package mutating func delivered(_ more: Subscribers.Demand) { requested(more) }
}

/// One action of a ``SubscriptionMachine``.
package enum SubscriptionAction<Output, Failure: Error, Work> {
    case value(Output)
    /// The last action. What is still under way has to be cancelled.
    case end(Subscribers.Completion<Failure>)
    /// Ask one of the publishers for values; a machine with one publisher calls it 0.
    case ask(inlet: Int, Subscribers.Demand)
    case work(Work)
}

extension SubscriptionAction: Equatable where Output: Equatable, Failure: Equatable, Work: Equatable {}

extension SubscriptionAction {
    /// Ask the only publisher for values.
    package static func ask(_ count: Int) -> Self { .ask(inlet: 0, .max(count)) }
}

/// A machine that receives the values of one publisher.
package protocol InletMachine<Input>: SubscriptionMachine {
    associatedtype Input

    mutating func received(_ value: Input)
    mutating func finished(_ completion: Subscribers.Completion<Failure>)
}

/// A publisher whose subscriptions are run by one machine each.
package protocol MachinePublisher<Machine>: Publisher where Machine.Output == Output, Machine.Failure == Failure {
    associatedtype Machine: SubscriptionMachine

    /// The machine of a new subscription.
    var machine: Machine { get }
    /// The actor to deliver on; `nil` delivers on the thread on which a value arrives.
    var actor: ActorTurn? { get }

    /// Called with the first demand: at most once, and not after a cancel.
    func begin(_ subscription: MachineSubscription<Self>)
    /// Carries out an action of the machine, outside of the lock.
    func carryOut(_ work: Machine.Work, in subscription: MachineSubscription<Self>)
}

extension MachinePublisher {
    package var actor: ActorTurn? { nil }

    package func begin(_ subscription: MachineSubscription<Self>) {}

    package func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        subscriber.receive(subscription: MachineSubscription(self, downstream: subscriber))
    }
}

extension MachinePublisher where Machine.Work == Never {
    package func carryOut(_ work: Never, in subscription: MachineSubscription<Self>) {}
}
