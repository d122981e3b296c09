extension DataAPI {
    /// A portal to return with each record, and the range of its rows.
    ///
    ///     PortalRequest(name: "Lines", limit: 200)
    ///
    /// Source: Claris Data API guide, "Get a range of records", parameters `portal`, `_offset.…` and `_limit.…`.
    public struct PortalRequest: Hashable, Sendable {
        /// The portal's object name, if it has one in the Inspector, else the name of its table occurrence.
        public var name: String
        /// The most rows to return. Without it the server returns 50.
        public var limit: Int?
        /// The first row to return, counted from 1.
        public var offset: Int?

        /// Names a portal by its object name on the layout, or by its table; without `limit` the server sends 50 rows.
        public init(name: String, limit: Int? = nil, offset: Int? = nil) {
            self.name = name
            self.limit = limit
            self.offset = offset
        }

        /// Names a portal by the coding key of its rows in the record's type of portals:
        /// `PortalRequest(Order.Portals.CodingKeys.lines)`.
        public init(_ portal: some CodingKey, limit: Int? = nil, offset: Int? = nil) {
            self.init(name: portal.stringValue, limit: limit, offset: offset)
        }
    }
}
