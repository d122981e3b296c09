import NIOConcurrencyHelpers
import OpenCombine

/// See ``SessionPool/logOut()`` and ``SessionPool/shutdown()``.
struct SessionEndingPublisher: Publisher {
    typealias Output = SessionEnd
    typealias Failure = Never

    let pool: SessionPool
    let kind: SessionPool.EndingKind

    func receive<Downstream: Subscriber<SessionEnd, Never>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(pool: pool, kind: kind, downstream: subscriber))
    }
}

extension SessionEndingPublisher {
    private final class Inner<Downstream: Subscriber<SessionEnd, Never>>: Subscription, EndingWaiter,
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

        func finish(_ end: SessionEnd) {
            let downstream = lock.withLock { lockedTerminate() }
            _ = downstream?.receive(end)
            downstream?.receive(completion: .finished)
        }

        private func lockedTerminate() -> Downstream? {
            defer { downstream = nil }
            return downstream
        }
    }
}
