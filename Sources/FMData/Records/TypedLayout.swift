extension DataAPI {
    /// A layout whose records have a type, so that calls need no type annotation.
    ///
    /// ```swift
    /// let people = database.layout(Person.self)
    ///
    /// let londoners = people.find { $0(.city) == "London" }.sorted(by: .name)
    /// for try await person in londoners.all().values {
    ///     print(person.fieldData.name)                            // Ada Lovelace
    /// }
    /// let made = try await people.create(Person(name: "Charles Babbage")).firstValue()
    /// try await people.edit(made.recordId, setting: ["City": "Devon"]).firstValue()
    /// try await people.delete(made.recordId).firstValue()
    /// ```
    ///
    /// It is a small value around ``Layout`` and makes that type's calls; ``layout`` has the calls that need no record
    /// type. Portals are requested if the record's type has some.
    public struct TypedLayout<R: RecordFields>: Sendable {
        /// A record as the server sends it: fields, portal rows, id and modId.
        public typealias Record = DataAPI.Record<R, R.Portals>

        /// The layout without types.
        public let layout: Layout

        init(layout: Layout) {
            self.layout = layout
        }
    }
}

extension DataAPI.Database {
    /// The layout that a record type names.
    ///
    ///     let people = contacts.layout(Person.self)
    public func layout<R: LayoutRecord>(_ record: R.Type) -> DataAPI.TypedLayout<R> {
        addLayout(R.layout).of(record)
    }
}

extension DataAPI.Layout {
    /// This layout with a record type, which may have been declared for another layout that shows the same fields.
    ///
    ///     contacts.addLayout("People (archive)").of(Person.self)
    ///     contacts.addLayout("People").of(FieldData.self)         // fields known at run time
    public func of<R: RecordFields>(_ record: R.Type) -> DataAPI.TypedLayout<R> {
        DataAPI.TypedLayout(layout: self)
    }
}

extension DataAPI.TypedLayout: Hashable {
    /// Two typed layouts are equal if their layouts are equal; their record types are the same anyway.
    public static func == (left: DataAPI.TypedLayout<R>, right: DataAPI.TypedLayout<R>) -> Bool {
        left.layout == right.layout
    }

    /// Hashes the layout.
    public func hash(into hasher: inout Hasher) { hasher.combine(layout) }
}

extension DataAPI.TypedLayout: DataAPI.Calling {
    /// The same layout with other call options.
    public func callOptions(_ change: (inout DataAPI.CallOptions) -> Void) -> DataAPI.TypedLayout<R> {
        DataAPI.TypedLayout(layout: layout.callOptions(change))
    }
}

extension DataAPI.TypedLayout: CustomStringConvertible, CustomReflectable {
    /// A short description that holds no secret and no field value.
    public var description: String { "\(layout).of(\(R.self).self)" }

    /// The reflection for dumps: it holds no secret.
    public var customMirror: Mirror { Mirror(self, children: ["layout": layout, "record": R.self]) }
}
