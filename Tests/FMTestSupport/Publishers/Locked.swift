internal import NIOConcurrencyHelpers

/// A value that a test and its server, publisher or subscriber share.
public final class Locked<Value: Sendable>: Sendable {
    private let box: NIOLockedValueBox<Value>

    public init(_ value: Value) { box = NIOLockedValueBox(value) }

    public var value: Value { box.withLockedValue { $0 } }
    public func change(_ body: (inout Value) -> Void) { box.withLockedValue { body(&$0) } }
}
