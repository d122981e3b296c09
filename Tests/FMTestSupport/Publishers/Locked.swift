internal import NIOConcurrencyHelpers

/// A value shared by a test and its server, publisher or subscriber.
public final class Locked<Value: Sendable>: Sendable {
    private let box: NIOLockedValueBox<Value>

    public init(_ value: Value) { box = NIOLockedValueBox(value) }

    public var value: Value { box.withLockedValue { $0 } }
    public func change(_ body: (inout Value) -> Void) { box.withLockedValue { body(&$0) } }
}
