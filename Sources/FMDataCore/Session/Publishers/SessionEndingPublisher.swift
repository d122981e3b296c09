import OpenCombine

/// See ``SessionPool/logOut()`` and ``SessionPool/shutdown()``.
struct SessionEndingPublisher: ColdPublisher {
    typealias Output = SessionEnd
    typealias Failure = Never

    let pool: SessionPool
    let kind: SessionPool.EndingKind

    func begin(_ subscription: SessionEndingSubscription) { pool.end(kind, subscription) }
}

/// A subscription that waits for a logout or shutdown. The pool calls it once, outside of its lock.
typealias SessionEndingSubscription = ColdSubscription<SessionEndingPublisher>
