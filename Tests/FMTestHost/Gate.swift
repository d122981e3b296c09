internal import NIOConcurrencyHelpers

/// A gate that is closed until a test opens it. It holds a server or a thread at a chosen point, without sleeping.
public final class Gate: Sendable {
    private enum State {
        case closed([@Sendable () -> Void])
        case open
    }

    private let state = NIOLockedValueBox(State.closed([]))
    private let isOpen = Watched(false)

    /// Creates a closed gate.
    public init() {}

    /// Lets everything pass, now and later.
    public func open() {
        let waiting: [@Sendable () -> Void] = state.withLockedValue { state in
            defer { state = .open }
            guard case .closed(let waiting) = state else { return [] }
            return waiting
        }
        isOpen.change { $0 = true }
        for body in waiting { body() }
    }

    /// Calls the body when the gate is open, at once or on the thread that opens it.
    public func whenOpen(_ body: @escaping @Sendable () -> Void) {
        let isOpen = state.withLockedValue { state in
            guard case .closed(let waiting) = state else { return true }
            state = .closed(waiting + [body])
            return false
        }
        if isOpen { body() }
    }

    /// Returns when the gate is open.
    public func wait() async { await isOpen.wait { $0 } }

    /// Blocks the thread: to simulate a subscriber that blocks, never to wait in a test.
    public func blockThread() {
        let lock = ConditionLock(value: false)
        whenOpen {
            lock.lock()
            lock.unlock(withValue: true)
        }
        lock.lock(whenValue: true)
        lock.unlock()
    }
}
