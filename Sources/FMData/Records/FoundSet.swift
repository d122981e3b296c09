extension DataAPI {
    /// Records of a layout: those that a find finds, or all, in an order.
    ///
    /// ```swift
    /// let inLondon = people.find { $0(.city) == "London" }.sorted(by: .name)
    /// print(try await inLondon.count().firstValue())              // 1
    /// print(try await inLondon.first().firstValue()?.fieldData.name ?? "")        // Ada Lovelace
    /// ```
    ///
    /// It is a description, not a result: making one sends nothing, and each call asks the server anew. Two of them are equal
    /// when they ask for the same.
    public struct FoundSet<R: RecordFields>: Sendable {
        /// The layout whose records they are.
        public let layout: TypedLayout<R>
        /// Which of them; `nil` is all.
        public private(set) var find: Find?
        /// By what they are sorted. None: the order of creation.
        public private(set) var sort: [SortQuery] = []
        /// The portals to return. `nil` is all of the layout, 50 rows of each.
        public private(set) var portals: [PortalRequest]?
        /// The layout whose fields and portals shape the answer, when it is another one of the same table.
        public private(set) var responseLayout: String?

        init(layout: TypedLayout<R>, find: Find? = nil) {
            self.layout = layout
            self.find = find
            portals = R.Portals.self == EmptyPortal.self ? [] : nil
        }
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
        changed { $0.sort += order }
    }

    /// The same records in the order of their creation.
    var unsorted: DataAPI.FoundSet<R> { changed { $0.sort = [] } }

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
        changed { $0.portals = portals }
    }

    /// The same records as another layout of the same table shows them: found by the fields of this one, with the fields and
    /// portals of that one.
    ///
    /// Source: Claris Data API guide, parameter `layout.response`.
    public func shown(by layout: some LayoutKey) -> DataAPI.FoundSet<R> { shown(by: layout.layoutName) }

    /// The same records as another layout of the same table shows them.
    public func shown(by layout: String) -> DataAPI.FoundSet<R> { changed { $0.responseLayout = layout } }

    /// The same records, of other fields.
    func of<Other: RecordFields>(_ fields: Other.Type) -> DataAPI.FoundSet<Other> {
        var other = DataAPI.FoundSet<Other>(layout: layout.layout.of(fields), find: find)
        other.sort = sort
        other.responseLayout = responseLayout
        return other
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
        var found = DataAPI.FoundSet(layout: layout.callOptions(change), find: find)
        found.sort = sort
        found.portals = portals
        found.responseLayout = responseLayout
        return found
    }
}

extension DataAPI.FoundSet: CustomStringConvertible, CustomReflectable {
    /// What it is, in a few words that hold no secret and no field value.
    public var description: String {
        "\(layout).\(find == nil ? "all" : "find")\(sort.isEmpty ? "" : " sorted by \(sort.map(\.fieldName))")"
    }

    /// What a dump may show: no value that is searched for.
    public var customMirror: Mirror {
        Mirror(self, children: ["layout": layout, "sort": sort.map(\.fieldName), "portals": portals as Any])
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
        // What the server does by itself is not said: a URL stays short, and the first page of anything looks the same.
        let offset = offset == 1 ? nil : offset
        let sort = sort.isEmpty ? nil : sort
        if let find {
            let query = DataAPI.FindQuery(
                find,
                sort: sort,
                offset: offset,
                limit: limit,
                layoutResponse: responseLayout,
                portal: portals,
                noMatch: .failure
            )
            if case .failure(let refusal)? = query.plan, refusal.code == .matchesEverything {
                // Every record it is.
            } else {
                return .find(query)
            }
        }
        return .range(
            DataAPI.RecordQuery(
                layoutResponse: responseLayout,
                portal: portals,
                offset: offset,
                limit: limit,
                sortOrder: sort
            )
        )
    }
}
