/// Returns when the condition holds. For what cannot be waited for by event; a test that waits in vain is ended by its
/// time limit. The pause between two looks keeps the threads free and says nothing about time.
public func until(_ condition: () -> Bool) async {
    // A test that has run out of time is cancelled: looking on would keep it, and its thread, busy for ever.
    while !condition(), !Task.isCancelled { await pause() }
}

/// Returns when the value has stayed the same for a while. For checks that something does *not* go on: a check made too
/// early could only pass.
public func settled<Value: Equatable>(_ value: () -> Value) async {
    var last = value()
    var looks = 0
    while looks < 20, !Task.isCancelled {
        await pause()
        let next = value()
        looks = next == last ? looks + 1 : 0
        last = next
    }
}

private func pause() async { try? await Task.sleep(for: .milliseconds(1)) }
