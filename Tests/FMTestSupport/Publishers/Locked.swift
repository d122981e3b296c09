internal import NIOConcurrencyHelpers

/// A value shared by a test and its server, publisher or subscriber.
public final class Locked<Value: Sendable>: Sendable {
    private let box: NIOLockedValueBox<Value>

    /// Creates a shared value.
    public init(_ value: Value) { box = NIOLockedValueBox(value) }

    /// The current value.
    public var value: Value { box.withLockedValue { $0 } }
    /// Changes the value while no other thread can read or change it.
    public func change(_ body: (inout Value) -> Void) { box.withLockedValue { body(&$0) } }
}
