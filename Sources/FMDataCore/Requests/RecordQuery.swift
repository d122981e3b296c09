extension DataAPI {
    /// The options of ``DataAPI/Layout/getRecords(recordQuery:isolation:)`` and
    /// ``DataAPI/Layout/record(id:query:isolation:)``.
    ///
    ///     RecordQuery(portal: [], offset: 101, limit: 100, sortOrder: [SortQuery(fieldName: "Name")])
    ///
    /// It has the members of ``ReadOptions``.
    ///
    /// Source: Claris Data API guide, "Get a range of records" and "Get a single record".
    @dynamicMemberLookup
    public struct RecordQuery: Hashable, Sendable {
        /// The options of the query.
        public var options: ReadOptions

        /// A part of ``options``.
        public subscript<Value>(dynamicMember member: WritableKeyPath<ReadOptions, Value>) -> Value {
            get { options[keyPath: member] }
            set { options[keyPath: member] = newValue }
        }

        /// Creates a query. See ``ReadOptions`` for the meaning of each part and its default.
        public init(
            script: ScriptQuery? = nil,
            layoutResponse: String? = nil,
            portal: [PortalRequest]? = nil,
            offset: Int? = nil,
            limit: Int? = nil,
            sortOrder: [SortQuery]? = nil
        ) {
            self.init(
                ReadOptions(
                    script: script,
                    layoutResponse: layoutResponse,
                    portal: portal,
                    offset: offset,
                    limit: limit,
                    sortOrder: sortOrder
                )
            )
        }

        /// Creates a query from options.
        public init(_ options: ReadOptions) { self.options = options }
    }
}
