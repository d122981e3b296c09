extension DataAPI {
    /// The options of a request for records: the range of records to return, their order, the portals, the layout that
    /// shapes the answer, the scripts that run with it.
    ///
    /// A ``RecordQuery`` and a ``FindQuery`` have these members as their own, and a ``FoundSet`` uses them from its
    /// first page to its live queries.
    ///
    /// Source: Claris Data API guide, "Get a range of records" and "Perform a find request".
    public struct ReadOptions: Hashable, Sendable {
        /// The scripts to run with the request.
        public var script: ScriptQuery?
        /// The layout whose fields and portals shape the answer. It must be based on the same table.
        public var layoutResponse: String?
        /// The portals to return: `nil` all of the layout, `[]` none. The server returns 50 rows of each portal unless
        /// its ``PortalRequest/limit`` says otherwise; ``Record/truncatedPortals`` names those that have more.
        public var portal: [PortalRequest]?
        /// The first record to return, counted from 1. Not for a single record.
        public var offset: Int? {
            get { givenOffset.number }
            set { givenOffset = LenientInt(newValue) }
        }
        /// The most records to return. Without it the server returns 100. Not for a single record.
        public var limit: Int? {
            get { givenLimit.number }
            set { givenLimit = LenientInt(newValue) }
        }
        /// The sort order. By default records come in the order of their creation. Not for a single record.
        public var sortOrder: [SortQuery]?

        var givenOffset: LenientInt
        var givenLimit: LenientInt

        /// Creates options. See the properties for the meaning of each part and its default.
        public init(
            script: ScriptQuery? = nil,
            layoutResponse: String? = nil,
            portal: [PortalRequest]? = nil,
            offset: Int? = nil,
            limit: Int? = nil,
            sortOrder: [SortQuery]? = nil
        ) {
            self.script = script
            self.layoutResponse = layoutResponse
            self.portal = portal
            givenOffset = LenientInt(offset)
            givenLimit = LenientInt(limit)
            self.sortOrder = sortOrder
        }
    }
}

extension DataAPI.ReadOptions {
    /// The options for a range of the records.
    ///
    /// - Parameters:
    ///   - offset: the first record, counted from 1. An offset of 1 is not sent, as it is the server's default: the URL
    ///     stays short, and the first page equals a request without an offset.
    ///   - limit: the most records.
    package func part(offset: Int, limit: Int) -> Self {
        var options = self
        options.offset = offset == 1 ? nil : offset
        options.limit = limit
        return options
    }

    /// The options for one record, which has no offset, limit or sort order.
    package var ofOneRecord: Self {
        Self(script: script, layoutResponse: layoutResponse, portal: portal)
    }

    /// Whether a script runs with the request. A script may write.
    package var runsScripts: Bool { script?.runsScripts == true }

    /// The request's options: parameters of a URL, or members of a body.
    ///
    /// - Parameter dateFormats: the parameter `dateformats` of the request; `nil` for the server's default.
    func wireOptions(dateFormats: String?) throws(FMRest.APIError) -> [WireOption] {
        [WireOption](joining: [
            try .count("offset", givenOffset),
            try .count("limit", givenLimit),
            .sort(sortOrder),
            try .portals(portal),
            .shown("dateformats", dateFormats),
            .shown("layout.response", layoutResponse),
            .scripts(script),
        ])
    }
}
