import NIOConcurrencyHelpers
import OpenCombine

/// A publisher that is made when its subscriber first asks for a value: `Deferred`, for one that does something as soon as it
/// is subscribed to. Cancelled before, it makes none.
struct OnDemandPublisher<Output, Failure: Error>: Publisher {
    let make: () -> AnyPublisher<Output, Failure>

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(make: make, downstream: subscriber))
    }

    private final class Inner<Downstream: Subscriber<Output, Failure>>: Subscription, Subscriber, @unchecked Sendable {
        typealias Input = Output

        private enum State {
            /// → made, terminal.
            case ready(make: () -> AnyPublisher<Output, Failure>)
            /// → terminal. The subscription may have yet to come; what was asked for until then is kept.
            case made((any Subscription)?, asked: Subscribers.Demand)
            case terminal
        }

        // `lock` guards every `var`, which makes this class Sendable: the publisher is made by whoever asks first.
        private let lock = NIOLock()
        private var state: State
        private var downstream: Downstream?

        init(make: @escaping () -> AnyPublisher<Output, Failure>, downstream: Downstream) {
            state = .ready(make: make)
            self.downstream = downstream
        }

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            let (make, upstream): ((() -> AnyPublisher<Output, Failure>)?, (any Subscription)?) = lock.withLock {
                switch state {
                case .ready(let make):
                    state = .made(nil, asked: demand)
                    return (make, nil)
                case .made(let upstream?, _):
                    return (nil, upstream)
                case .made(nil, let asked):
                    state = .made(nil, asked: asked + demand)
                    return (nil, nil)
                case .terminal:
                    return (nil, nil)
                }
            }
            make?().subscribe(self)
            upstream?.request(demand)
        }

        func cancel() {
            let (last, downstream) = terminate()
            if case .made(let upstream, _) = last { upstream?.cancel() }
            // Destroyed here, outside of the lock.
            withExtendedLifetime((last, downstream)) {}
        }

        func receive(subscription: any Subscription) {
            let asked: Subscribers.Demand? = lock.withLock {
                guard case .made(nil, let asked) = state else { return nil }
                state = .made(subscription, asked: .none)
                return asked
            }
            if let asked { subscription.request(asked) } else { subscription.cancel() }
        }

        func receive(_ input: Output) -> Subscribers.Demand {
            lock.withLock { downstream }?.receive(input) ?? .none
        }

        func receive(completion: Subscribers.Completion<Failure>) {
            terminate().downstream?.receive(completion: completion)
        }

        private func terminate() -> (last: State, downstream: Downstream?) {
            lock.withLock {
                defer {
                    state = .terminal
                    downstream = nil
                }
                return (state, downstream)
            }
        }
    }
}
