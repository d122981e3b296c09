extension DataAPI {
    /// A layout that knows what its records are: the door to them, without a type annotation at any call.
    ///
    /// ```swift
    /// let people = database.layout(Person.self)
    ///
    /// let londoners = people.find { $0(.city) == "London" }.sorted(by: .name)
    /// for try await person in londoners.all().values {
    ///     print(person.fieldData.name)                            // Ada Lovelace
    /// }
    /// let made = try await people.create(Person(name: "Charles Babbage")).firstValue()
    /// try await people.edit(made.recordId, ["City": "Devon"]).firstValue()
    /// try await people.delete(made.recordId).firstValue()
    /// ```
    ///
    /// It is a small value over ``Layout``, whose calls it makes; ``layout`` has those that need no type. Portals are asked for
    /// when the record's type has some.
    public struct TypedLayout<R: RecordFields>: Sendable {
        /// A record as it comes: fields, rows of portals, id and modId.
        public typealias Record = DataAPI.Record<R, R.Portals>

        /// The layout without types.
        public let layout: Layout

        init(layout: Layout) {
            self.layout = layout
        }

        /// All records, in the order of their creation: the found set that a program begins with, as "Show All Records" makes it.
        ///
        ///     let wanted = city.map { city in people.find { $0(.city) == city } } ?? people.allRecords
        ///
        /// It is a description, not a result: nothing is asked, and each call of it asks the server anew. ``all(_:pageSize:isolation:)``
        /// reads them.
        public var allRecords: FoundSet<R> { FoundSet(layout: self) }
    }
}

extension DataAPI.Database {
    /// The layout that a type of records names.
    ///
    ///     let people = contacts.layout(Person.self)
    public func layout<R: LayoutRecord>(_ record: R.Type) -> DataAPI.TypedLayout<R> {
        addLayout(R.layout).of(record)
    }
}

extension DataAPI.Layout {
    /// This layout with a type for its records, which may be made for another one that shows the same fields.
    ///
    ///     contacts.addLayout("People (archive)").of(Person.self)
    ///     contacts.addLayout("People").of(FieldData.self)         // fields known at run time
    public func of<R: RecordFields>(_ record: R.Type) -> DataAPI.TypedLayout<R> {
        DataAPI.TypedLayout(layout: self)
    }
}

extension DataAPI.TypedLayout: Hashable {
    /// Two are the same when their layouts are; their records are of one type anyway.
    public static func == (left: DataAPI.TypedLayout<R>, right: DataAPI.TypedLayout<R>) -> Bool {
        left.layout == right.layout
    }

    /// By layout.
    public func hash(into hasher: inout Hasher) { hasher.combine(layout) }
}

extension DataAPI.TypedLayout: DataAPI.Calling {
    /// The same layout, whose calls have other options.
    public func callOptions(_ change: (inout DataAPI.CallOptions) -> Void) -> DataAPI.TypedLayout<R> {
        DataAPI.TypedLayout(layout: layout.callOptions(change))
    }
}

extension DataAPI.TypedLayout: CustomStringConvertible, CustomReflectable {
    /// What it is, in a few words that hold no secret and no field value.
    public var description: String { "\(layout).of(\(R.self).self)" }

    /// What a dump may show: no secret.
    public var customMirror: Mirror { Mirror(self, children: ["layout": layout, "record": R.self]) }
}
