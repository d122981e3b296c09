import NIOConcurrencyHelpers

/// What higher layers keep with an object of a lower one, which knows nothing of them: one value of each type, made
/// when it is first asked for.
package final class Attachments: Sendable {
    private struct Entry: Sendable {
        let type: ObjectIdentifier
        let value: any Sendable
    }

    /// In the order in which they were made; there are a few at most.
    private let entries = NIOLockedValueBox<[Entry]>([])

    /// The value of this type.
    ///
    /// - Parameter make: makes the value if there is none. Two threads may make one at the same time; then one of them
    ///   is released unused, so making a value must have no other effect.
    package func value<Value: Sendable>(_ make: () -> Value) -> Value {
        let type = ObjectIdentifier(Value.self)
        func present(_ entries: inout [Entry]) -> Value? { entries.first { $0.type == type }?.value as? Value }
        if let value = entries.withLockedValue(present) { return value }
        let new = make()
        return entries.withLockedValue { entries in
            if let value = present(&entries) { return value }
            entries.append(Entry(type: type, value: new))
            return new
        }
    }

    /// The values of a kind, in the order in which they were made.
    func all<Kind>(_ kind: Kind.Type) -> [Kind] {
        entries.withLockedValue { $0 }.compactMap { $0.value as? Kind }
    }
}
