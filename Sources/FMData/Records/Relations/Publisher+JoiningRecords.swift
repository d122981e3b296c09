public import OpenCombine

// One find for many keys instead of one for each: a joined list of 1,000 rows takes eleven requests and not 1,001.

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
    /// The values may be records of another layout, database or server, or no records at all. The children of up to 100 values
    /// are looked for by one find. A group is closed sooner when no more values come at the moment and no other find is under
    /// way, so that values which arrive one by one do not wait for each other. Values without key get no children and cost
    /// nothing.
    ///
    /// Publishes as many pairs as there are values, then finishes. Nothing is asked of the values or the server before demand;
    /// demand reaches back, up to two groups ahead. Two finds are under way at most. Cancelling ends them on the wire, and
    /// cancels the publisher of the values. What both fail with is the failure, after the pairs before it.
    ///
    /// Which records equal a key is FileMaker's word, as for ``DataAPI/FindField/==(_:_:)``: of text without regard to case and
    /// accents unless the field is indexed as Unicode, of numbers by value. Keys that differ in nothing else are looked for in
    /// separate finds, so that no record goes to another's key. A field of numbers takes a text for the number in it, so that the
    /// children of the key "5 kg" are there those of 5. Where a host finds a record and it cannot be told by which key, each key of
    /// the group is looked for alone. A record whose type does not show the field that it was found by ends
    /// all with ``FMRest/APIError/Code/decoding``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - children: the records to choose from: those of a found set, in its order, with its portals.
    ///   - key: the key of a value: a key path as a rule. `nil` and an empty text are none.
    ///   - field: the field of the children that has to equal the key.
    ///   - groupSize: how many values are looked for together. The default is 100; more than 1,000 are more find
    ///     requests than a call has. Fewer suit keys with thousands of children each, and children whose own conditions
    ///     have alternatives, as the alternatives are multiplied.
    ///   - isolation: where the values arrive; leave it out.
    public func joining<Key: DataAPI.FindValue & Encodable, Child: RecordFields>(
        _ children: DataAPI.FoundSet<Child>,
        on key: @escaping @Sendable (Output) -> Key?,
        equals field: Child.CodingKeys,
        inGroupsOf groupSize: Int = 100,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Joined<Output, DataAPI.TypedLayout<Child>.Record>, FMRest.APIError> {
        joined(Joining(children: children, parentKey: key, childKey: field), groupSize)
            .handedOver(to: isolation, by: children.layout.layout.database)
    }

    /// Publishes each value with the records of a layout that belong to it; see
    /// ``joining(_:on:equals:inGroupsOf:isolation:)-(DataAPI.FoundSet<Child>,_,_,_,_)``.
    public func joining<Key: DataAPI.FindValue & Encodable, Child: RecordFields>(
        _ children: DataAPI.TypedLayout<Child>,
        on key: @escaping @Sendable (Output) -> Key?,
        equals field: Child.CodingKeys,
        inGroupsOf groupSize: Int = 100,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Joined<Output, DataAPI.TypedLayout<Child>.Record>, FMRest.APIError> {
        joining(children.allRecords, on: key, equals: field, inGroupsOf: groupSize, isolation: isolation)
    }

    /// Publishes each value with the one record that belongs to it, or with `nil` when there is none.
    ///
    ///     orders.all()
    ///         .joiningOne(customers, on: \.fieldData.customerID, equals: .id)
    ///         .map { ($0.parent.fieldData.number, $0.child?.fieldData.name) }
    ///
    /// Of several the first in the order of the found set is taken. In all else it is
    /// ``joining(_:on:equals:inGroupsOf:isolation:)-(DataAPI.FoundSet<Child>,_,_,_,_)``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func joiningOne<Key: DataAPI.FindValue & Encodable, Child: RecordFields>(
        _ children: DataAPI.FoundSet<Child>,
        on key: @escaping @Sendable (Output) -> Key?,
        equals field: Child.CodingKeys,
        inGroupsOf groupSize: Int = 100,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.JoinedOne<Output, DataAPI.TypedLayout<Child>.Record>, FMRest.APIError> {
        joined(Joining(children: children, parentKey: key, childKey: field), groupSize)
            .map { DataAPI.JoinedOne(parent: $0.parent, child: $0.children.first, hasDrifted: $0.hasDrifted) }
            .handedOver(to: isolation, by: children.layout.layout.database)
    }

    /// Publishes each value with the one record of a layout that belongs to it; see
    /// ``joiningOne(_:on:equals:inGroupsOf:isolation:)``.
    public func joiningOne<Key: DataAPI.FindValue & Encodable, Child: RecordFields>(
        _ children: DataAPI.TypedLayout<Child>,
        on key: @escaping @Sendable (Output) -> Key?,
        equals field: Child.CodingKeys,
        inGroupsOf groupSize: Int = 100,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.JoinedOne<Output, DataAPI.TypedLayout<Child>.Record>, FMRest.APIError> {
        joiningOne(children.allRecords, on: key, equals: field, inGroupsOf: groupSize, isolation: isolation)
    }

    private func joined<Key, Child>(
        _ joining: Joining<Output, Key, Child>,
        _ groupSize: Int
    ) -> AnyPublisher<DataAPI.Joined<Output, DataAPI.TypedLayout<Child>.Record>, FMRest.APIError> {
        let database = joining.children.layout.layout.database
        return database.asOneAccount { tenure in
            var joining = joining
            joining.children = joining.children.bound(to: tenure)
            return OrderedMapPublisher(
                upstream: self,
                machine: OrderedMapMachine(
                    groupSize: Swift.min(groupSize, DataAPI.Find.defaultMaximumRequests),
                    concurrency: Swift.min(2, database.concurrentCalls)
                ),
                turn: { database.server.giveTurn(to: $0) },
                work: { joining.pairs(of: $0) }
            )
            .eraseToAnyPublisher()
        }
    }
}
