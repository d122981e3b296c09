public import OpenCombine

// Operators that Combine has and OpenCombine 0.14 lacks, to join publishers of several servers.

extension Publisher {
    /// Publishes the values of this publisher and of another as they arrive.
    ///
    /// ```swift
    /// let north = zones.find { $0(.country) == "PT" }.all()
    /// let south = zones.find { $0(.country) == "NZ" }.all()
    /// print(try await north.merge(with: south).collect().firstValue().count)      // 5
    /// ```
    ///
    /// Finishes when both have finished; fails when one fails, and cancels the other. Both are asked for values only on
    /// demand, and each for at most 16 ahead of a slow subscriber. Values are delivered one after the other: to
    /// subscribers on the main actor there, to others on the thread that brought them or brought one shortly before.
    /// Cancelling cancels both.
    public func merge(
        with other: some Publisher<Output, Failure>
    ) -> AnyPublisher<Output, Failure> {
        [AnyPublisher(self), AnyPublisher(other)].merge()
    }

    /// Publishes the latest values of this publisher and of another whenever one of them publishes a value, once both
    /// have published one.
    ///
    ///     north.status.combineLatest(south.status).map { $0.leased + $1.leased }
    ///
    /// Finishes when both have finished, or one has without a value; fails when one fails, and cancels the other.
    /// Neither is asked for values before demand; after that, both are asked for all. A slow subscriber misses outdated
    /// values, never the latest. Values are delivered one after the other: to subscribers on the main actor there, to
    /// others on the thread that brought them or brought one shortly before. Cancelling cancels both.
    public func combineLatest<Other: Publisher>(
        _ other: Other
    ) -> AnyPublisher<(Output, Other.Output), Failure> where Other.Failure == Failure {
        let sides = [
            AnyPublisher(map { Either<Output, Other.Output>.first($0) }),
            AnyPublisher(other.map { Either<Output, Other.Output>.second($0) }),
        ]
        return CombiningPublisher(upstreams: sides, machine: CombineLatestMachine(inletCount: 2))
            .compactMap { Either.pair($0) }
            .eraseToAnyPublisher()
    }

    /// Publishes the result of a function of the latest values of two publishers; see ``combineLatest(_:)``.
    public func combineLatest<Other: Publisher, Result>(
        _ other: Other,
        _ transform: @escaping (Output, Other.Output) -> Result
    ) -> AnyPublisher<Result, Failure> where Other.Failure == Failure {
        combineLatest(other).map { transform($0.0, $0.1) }.eraseToAnyPublisher()
    }

    /// Publishes the latest values of three publishers; see ``combineLatest(_:)``.
    public func combineLatest<Second: Publisher, Third: Publisher>(
        _ second: Second,
        _ third: Third
    ) -> AnyPublisher<(Output, Second.Output, Third.Output), Failure>
    where Second.Failure == Failure, Third.Failure == Failure {
        combineLatest(second).combineLatest(third).map { ($0.0.0, $0.0.1, $0.1) }.eraseToAnyPublisher()
    }
}

extension Sequence where Element: Publisher {
    /// Publishes the values of all publishers as they arrive; see ``OpenCombine/Publisher/merge(with:)``.
    ///
    ///     servers.map { $0.addDatabase("Sales").addLayout("Orders").records(Order.self) }.merge()
    ///
    /// If the sequence is empty, it finishes at once.
    public func merge() -> AnyPublisher<Element.Output, Element.Failure> {
        let publishers = Array(self)
        return AnyPublisher(
            CombiningPublisher(upstreams: publishers, machine: MergeMachine(inletCount: publishers.count))
        )
    }

    /// Publishes the latest values of all publishers, in the order of the publishers, whenever one of them publishes a
    /// value; see ``OpenCombine/Publisher/combineLatest(_:)``. If the sequence is empty, it finishes at once.
    public func combineLatest() -> AnyPublisher<[Element.Output], Element.Failure> {
        let publishers = Array(self)
        return AnyPublisher(
            CombiningPublisher(upstreams: publishers, machine: CombineLatestMachine(inletCount: publishers.count))
        )
    }
}

/// A value of one of two publishers with different types.
private enum Either<First, Second> {
    case first(First)
    case second(Second)

    static func pair(_ latest: [Either]) -> (First, Second)? {
        guard latest.count == 2, case .first(let first) = latest[0], case .second(let second) = latest[1] else {
            return nil
        }
        return (first, second)
    }
}

/// Combines several publishers of one type, as its machine decides.
struct CombiningPublisher<Upstream: Publisher, Machine: CombiningMachine>: MachinePublisher
where Machine.Input == Upstream.Output, Machine.Failure == Upstream.Failure {
    typealias Output = Machine.Output
    typealias Failure = Machine.Failure

    let upstreams: [Upstream]
    let machine: Machine
    /// Values that arrive on the main actor must not be delivered by the thread that asks for more.
    var actor: ActorTurn? { .ofSubscriber() }

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        let subscription = MachineSubscription(self, downstream: subscriber)
        let inlets = upstreams.indices.map { index in
            Inlet<Upstream.Output, Failure>(
                receiveValue: { value in subscription.tell { $0.received(value, from: index) } },
                receiveEnd: { completion in subscription.tell { $0.finished(completion, from: index) } }
            )
        }
        subscription.open(inlets)
        // Sent before subscribing to the publishers, since any of them may publish at once.
        subscriber.receive(subscription: subscription)
        for (upstream, inlet) in Swift.zip(upstreams, inlets) { upstream.subscribe(inlet) }
        // Without a publisher, no other call would let the machine finish.
        if upstreams.isEmpty { subscription.go() }
    }
}
