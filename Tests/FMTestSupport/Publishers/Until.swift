internal import NIOCore
internal import NIOPosix

/// Returns when the condition holds. For conditions that no event signals; if it never holds, the time limit ends the
/// test.
public func until(_ condition: () -> Bool) async {
    var turns = 0
    // A test that exceeds its time limit is cancelled; without this check the loop would keep its thread busy for ever.
    while !condition(), !Task.isCancelled {
        await turn()
        turns += 1
        // What takes so long waits for the machine, as another process does, and gets more of it if this waits as well.
        if turns > 50 {
            try? await MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .milliseconds(1)) {}.futureResult
                .get()
        }
    }
}

/// Returns when the value has stayed the same while every event loop went round many times. For checks that something
/// does *not* continue: a check made too early could only pass.
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

/// Returns when every event loop that clients and servers of a test share has gone round once. Whatever changes between
/// two checks happens on those loops. No time is guaranteed.
private func turn() async {
    for eventLoop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
        // Submitting fails only on a loop that was shut down, and the shared ones never are.
        try? await eventLoop.submit {}.get()
    }
}
