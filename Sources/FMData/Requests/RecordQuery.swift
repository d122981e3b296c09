extension DataAPI {
    /// Options of ``DataAPI/Layout/getRecords(recordQuery:isolation:)`` and
    /// ``DataAPI/Layout/getRecordById(recordId:recordQuery:isolation:)``.
    ///
    ///     RecordQuery(portal: [], offset: 101, limit: 100, sortOrder: [SortQuery(fieldName: "Name")])
    ///
    /// Source: Claris Data API guide, "Get a range of records" and "Get a single record".
    public struct RecordQuery: Hashable, Sendable {
        /// The scripts to run with the request.
        public var script: ScriptQuery?
        /// The layout whose fields and portals shape the answer. It must be based on the same table.
        public var layoutResponse: String?
        /// The portals to return: `nil` all of the layout, `[]` none. Of each the server returns 50 rows unless its
        /// ``PortalRequest/limit`` says otherwise; ``Record/truncatedPortals`` tells where there are more.
        public var portal: [PortalRequest]?
        /// The first record to return, counted from 1. Not for a single record.
        public var offset: Int? {
            get { givenOffset.number }
            set { givenOffset = GivenNumber(newValue) }
        }
        /// The most records to return. Without it the server returns 100. Not for a single record.
        public var limit: Int? {
            get { givenLimit.number }
            set { givenLimit = GivenNumber(newValue) }
        }
        /// Without it records come in the order of their creation. Not for a single record.
        public var sortOrder: [SortQuery]?

        var givenOffset: GivenNumber
        var givenLimit: GivenNumber

        /// See the properties for the meaning of each part and its default.
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
            givenOffset = GivenNumber(offset)
            givenLimit = GivenNumber(limit)
            self.sortOrder = sortOrder
        }

        /// Offset and limit as texts. One that is no number makes the call fail with
        /// ``FMRest/APIError/Code/invalidRequest``.
        @_disfavoredOverload
        public init(
            script: ScriptQuery? = nil,
            layoutResponse: String? = nil,
            portal: [PortalRequest]? = nil,
            offset: String? = nil,
            limit: String? = nil,
            sortOrder: [SortQuery]? = nil
        ) {
            self.init(script: script, layoutResponse: layoutResponse, portal: portal, sortOrder: sortOrder)
            givenOffset = GivenNumber(text: offset)
            givenLimit = GivenNumber(text: limit)
        }
    }
}

extension DataAPI.RecordQuery {
    /// What is sent of it, as parameters of a URL.
    ///
    /// - Parameter dateFormats: how dates are asked for; `nil` for the server's default.
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
