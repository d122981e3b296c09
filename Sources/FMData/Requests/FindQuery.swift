extension DataAPI {
    /// A find: the requests that select the records, and how to return them.
    ///
    ///     FindQuery(query: [["City": "Calgary", "Age": ">=18"], ["City": "Kiel"]])
    ///
    /// The conditions of one dictionary must all hold; the dictionaries are alternatives. A value is a FileMaker find
    /// criterion, with its operators. A dictionary with `"omit": "true"` removes its matches from what the dictionaries
    /// before it have found. A query also has the members of ``ReadOptions``.
    ///
    /// Source: Claris Data API guide, "Perform a find request".
    @dynamicMemberLookup
    public struct FindQuery: Hashable, Sendable {
        /// What `findRecords` does when no record matches, which FileMaker reports as error 401.
        public enum NoMatch: Hashable, Sendable {
            /// A response without records; FileMaker's message is in its `messages`.
            case empty
            /// A failure with `fileMakerCode` 401.
            case failure
        }

        /// The find requests, applied in order. Empty when the query was created from a ``Find`` that takes no call or
        /// several; setting it replaces that find.
        public var query: [[String: String]] {
            didSet { (plan, verbatim) = (nil, nil) }
        }
        /// Everything of the query except the find requests.
        public var options: ReadOptions
        /// The sort order. By default records come in the order of their creation.
        public var sort: [SortQuery]? {
            get { options.sortOrder }
            set { options.sortOrder = newValue }
        }
        /// The result when no record matches. The default is an empty response.
        public var noMatch: NoMatch
        /// For a ``Find`` that takes no call or several: its calls, or why FileMaker cannot express it, which the
        /// request throws. `nil` for one call.
        private(set) var plan: Result<FindPlan, FindError>?
        /// The same ``Find`` compiled with line feeds kept, for an encoder that writes them unchanged; `nil` when no
        /// value has a line feed.
        private var verbatim: Compiled?

        /// A part of ``options``.
        public subscript<Value>(dynamicMember member: WritableKeyPath<ReadOptions, Value>) -> Value {
            get { options[keyPath: member] }
            set { options[keyPath: member] = newValue }
        }

        /// Creates a query. See the properties, and those of ``ReadOptions``, for the meaning of each part and its
        /// default.
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
            self.init(
                query: query,
                ReadOptions(
                    script: script,
                    layoutResponse: layoutResponse,
                    portal: portal,
                    offset: offset,
                    limit: limit,
                    sortOrder: sort
                ),
                noMatch: noMatch
            )
        }

        /// Creates a query from find requests and options.
        public init(query: [[String: String]], _ options: ReadOptions, noMatch: NoMatch = .empty) {
            self.query = query
            self.options = options
            self.noMatch = noMatch
        }
    }
}

