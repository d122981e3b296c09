extension DataAPI {
    /// A part of a response that does not count in comparisons, such as its ``MessageCarrying/messages``. Two responses
    /// are equal regardless of it, so that a response made by a test equals one that a server sent.
    @propertyWrapper
    public struct Aside<Value: Sendable>: Hashable, Sendable {
        /// The wrapped value.
        public var wrappedValue: Value

        /// Wraps a value.
        public init(wrappedValue: Value) {
            self.wrappedValue = wrappedValue
        }

        /// Always `true`.
        public static func == (lhs: Aside, rhs: Aside) -> Bool { true }

        /// Adds nothing, so all values have the same hash.
        public func hash(into hasher: inout Hasher) {}
    }
}

extension DataAPI.Aside: CustomStringConvertible, CustomReflectable {
    /// The description of the wrapped value.
    public var description: String { "\(wrappedValue)" }

    /// The mirror of the wrapped value.
    public var customMirror: Mirror { Mirror(reflecting: wrappedValue) }
}
