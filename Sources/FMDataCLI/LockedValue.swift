import FMData

/// A value that is used on several threads. Copies share it.
struct LockedValue<Value: Sendable>: Sendable {
    private let stored: Guarded<Value>

    init(_ value: Value) { stored = Guarded(value) }

    var value: Value {
        get { stored.withLock { $0 } }
        nonmutating set { stored.withLock { $0 = newValue } }
    }

    func change<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result { try stored.withLock(body) }
}
