/// One at a time does what there is to do in a subscription. Whoever comes meanwhile, from another thread or from inside of a value
/// that is being delivered, leaves word of it in the subscription's state and goes; the one at work looks there before it stops.
///
/// It is guarded by the lock that guards that state.
struct SoleWorker {
    private var isAtWork = false

    /// Whether the caller is that one now. If so it goes on until there is nothing to do, and then says ``stop()``, under the lock
    /// under which it has seen that.
    mutating func start() -> Bool {
        defer { isAtWork = true }
        return !isAtWork
    }

    mutating func stop() { isAtWork = false }
}
