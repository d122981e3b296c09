public import FMDataCore
public import OpenCombine

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

extension DataAPI.TypedLayout {
    /// The records that match a find, as a ``DataAPI/FoundSet``; nothing is requested yet.
    ///
    ///     people.find { $0(.city) == "Calgary" && $0(.age) >= 18 }.sorted(by: .name).all()
    ///
    /// See ``DataAPI/Find`` for the conditions. If the record type is ``FieldData``, fields are named by strings:
    /// `find { $0("City") == "Calgary" }`.
    public func find(_ condition: (DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find) -> DataAPI.FoundSet<R> {
        find(DataAPI.Find(R.CodingKeys.self, condition))
    }

    /// The records that match a find.
    public func find(_ find: DataAPI.Find) -> DataAPI.FoundSet<R> {
        DataAPI.FoundSet(layout: self, find: find)
    }

    /// One record by its record id.
    ///
    ///     people.record(id: 17)
    ///
    /// Fails with FileMaker code 101 if there is no such record.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - recordId: the record.
    ///   - portals: the portals to return. With `nil`, the default, all portals of the layout come if the record's type
    ///     has some, with 50 rows of each.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a single record".
    public func record(
        id recordId: some DataAPI.RecordIdentifier,
        portals: [DataAPI.PortalRequest]? = nil,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Record, FMRest.APIError> {
        recordResponse(id: recordId, DataAPI.ReadOptions(portal: portals), isolation: .insideACall)
            .tryMap { response in
                guard let record = response.data.first else { throw FMRest.APIError.noRecordInAnswer }
                return record
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .delivered(on: isolation, by: database)
    }

    /// One record by its record id, with the rest of the answer: script results and messages.
    ///
    ///     orders.recordResponse(id: 17, ReadOptions(script: ScriptQuery(script: "Mark as seen")))
    ///
    /// The value's `data` has one element; see ``Layout/record(id:query:isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    /// - Parameters:
    ///   - recordId: the record.
    ///   - options: the portals, by default those of the layout if the record's type has some; the response layout; the
    ///     scripts. A single record has no offset, limit or sort order.
    ///   - isolation: where the values arrive; leave it out.
    ///
    /// Source: Claris Data API guide, "Get a single record".
    public func recordResponse(
        id recordId: some DataAPI.RecordIdentifier,
        _ options: DataAPI.ReadOptions,
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.RecordResponse<R, R.Portals>, FMRest.APIError> {
        var options = options
        options.portal = options.portal ?? allRecords.options.portal
        return layout.record(id: recordId, query: DataAPI.RecordQuery(options), isolation: isolation)
    }

    package var server: DataAPI.Server { layout.database.server }
}

extension FMRest.APIError {
    fileprivate static var noRecordInAnswer: FMRest.APIError {
        FMRest.APIError(.decoding, reason: "The server was asked for one record and answered with none.")
    }
}
