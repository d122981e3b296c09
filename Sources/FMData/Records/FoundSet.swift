extension DataAPI {
    /// Records of a layout: those that a find finds, or all, in an order.
    ///
    /// ```swift
    /// let inLondon = people.find { $0(.city) == "London" }.sorted(by: .name)
    /// print(try await inLondon.count().firstValue())              // 1
    /// print(try await inLondon.firstRecord().firstValue()?.fieldData.name ?? "")        // Ada Lovelace
    /// ```
    ///
    /// It is a description, not a result: making one sends nothing, and each call asks the server anew. Two of them are equal
    /// when they ask for the same.
    public struct FoundSet<R: RecordFields>: Sendable {
        /// The layout whose records they are.
        public private(set) var layout: TypedLayout<R>
        /// Which of them; `nil` is all.
        public private(set) var find: Find?
        /// How they are asked for: their order, portals, layout and scripts. Which part of them says each call itself.
        public private(set) var options: ReadOptions
        /// The most calls that one question may take; see ``calls(upTo:)``.
        public private(set) var maximumCalls = 1

        init(layout: TypedLayout<R>, find: Find? = nil) {
            self.init(layout: layout, find: find, ReadOptions(portal: R.Portals.self == EmptyPortal.self ? [] : nil))
        }

        private init(layout: TypedLayout<R>, find: Find?, _ options: ReadOptions) {
            self.layout = layout
            self.find = find
            self.options = options
        }

        /// By what they are sorted. None: the order of creation.
        public var sort: [SortQuery] { options.sortOrder ?? [] }
    }
}

extension DataAPI.FoundSet {
    /// The same records, sorted by this field too: within equal values of the fields named before.
    ///
    ///     people.sorted(by: .city).sorted(by: .joined, .descending)
    ///
    /// - Parameters:
    ///   - field: the field to sort by.
    ///   - order: ascending by default; `.valueList("Sizes")` for the order of a value list.
    public func sorted(
        by field: R.CodingKeys,
        _ order: DataAPI.SortQuery.Order = .ascending
    ) -> DataAPI.FoundSet<R> {
        sorted(by: [DataAPI.SortQuery(fieldName: field.stringValue, sortOrder: order)])
    }

    /// The same records, sorted by these fields too.
    public func sorted(by order: [DataAPI.SortQuery]) -> DataAPI.FoundSet<R> {
        guard !order.isEmpty else { return self }
        return changed { $0.options.sortOrder = sort + order }
    }

    /// The same records in the order of their creation.
    var unsorted: DataAPI.FoundSet<R> { changed { $0.options.sortOrder = nil } }