extension DataAPI.FindQuery {
    /// Creates a query from a find written in Swift: built on coding keys, escaped, and compiled to the fewest find
    /// requests.
    ///
    ///     let people = Find(Person.CodingKeys.self) { field in
    ///         field(.city) == "Calgary" && field(.age) >= 18 && !field(.status).isEmpty
    ///     }
    ///     layout.findRecords(query: FindQuery(people, limit: 25))
    ///
    /// A find that no record can match, such as one of no values, gives the result for no match without a request to
    /// the host. A find that FileMaker cannot express makes the call fail with ``FMRest/APIError/Code/invalidRequest``,
    /// and nothing is sent: the error's `underlying` is a ``DataAPI/FindError``, its reason names the fields concerned
    /// and shows the smallest example of what cannot be expressed. ``DataAPI/Find/explain(limit:maximumCalls:)`` checks
    /// a find beforehand.
    ///
    /// ## Several calls
    ///
    /// A find that one call cannot express, or that takes more than `maximumRequests`, is sent in up to `maximumCalls`
    /// calls, one after the other, if that many are allowed. *All* records that each call finds are fetched and held in
    /// memory. Each record of the result is in it once, in the query's order, and offset, limit and counts are those of
    /// the whole. Changes on the host between the calls may be missed. For the sort order the layout's metadata are
    /// requested as well, and the fields to sort by must be on the layout that shapes the answer. Text is compared
    /// without regard to case and accents, as the user's language is not known here. A query of several calls runs no
    /// scripts.
    ///
    /// - Parameters:
    ///   - find: The conditions that records must meet.
    ///   - sort: The sort order; the default is the order of their creation.
    ///   - script: The scripts to run with the find.
    ///   - offset: The first record to return, counted from 1.
    ///   - limit: The most records to return; the default is 100.
    ///   - layoutResponse: The layout whose fields and portals shape the answer.
    ///   - portal: The portals to return; `nil` is all of the layout.
    ///   - noMatch: The result when no record matches; the default is an empty response.
    ///   - maximumRequests: The most requests of one call; the default is 1,000. FileMaker documents no limit.
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
        maximumRequests: Int = 1_000,
        maximumCalls: Int = 1
    ) {
        self.init(
            find,
            DataAPI.ReadOptions(
                script: script,
                layoutResponse: layoutResponse,
                portal: portal,
                offset: offset,
                limit: limit,
                sortOrder: sort
            ),
            noMatch: noMatch,
            maximumRequests: maximumRequests,
            maximumCalls: maximumCalls
        )
    }

    /// Creates a query from a find and options; see
    /// ``init(_:sort:script:offset:limit:layoutResponse:portal:noMatch:maximumRequests:maximumCalls:)``.
    public init(
        _ find: DataAPI.Find,
        _ options: DataAPI.ReadOptions,
        noMatch: NoMatch = .empty,
        maximumRequests: Int = 1_000,
        maximumCalls: Int = 1
    ) {
        func compile(_ lineBreaks: EncodingOptions.LineBreaks) -> Compiled {
            Compiled(find, maximumRequests, maximumCalls, lineBreaks)
        }
        let compiled = compile(.carriageReturns)
        self.init(query: compiled.query, options, noMatch: noMatch)
        plan = compiled.plan
        if find.expression.hasLineFeeds { verbatim = compile(.asTheyAre) }
    }

    /// The requests and calls that a find is compiled to.
    private struct Compiled: Hashable, Sendable {
        /// The requests of the only call; empty when there is none, or there are several.
        let query: [[String: String]]
        /// The plan when it has no call or several, or the error of a find that cannot be expressed; `nil` for one
        /// call.
        let plan: Result<FindPlan, DataAPI.FindError>?

        init(
            _ find: DataAPI.Find,
            _ maximumRequests: Int,
            _ maximumCalls: Int,
            _ lineBreaks: EncodingOptions.LineBreaks
        ) {
            let plan = Result { () throws(DataAPI.FindError) in
                try find.plan(
                    maximumRequests: maximumRequests,
                    maximumCalls: maximumCalls,
                    lineBreaks: lineBreaks
                )
            }
            let onlyCall = (try? plan.get())?.onlyCall
            query = onlyCall?.map(\.request.dictionary) ?? []
            self.plan = onlyCall == nil ? plan : nil
        }
    }

    /// The query as compiled for an encoder that writes line breaks in this way.
    func looking(for lineBreaks: EncodingOptions.LineBreaks) -> DataAPI.FindQuery {
        guard lineBreaks == .asTheyAre, let verbatim else { return self }
        var query = self
        query.query = verbatim.query
        query.plan = verbatim.plan
        return query
    }
}

extension DataAPI.FindQuery {
    /// The members of the request's body.
    ///
    /// - Parameter dateFormats: the parameter `dateformats` of the request; `nil` for the server's default.
    func wireOptions(dateFormats: String?) throws(FMRest.APIError) -> [WireOption] {
        try options.wireOptions(dateFormats: dateFormats) + .criteria(query)
    }
}
