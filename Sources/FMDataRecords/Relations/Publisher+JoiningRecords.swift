public import FMDataCore
public import OpenCombine

// One find for many keys instead of one find per key: joining 1,000 rows takes eleven requests instead of 1,001.

extension Publisher where Failure == FMRest.APIError {
    /// Publishes each value with the records that belong to it, in the order of the values.
    ///
    /// ```swift
    /// let rows = countries.find { $0(.code) == "NZ" }.all()
    ///     .joining(zones, on: \.fieldData.code, equals: .country)
    ///     .map { "\($0.parent.fieldData.name): \($0.children.count) zones" }
    /// print(try await rows.firstValue())                          // New Zealand: 2 zones
    /// ```
    ///
    /// The values may be records of another layout, database or server, or no records at all. One find looks for the
    /// children of up to 100 values. A group is closed sooner when no more values arrive at the moment and no other
    /// find is under way, so that values which arrive one by one do not wait for each other. Values without a key get
    /// no children and cost nothing.
    ///
    /// Publishes as many pairs as there are values. The values' publisher receives demand for up to two groups ahead;
    /// at most two finds are under way. Cancelling cancels the values' publisher too. If that publisher or a find
    /// fails, this one fails with the same error, after the pairs before it.
    ///
    /// FileMaker decides which records equal a key, as for ``DataAPI/FindField/==(_:_:)``: it compares text without
    /// regard to case and accents, unless the field is indexed as Unicode, and numbers by value. Keys that differ in
    /// nothing else are put into separate finds, so that no record is assigned to another key. A number field takes a
    /// text for the number in it, so the children of the key "5 kg" are those of 5. If the host finds a record that
    /// cannot be assigned to a key, each key of the group is looked for alone. A record whose type does not have the
    /// field by which it was found makes the publisher fail with ``FMRest/APIError/Code/decoding``.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - children: the records to choose from: those of a layout or a found set, in its order, with its portals.
    ///   - key: the key of a value, usually given as a key path. `nil` and an empty text mean no key.
    ///   - field: the field of the children that must equal the key.
    ///   - groupSize: how many values share one find. The default is 100, the most is 1,000, the limit of requests in
    ///     one find. Use fewer for keys with thousands of children each, and for children whose own conditions have
    ///     alternatives, as the number of requests is multiplied by these.
    ///   - isolation: where the values arrive; leave it out.
    public func joining<Key: DataAPI.FindValue & Encodable, Child: RecordFields>(
        _ children: some DataAPI.RecordSource<Child>,
        on key: @escaping @Sendable (Output) -> Key?,
        equals field: Child.CodingKeys,
        inGroupsOf groupSize: Int = 100,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Joined<Output, DataAPI.TypedLayout<Child>.Record>, FMRest.APIError> {
        joined(ChildFinder(children: children.allRecords, parentKey: key, childKey: field), groupSize)
            .delivered(on: isolation, by: children.database)
    }

    /// Publishes each value with the one record that belongs to it, or with `nil` when there is none.
    ///
    ///     orders.all()
    ///         .joiningOne(customers, on: \.fieldData.customerID, equals: .id)
    ///         .map { ($0.parent.fieldData.number, $0.child?.fieldData.name) }
    ///
    /// If there are several, the first in the order of the found set is taken. Otherwise it works like
    /// ``joining(_:on:equals:inGroupsOf:isolation:)``.
    ///
    /// - Note: Many values, as they are asked for. See <doc:Calls>.
    public func joiningOne<Key: DataAPI.FindValue & Encodable, Child: RecordFields>(
        _ children: some DataAPI.RecordSource<Child>,
        on key: @escaping @Sendable (Output) -> Key?,
        equals field: Child.CodingKeys,
        inGroupsOf groupSize: Int = 100,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.JoinedOne<Output, DataAPI.TypedLayout<Child>.Record>, FMRest.APIError> {
        joined(ChildFinder(children: children.allRecords, parentKey: key, childKey: field), groupSize)
            .map { DataAPI.JoinedOne(parent: $0.parent, child: $0.children.first, hasDrifted: $0.hasDrifted) }
            .delivered(on: isolation, by: children.database)
    }

    private func joined<Key, Child>(
        _ joining: ChildFinder<Output, Key, Child>,
        _ groupSize: Int
    ) -> AnyPublisher<DataAPI.Joined<Output, DataAPI.TypedLayout<Child>.Record>, FMRest.APIError> {
        let database = joining.children.layout.layout.database
        return database.asOneAccount { accountPeriod in
            var joining = joining
            joining.children = joining.children.bound(to: accountPeriod)
            return OrderedMapPublisher(
                upstream: self,
                machine: OrderedMapMachine(
                    groupSize: Swift.min(groupSize, DataAPI.Find.defaultMaximumRequests),
                    concurrency: Swift.min(2, database.concurrentCalls)
                ),
                turn: { database.server.yield(to: $0) },
                work: { joining.pairs(of: $0) }
            )
            .eraseToAnyPublisher()
        }
    }
}

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
