extension DataAPI {
    /// A part of a response that is told beside it, such as its ``MessageCarrying/messages``: two responses are equal whatever
    /// they hold here, so that one of a test's own making equals one that a server sent.
    @propertyWrapper
    public struct Aside<Value: Sendable>: Hashable, Sendable {
        /// What is told.
        public var wrappedValue: Value

        /// Wraps it.
        public init(wrappedValue: Value) {
            self.wrappedValue = wrappedValue
        }

        /// Always equal.
        public static func == (lhs: Aside, rhs: Aside) -> Bool { true }

        /// The same for all.
        public func hash(into hasher: inout Hasher) {}
    }
}

extension DataAPI.Aside: CustomStringConvertible, CustomReflectable {
    /// That of what is told.
    public var description: String { "\(wrappedValue)" }

    /// That of what is told.
    public var customMirror: Mirror { Mirror(reflecting: wrappedValue) }
}
