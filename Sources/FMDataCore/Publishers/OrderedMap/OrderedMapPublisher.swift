package import OpenCombine

/// Publishes the results of work on each value, or on each group of values: several pieces of work at a time, with the
/// results in the order of the values.
///
/// Nothing happens before demand, and no more work begins than there is demand for. A failure comes after the results
/// of the values before it. Cancelling cancels the publisher and all work.
package struct OrderedMapPublisher<Upstream: Publisher, Output>: MachinePublisher {
    package typealias Failure = Upstream.Failure
    package typealias Machine = OrderedMapMachine<Upstream.Output, Output, Failure>

    let upstream: Upstream
    package let machine: Machine
    /// Calls back when all others have had a turn. Groups of one value need none.
    var turn: (any TurnReceiver) -> Void = { $0.turnPassed() }
    /// Makes the work on a group, which is subscribed to once. Everything it publishes is a result of the group.
    let work: ([Upstream.Output]) -> AnyPublisher<[Output], Failure>

    package init(
        upstream: Upstream,
        machine: Machine,
        turn: @escaping (any TurnReceiver) -> Void = { $0.turnPassed() },
        work: @escaping ([Upstream.Output]) -> AnyPublisher<[Output], Failure>
    ) {
        self.upstream = upstream
        self.machine = machine
        self.turn = turn
        self.work = work
    }

    package func begin(_ subscription: MachineSubscription<Self>) { upstream.subscribe(subscription) }

    package func carryOut(_ action: OrderedMapWork<Upstream.Output>, in subscription: MachineSubscription<Self>) {
        switch action {
        case .begin(let group, let inputs):
            // The closure keeps the subscription alive, since there may be no other reference to it.
            let subscriber = ResultSubscriber<[Output], Failure>(demand: .unlimited) { results, failure in
                subscription.ended(group)
                subscription.tell {
                    $0.worked(on: group, results.count == 1 ? results[0] : results.flatMap(\.self), failure)
                }
            }
            if subscription.begin(subscriber, as: group) { work(inputs).subscribe(subscriber) }
        case .awaitTurn:
            turn(subscription)
        }
    }
}

/// Waits until all others have had a turn.
package protocol TurnReceiver: AnyObject, Sendable {
    func turnPassed()
}

/// A machine that may order to wait until all others have had a turn.
package protocol YieldingMachine: SubscriptionMachine {
    mutating func turnPassed()
}

extension MachineSubscription: TurnReceiver where Machine: YieldingMachine {
    package func turnPassed() { tell { $0.turnPassed() } }
}

extension Publisher {
    /// Publishes the results of work on each value, in the order of the values; see ``OrderedMapPublisher``.
    ///
    /// - Parameters:
    ///   - concurrency: the number of values that are worked on at a time.
    ///   - window: the number of values that may be under way in total, including those that wait for one before them.
    ///     The default is `concurrency`.
    package func orderedMap<Result>(
        concurrency: Int,
        window: Int? = nil,
        _ work: @escaping (Output) -> AnyPublisher<[Result], Failure>
    ) -> OrderedMapPublisher<Self, Result> {
        OrderedMapPublisher(upstream: self, machine: OrderedMapMachine(concurrency: concurrency, window: window)) {
            work($0[0])
        }
    }
}
