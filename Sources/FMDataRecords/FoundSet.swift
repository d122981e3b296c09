public import FMDataCore

extension DataAPI {
    /// The records of a layout that match a find, or all of them, in an order.
    ///
    /// ```swift
    /// let inLondon = people.find { $0(.city) == "London" }.sorted(by: .name)
    /// print(try await inLondon.count().firstValue())              // 1
    /// print(try await inLondon.firstRecord().firstValue()?.fieldData.name ?? "")        // Ada Lovelace
    /// ```
    ///
    /// A found set describes records and holds none: creating one sends nothing, and each call asks the server again.
    /// Two found sets are equal when they ask for the same.
    public struct FoundSet<R: RecordFields>: Sendable {
        /// The layout of the records.
        public private(set) var layout: TypedLayout<R>
        /// The find that the records match; `nil` for all records.
        public private(set) var find: Find?
        /// The options of its requests: sort order, portals, response layout and scripts. Each call documents which of
        /// them it uses.
        public private(set) var options: ReadOptions

        package init(layout: TypedLayout<R>, find: Find? = nil) {
            self.init(layout: layout, find: find, ReadOptions(portal: R.Portals.self == EmptyPortal.self ? [] : nil))
        }

        init(layout: TypedLayout<R>, find: Find?, _ options: ReadOptions) {
            self.layout = layout
            self.find = find
            self.options = options
        }

        /// The sort order. Empty for the order of creation.
        public var sort: [SortQuery] { options.sortOrder ?? [] }
    }
}

extension DataAPI.RecordSource {
    /// The same records, sorted by this field too: it orders records with equal values in the fields named before.
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
        allRecords.sortedAlso(by: order)
    }
}

extension DataAPI.FoundSet {
    fileprivate func sortedAlso(by order: [DataAPI.SortQuery]) -> DataAPI.FoundSet<R> {
        guard !order.isEmpty else { return self }
        return changed { $0.options.sortOrder = sort + order }
    }

    /// The same records in the order of their creation.
    package var unsorted: DataAPI.FoundSet<R> { changed { $0.options.sortOrder = nil } }

