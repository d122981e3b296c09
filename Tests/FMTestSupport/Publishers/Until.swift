/// Returns when the condition holds. For what cannot be waited for by event; a test that waits in vain is ended by its
/// time limit.
public func until(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}
