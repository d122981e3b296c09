extension DataAPI {
    /// A value with the records that belong to it; see
    /// ``OpenCombine/Publisher/joining(_:on:equals:inGroupsOf:isolation:)``.
    public struct Joined<Parent, Child> {
        /// The value.
        public var parent: Parent
        /// The records whose field equals the value's key, in the order of the found set they were taken from.
        public var children: [Child]
        /// Whether records were added or removed while the children were read in several answers. A child may then be
        /// missing, which cannot be detected: read again if that matters. It is the same for all values of a group, and
        /// always `false` when one answer had all their children, at most 5,000.
        public var hasDrifted: Bool

        /// Creates a value, for tests and doubles; see the properties for its parts.
        public init(parent: Parent, children: [Child], hasDrifted: Bool = false) {
            self.parent = parent
            self.children = children
            self.hasDrifted = hasDrifted
        }
    }

    /// A value with the one record that belongs to it, if there is one; see
    /// ``OpenCombine/Publisher/joiningOne(_:on:equals:inGroupsOf:isolation:)``.
    public struct JoinedOne<Parent, Child> {
        /// The value.
        public var parent: Parent
        /// The record whose field equals the value's key; if there are several, the first in the order of the found set
        /// they were taken from. `nil` when there is none.
        public var child: Child?
        /// See ``Joined/hasDrifted``.
        public var hasDrifted: Bool

        /// Creates a value, for tests and doubles; see the properties for its parts.
        public init(parent: Parent, child: Child?, hasDrifted: Bool = false) {
            self.parent = parent
            self.child = child
            self.hasDrifted = hasDrifted
        }
    }
}

extension DataAPI.Joined: Sendable where Parent: Sendable, Child: Sendable {}
extension DataAPI.Joined: Equatable where Parent: Equatable, Child: Equatable {}
extension DataAPI.JoinedOne: Sendable where Parent: Sendable, Child: Sendable {}
extension DataAPI.JoinedOne: Equatable where Parent: Equatable, Child: Equatable {}
