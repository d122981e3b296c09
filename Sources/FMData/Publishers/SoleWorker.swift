/// Makes sure that only one thread at a time works for a subscription. A call that comes meanwhile, from another thread
/// or from inside a value's delivery, only records its event in the subscription's state and returns; the working
/// thread checks that state before it stops.
///
/// It is guarded by the lock that guards that state.
struct SoleWorker {
    private var isAtWork = false

    /// Returns whether the caller becomes the worker. If so, it has to work until there is nothing left to do and then
    /// call ``stop()``, holding the lock under which it found nothing.
    mutating func start() -> Bool {
        defer { isAtWork = true }
        return !isAtWork
    }

    mutating func stop() { isAtWork = false }
}