    /// Those of these records that fulfil another condition as well.
    ///
    ///     inLondon.where { $0(.balance) >= 18 }
    public func `where`(_ condition: (DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find) -> DataAPI.FoundSet<R> {
        narrowed(to: DataAPI.Find(R.CodingKeys.self, condition))
    }

    func narrowed(to condition: DataAPI.Find) -> DataAPI.FoundSet<R> {
        changed { found in found.find = found.find.map { $0 && condition } ?? condition }
    }

    /// The same records with these portals, and as many rows of each as is said.
    ///
    ///     orders.find { $0(.open) == 1 }.portals([PortalRequest(name: "Lines", limit: 500)])
    ///
    /// Without it a server sends 50 rows of each portal; ``DataAPI/Record/truncatedPortals`` tells where there are more.
    public func portals(_ portals: [DataAPI.PortalRequest]) -> DataAPI.FoundSet<R> {
        changed { $0.options.portal = portals }
    }

    /// The same records, with whose reading scripts run.
    ///
    ///     orders.find { $0(.open) == 1 }.scripts(ScriptQuery(script: "Mark as seen")).page(limit: 20)
    ///
    /// They run with each request for the records: once with ``page(offset:limit:isolation:)`` and ``firstRecord(isolation:)``, with
    /// each page of ``all(_:pageSize:isolation:)``, with each poll of a live query that reads records. Counting runs none. A request
    /// that runs a script is not sent twice when its outcome is unknown. ``page(offset:limit:isolation:)`` has their results.
    ///
    /// - Parameter scripts: which, in the three phases of a request. They take the place of those that were named before.
    ///
    /// Source: Claris Data API guide, "Run FileMaker scripts".
    public func scripts(_ scripts: DataAPI.ScriptQuery) -> DataAPI.FoundSet<R> {
        changed { $0.options.script = scripts }
    }

    /// The same records, for whose find several calls may be made where one cannot say it: with more than 1,000 requests, or with
    /// conditions that one request cannot hold together.
    ///
    /// ```swift
    /// let names = (1...1_500).map { "Person \($0)" } + ["Ada Lovelace"]
    /// let known = people.find { $0(.name).isOneOf(names) }.calls(upTo: 2)
    /// print(try await known.count().firstValue())                 // 1
    /// ```
    ///
    /// *All* records that each call finds are fetched and held, whatever part of them is asked for; ``all(_:pageSize:isolation:)``
    /// brings them on one page. What changes on the host between the calls may be missed. Such a find runs no scripts. A live query
    /// and a portal's rows are read by finds of one call: they fail with ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// - Parameter maximum: the most calls. A find that takes more fails with ``FMRest/APIError/Code/invalidRequest``, and nothing is
    ///   sent.
    public func calls(upTo maximum: Int) -> DataAPI.FoundSet<R> {
        changed { $0.maximumCalls = max(1, maximum) }
    }

    /// The same records as another layout of the same table shows them: found by the fields of this one, with the fields and
    /// portals of that one.
    ///
    /// Source: Claris Data API guide, parameter `layout.response`.
    public func shown(by layout: some LayoutKey) -> DataAPI.FoundSet<R> { shown(by: layout.layoutName) }

    /// The same records as another layout of the same table shows them.
    public func shown(by layout: String) -> DataAPI.FoundSet<R> { changed { $0.options.layoutResponse = layout } }

    /// The same records as another type of record sees them through its own layout, which shows the same table: found by the fields
    /// of this one, with the fields and portals of that one.
    ///
    ///     people.find { $0(.balance) > 100 }.shown(as: Card.self).all()
    ///
    /// What it is narrowed and sorted by from then on are fields of that type, which this layout has to have as well.
    ///
    /// Source: Claris Data API guide, parameter `layout.response`.
    public func shown<Other: LayoutRecord>(as record: Other.Type) -> DataAPI.FoundSet<Other> {
        of(record).changed { other in
            other.options.layoutResponse = Other.layout
            other.options.script = options.script
        }
    }

    /// The same records, of other fields. No script runs when they are read.
    func of<Other: RecordFields>(_ fields: Other.Type) -> DataAPI.FoundSet<Other> {
        DataAPI.FoundSet<Other>(layout: layout.layout.of(fields), find: find).changed { other in
            other.options.sortOrder = options.sortOrder
            other.options.layoutResponse = options.layoutResponse
            other.maximumCalls = maximumCalls
        }
    }

    /// The same records, asked for in the same way as another type.
    func asked<Other: RecordFields>(of layout: DataAPI.TypedLayout<Other>) -> DataAPI.FoundSet<Other> {
        DataAPI.FoundSet<Other>(layout: layout, find: find).changed { other in
            other.options = options
            other.maximumCalls = maximumCalls
        }
    }

    /// Others of the layout's records, asked for as these, in the order of their creation.
    func others(_ find: DataAPI.Find) -> DataAPI.FoundSet<R> {
        changed { found in
            found.find = find
            found.options.sortOrder = nil
        }
    }

    private func changed(_ change: (inout DataAPI.FoundSet<R>) -> Void) -> DataAPI.FoundSet<R> {
        var found = self
        change(&found)
        return found
    }
}

extension DataAPI.FoundSet: Hashable {}

extension DataAPI.FoundSet: DataAPI.Calling {
    /// The same records, asked for with other options.
    public func callOptions(_ change: (inout DataAPI.CallOptions) -> Void) -> DataAPI.FoundSet<R> {
        changed { $0.layout = layout.callOptions(change) }
    }
}

extension DataAPI.FoundSet: CustomStringConvertible, CustomReflectable {
    /// What it is, in a few words that hold no secret and no field value.
    public var description: String {
        "\(layout).\(find == nil ? "all" : "find")\(sort.isEmpty ? "" : " sorted by \(sort.map(\.fieldName))")"
    }

    /// What a dump may show: no value that is searched for.
    public var customMirror: Mirror {
        Mirror(self, children: ["layout": layout, "sort": sort.map(\.fieldName), "portals": options.portal as Any])
    }
}

// MARK: - Asking

extension DataAPI.FoundSet {
    /// A part of it as one request, or what takes its place.
    enum Request {
        /// Of all records.
        case range(DataAPI.RecordQuery)
        /// Of those that match. A find that one call cannot say fails when it is sent.
        case find(DataAPI.FindQuery)
    }

    /// - Parameters:
    ///   - offset: the first record, counted from 1.
    ///   - limit: the most records.
    func request(offset: Int = 1, limit: Int) -> Request {
        let options = options.part(offset: offset, limit: limit)
        if let find {
            let query = DataAPI.FindQuery(find, options, noMatch: .failure, maximumCalls: maximumCalls)
                .looking(for: layout.server.lineBreaks)
            if case .failure(let refusal)? = query.plan, refusal.code == .matchesEverything {
                // Every record it is.
            } else {
                return .find(query)
            }
        }
        return .range(DataAPI.RecordQuery(options))
    }

    /// Whether what it asks for takes more than one call.
    var takesSeveralCalls: Bool {
        guard maximumCalls > 1, case .find(let query) = request(limit: 1), case .success(let plan)? = query.plan else {
            return false
        }
        return plan.callCount > 1
    }
}
