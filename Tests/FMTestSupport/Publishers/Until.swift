internal import NIOCore
internal import NIOPosix

/// Returns when the condition holds. For what cannot be waited for by event; a test that waits in vain is ended by its
/// time limit.
public func until(_ condition: () -> Bool) async {
    // A test that has run out of time is cancelled: looking on would keep it, and its thread, busy for ever.
    while !condition(), !Task.isCancelled { await turn() }
}

/// Returns when the value has stayed the same while every event loop went round many times. For checks that something does
/// *not* go on: a check made too early could only pass.
public func settled<Value: Equatable>(_ value: () -> Value) async {
    var last = value()
    var turns = 0
    while turns < 200, !Task.isCancelled {
        await turn()
        let next = value()
        turns = next == last ? turns + 1 : 0
        last = next
    }
}

/// Returns when every event loop that clients and servers of a test share has gone round once. What a test looks at between
/// two looks happens there; nothing is said about time.
private func turn() async {
    for eventLoop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
        // Only a loop that was shut down fails, and the shared ones never are.
        try? await eventLoop.submit {}.get()
    }
}
