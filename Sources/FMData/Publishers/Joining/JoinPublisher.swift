import OpenCombine

/// Joins several publishers of one type, as its machine decides.
struct JoinPublisher<Upstream: Publisher, Machine: JoinMachine>: MachinePublisher
where Machine.Input == Upstream.Output, Machine.Failure == Upstream.Failure {
    typealias Output = Machine.Output
    typealias Failure = Machine.Failure

    let upstreams: [Upstream]
    let machine: Machine

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
