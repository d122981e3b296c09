import NIOConcurrencyHelpers
import OpenCombine

/// See ``SessionPool/logOut()`` and ``SessionPool/shutdown()``.
struct SessionEndingPublisher: Publisher {
    typealias Output = Void
    typealias Failure = FMRest.APIError

    let pool: SessionPool
    let kind: SessionPool.EndingKind

    func receive<Downstream: Subscriber<Void, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(pool: pool, kind: kind, downstream: subscriber))
    }
}

extension SessionEndingPublisher {
    private final class Inner<Downstream: Subscriber<Void, FMRest.APIError>>: Subscription, EndingWaiter,
        @unchecked Sendable
    {
        // `lock` guards every `var` below, which makes this class Sendable.
        private let lock = NIOLock()
        private let pool: SessionPool
        private let kind: SessionPool.EndingKind
        private var hasBegun = false
        private var downstream: Downstream?

        init(pool: SessionPool, kind: SessionPool.EndingKind, downstream: Downstream) {
            self.pool = pool
            self.kind = kind
            self.downstream = downstream
        }

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            let begins = lock.withLock {
                defer { hasBegun = true }
                return !hasBegun && downstream != nil
            }
            if begins { pool.end(kind, self) }
        }

        func cancel() {
            let downstream = lock.withLock { lockedTerminate() }
            withExtendedLifetime(downstream) {}
        }

        func finish(_ error: FMRest.APIError?) {
            let downstream = lock.withLock { lockedTerminate() }
            if let error {
                downstream?.receive(completion: .failure(error))
            } else {
                _ = downstream?.receive(())
                downstream?.receive(completion: .finished)
            }
        }

        private func lockedTerminate() -> Downstream? {
            defer { downstream = nil }
            return downstream
        }
    }
}
