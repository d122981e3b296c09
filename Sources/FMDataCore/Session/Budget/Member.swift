extension DataAPI {
    /// One of those who share sessions by a ``SessionBudget``. Two members are equal when they are the same one.
    public final class Member: Hashable, Sendable {
        /// A member that no other is equal to.
        public init() {}

        /// Whether they are the same member.
        public static func == (a: Member, b: Member) -> Bool { a === b }

        /// By identity.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}