    /// The records of this found set that also match another condition.
    ///
    ///     inLondon.filter { $0(.balance) >= 18 }
    public func filter(_ condition: (DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find) -> DataAPI.FoundSet<R> {
        narrowed(to: DataAPI.Find(R.CodingKeys.self, condition))
    }

    /// The records that also match a condition, if there is one.
    func narrowed(to condition: ((DataAPI.FindFields<R.CodingKeys>) -> DataAPI.Find)?) -> DataAPI.FoundSet<R> {
        condition.map { filter($0) } ?? self
    }

    package func narrowed(to condition: DataAPI.Find) -> DataAPI.FoundSet<R> {
        changed { found in found.find = found.find.map { $0 && condition } ?? condition }
    }

    /// The same records with these portals, and with as many rows of each as its request says.
    ///
    ///     orders.find { $0(.open) == 1 }.portals([PortalRequest(name: "Lines", limit: 500)])
    ///
    /// Without it the server sends 50 rows of each portal; ``DataAPI/Record/truncatedPortals`` names the portals that
    /// have more.
    public func portals(_ portals: [DataAPI.PortalRequest]) -> DataAPI.FoundSet<R> {
        changed { $0.options.portal = portals }
    }

    /// The same records; reading them also runs scripts.
    ///
    ///     orders.find { $0(.open) == 1 }.scripts(ScriptQuery(script: "Mark as seen")).page(limit: 20)
    ///
    /// The scripts run with each request for the records: once with
    /// ``DataAPI/RecordSource/page(offset:limit:isolation:)`` and ``DataAPI/RecordSource/firstRecord(isolation:_:)``,
    /// with each page of ``DataAPI/RecordSource/all(_:pageSize:isolation:)``, and with each poll of a live query that
    /// reads records. Counting runs none. A request that runs a script is not sent again when its outcome is unknown.
    /// ``DataAPI/RecordSource/page(offset:limit:isolation:)`` publishes the script results.
    ///
    /// - Parameter scripts: the scripts of the three phases of a request. They replace scripts that were set before.
    ///
    /// Source: Claris Data API guide, "Run FileMaker scripts".
    public func scripts(_ scripts: DataAPI.ScriptQuery) -> DataAPI.FoundSet<R> {
        changed { $0.options.script = scripts }
    }

    /// The same records as another layout of the same table shows them: the find uses fields of this layout, the answer
    /// has the fields and portals of that layout.
    ///
    /// Source: Claris Data API guide, parameter `layout.response`.
    public func responseLayout(_ layout: some LayoutKey) -> DataAPI.FoundSet<R> {
        changed { $0.options.layoutResponse = layout.layoutName }
    }

    /// The same records as another record type shows them through its own layout of the same table: the find uses
    /// fields of this layout, the answer has the fields and portals of that type.
    ///
    ///     people.find { $0(.balance) > 100 }.responseLayout(of: Card.self).all()
    ///
    /// Conditions and sort fields that are added later are fields of that type; this layout must have them too.
    ///
    /// Source: Claris Data API guide, parameter `layout.response`.
    public func responseLayout<Other: LayoutRecord>(of record: Other.Type) -> DataAPI.FoundSet<Other> {
        of(record).changed { other in
            other.options.layoutResponse = Other.layout
            other.options.script = options.script
        }
    }

    /// The same records with other fields. Reading them runs no scripts.
    package func of<Other: RecordFields>(_ fields: Other.Type) -> DataAPI.FoundSet<Other> {
        DataAPI.FoundSet<Other>(layout: layout.layout.of(fields), find: find).changed { other in
            other.options.sortOrder = options.sortOrder
            other.options.layoutResponse = options.layoutResponse
        }
    }

    /// The same records and options with another record type.
    func asked<Other: RecordFields>(of layout: DataAPI.TypedLayout<Other>) -> DataAPI.FoundSet<Other> {
        DataAPI.FoundSet<Other>(layout: layout, find: find).changed { other in
            other.options = options
        }
    }

    /// Other records of the layout, read with the same options, in the order of their creation.
    package func others(_ find: DataAPI.Find) -> DataAPI.FoundSet<R> {
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
    /// The same records, read with other call options.
    public func callOptions(_ change: (inout DataAPI.CallOptions) -> Void) -> DataAPI.FoundSet<R> {
        changed { $0.layout = layout.callOptions(change) }
    }
}

extension DataAPI.FoundSet: CustomStringConvertible, CustomReflectable {
    /// A short description that holds no secret and no field value.
    public var description: String {
        "\(layout).\(find == nil ? "all" : "find")\(sort.isEmpty ? "" : " sorted by \(sort.map(\.fieldName))")"
    }

    /// The reflection for dumps: it shows no value of the find.
    public var customMirror: Mirror {
        Mirror(self, children: ["layout": layout, "sort": sort.map(\.fieldName), "portals": options.portal as Any])
    }
}

// MARK: - Requests

extension DataAPI.FoundSet {
    /// The request for a part of the found set.
    package enum Request {
        /// A range of all records.
        case range(DataAPI.RecordQuery)
        /// The records that match a find. A find that FileMaker cannot express fails when it is sent.
        case find(DataAPI.FindQuery)
    }

    /// - Parameters:
    ///   - offset: the first record, counted from 1.
    ///   - limit: the most records.
    package func request(offset: Int = 1, limit: Int) -> Request {
        let options = options.part(offset: offset, limit: limit)
        if let find {
            let query = DataAPI.FindQuery(find, options, noMatch: .failure)
                .looking(for: layout.server.lineBreaks)
            if query.refusal?.code == .matchesEverything {
                // The find matches every record, so read a range instead.
            } else {
                return .find(query)
            }
        }
        return .range(DataAPI.RecordQuery(options))
    }
}
