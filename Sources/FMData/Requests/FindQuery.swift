extension DataAPI {
    /// What to find, and how to return it.
    ///
    ///     FindQuery(query: [["City": "Calgary", "Age": ">=18"], ["City": "Kiel"]])
    ///
    /// The conditions of one dictionary must all hold; the dictionaries are alternatives. A value is a FileMaker find
    /// criterion, with its operators. A dictionary with `"omit": "true"` takes its matches out of what the dictionaries
    /// before it have found.
    ///
    /// Source: Claris Data API guide, "Perform a find request".
    public struct FindQuery: Hashable, Sendable {
        /// What `findRecords` does when no record matches, which FileMaker reports as error 401.
        public enum NoMatch: Hashable, Sendable {
            /// A response without records; FileMaker's message is in its `messages`.
            case empty
            /// A failure with `fileMakerCode` 401.
            case failure
        }

        /// The find requests, applied in order. Empty when the query was made of a ``Find`` that takes several calls, or
        /// none; setting it replaces the find.
        public var query: [[String: String]] {
            didSet { plan = nil }
        }
        /// Without it records come in the order of their creation.
        public var sort: [SortQuery]?
        /// The scripts to run with the find.
        public var script: ScriptQuery?
        /// The first record of the found set to return, counted from 1.
        public var offset: Int? {
            get { givenOffset.number }
            set { givenOffset = GivenNumber(newValue) }
        }
        /// The most records to return. Without it the server returns 100.
        public var limit: Int? {
            get { givenLimit.number }
            set { givenLimit = GivenNumber(newValue) }
        }
        /// The layout whose fields and portals shape the answer. It must be based on the same table.
        public var layoutResponse: String?
        /// The portals to return: `nil` all of the layout, `[]` none. Of each the server returns 50 rows unless its
        /// ``PortalRequest/limit`` says otherwise; ``Record/truncatedPortals`` tells where there are more.
        public var portal: [PortalRequest]?
        /// The default is an empty response.
        public var noMatch: NoMatch
        /// What a ``Find`` comes to when it is more or less than one call; why it cannot be said is told when the request is
        /// made.
        private(set) var plan: Result<FindPlan, FindError>?

        var givenOffset: GivenNumber
        var givenLimit: GivenNumber

        /// See the properties for the meaning of each part and its default.
        public init(
            query: [[String: String]],
            sort: [SortQuery]? = nil,
            script: ScriptQuery? = nil,
            offset: Int? = nil,
            limit: Int? = nil,
            layoutResponse: String? = nil,
            portal: [PortalRequest]? = nil,
            noMatch: NoMatch = .empty
        ) {
            self.query = query
            self.sort = sort
            self.script = script
            givenOffset = GivenNumber(offset)
            givenLimit = GivenNumber(limit)
            self.layoutResponse = layoutResponse
            self.portal = portal
            self.noMatch = noMatch
        }

        /// Offset and limit as texts. One that is no number makes the call fail with
        /// ``FMRest/APIError/Code/invalidRequest``.
        @_disfavoredOverload
        public init(
            query: [[String: String]],
            sort: [SortQuery]? = nil,
            script: ScriptQuery? = nil,
            offset: String? = nil,
            limit: String? = nil,
            layoutResponse: String? = nil,
            portal: [PortalRequest]? = nil,
            noMatch: NoMatch = .empty
        ) {
            self.init(
                query: query,
                sort: sort,
                script: script,
                layoutResponse: layoutResponse,
                portal: portal,
                noMatch: noMatch
            )
            givenOffset = GivenNumber(text: offset)
            givenLimit = GivenNumber(text: limit)
        }
    }
}

extension DataAPI.FindQuery {
    /// What to find, said in Swift: built on coding keys, escaped, and compiled to the fewest find requests.
    ///
    ///     let people = Find(Person.CodingKeys.self) { field in
    ///         field(.city) == "Calgary" && field(.age) >= 18 && !field(.status).isEmpty
    ///     }
    ///     layout.findRecords(query: FindQuery(people, limit: 25))
    ///
    /// A find that no record can match, such as one of no values, comes to the answer for no match without asking the host.
    /// One that FileMaker has no way to say makes the call fail with ``FMRest/APIError/Code/invalidRequest``, and nothing is
    /// sent: the error's `underlying` is a ``DataAPI/FindError``, its reason names the fields it is about and shows the
    /// smallest example of what cannot be said. ``DataAPI/Find/requests(limit:)`` tells beforehand.
    ///
    /// ## Several calls
    ///
    /// A find that one call cannot say, or that takes more than `maximumRequests`, is asked in up to `maximumCalls` calls,
    /// one after the other, if they are allowed. *All* records that each call finds are fetched and held; those that
    /// belong to the answer are in it once, in the query's order, and offset, limit and counts are those of the whole.
    /// What changes on the host between the calls may be missed. For the order the layout's metadata are asked for as
    /// well, and the fields to sort by must be on the layout that shapes the answer: text is compared without regard to
    /// case and accents, as the user's language is not known here. A query of several calls runs no scripts.
    ///
    /// - Parameters:
    ///   - find: Which records.
    ///   - sort: By what they are sorted; the default is the order of their creation.
    ///   - script: The scripts to run with the find.
    ///   - offset: The first record to return, counted from 1.
    ///   - limit: The most records to return; without it 100.
    ///   - layoutResponse: The layout whose fields and portals shape the answer.
    ///   - portal: The portals to return; `nil` is all of the layout.
    ///   - noMatch: What it is when no record matches; the default is an empty response.
    ///   - maximumRequests: The most requests of one call; the default is ``DataAPI/Find/defaultMaximumRequests``,
    ///     1,000.
    ///   - maximumCalls: The most calls. The default is 1: a find is one call or fails.
    public init(
        _ find: DataAPI.Find,
        sort: [DataAPI.SortQuery]? = nil,
        script: DataAPI.ScriptQuery? = nil,
        offset: Int? = nil,
        limit: Int? = nil,
        layoutResponse: String? = nil,
        portal: [DataAPI.PortalRequest]? = nil,
        noMatch: NoMatch = .empty,
        maximumRequests: Int = DataAPI.Find.defaultMaximumRequests,
        maximumCalls: Int = 1
    ) {
        let plan = Result { () throws(DataAPI.FindError) in
            try find.plan(maximumRequests: maximumRequests, maximumCalls: maximumCalls)
        }
        let onlyCall = (try? plan.get())?.onlyCall
        self.init(
            query: onlyCall?.map(\.request.dictionary) ?? [],
            sort: sort,
            script: script,
            offset: offset,
            limit: limit,
            layoutResponse: layoutResponse,
            portal: portal,
            noMatch: noMatch
        )
        if onlyCall == nil { self.plan = plan }
    }
}

extension DataAPI.FindQuery {
    /// What is sent of it, as members of a body.
    ///
    /// - Parameter dateFormats: how dates are asked for; `nil` for the server's default.
    func wireOptions(dateFormats: String?) throws(FMRest.APIError) -> [WireOption] {
        [WireOption](joining: [
            try .count("offset", givenOffset),
            try .count("limit", givenLimit),
            .sort(sort),
            try .portals(portal),
            .shown("dateformats", dateFormats),
            .shown("layout.response", layoutResponse),
            .scripts(script),
            .criteria(query),
        ])
    }
}
