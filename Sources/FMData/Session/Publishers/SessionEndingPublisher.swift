import OpenCombine

/// See ``SessionPool/logOut()`` and ``SessionPool/shutdown()``.
struct SessionEndingPublisher: Publisher {
    typealias Output = SessionEnd
    typealias Failure = Never

    let pool: SessionPool
    let kind: SessionPool.EndingKind

    func receive<Downstream: Subscriber<SessionEnd, Never>>(subscriber: Downstream) {
        subscriber.receive(subscription: SessionEndingSubscription(self, downstream: subscriber))
    }
}

/// A subscription that waits for a logout or shutdown. The pool calls it once, outside of its lock.
final class SessionEndingSubscription: ColdSubscription<SessionEndingPublisher>, @unchecked Sendable {
    // @unchecked: as the superclass, to which it adds nothing.

    override func begin(_ source: SessionEndingPublisher) { source.pool.end(source.kind, self) }
}
