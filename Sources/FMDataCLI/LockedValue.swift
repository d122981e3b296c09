import Foundation

/// A value that is used on several threads.
final class LockedValue<Value: Sendable>: @unchecked Sendable {
    // @unchecked: the value is used under the lock only.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }

    func change<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&stored) }
    }
}
