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

        /// The find requests, applied in order. Empty when the query was created from a ``Find`` that FileMaker cannot
        /// express, or that matches nothing; setting it replaces that find.
        public var query: [[String: String]] {
            didSet { (refusal, verbatim) = (nil, nil) }
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
        /// Why no request can be made of the ``Find``, which the call throws; `nil` if one can. A find that matches
        /// nothing is answered without a request.
        package private(set) var refusal: FindError?
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
    /// Creates a query from a find written in Swift: built on coding keys, escaped, and compiled to find requests.
    ///
    ///     let people = Find(Person.CodingKeys.self) { field in
    ///         field(.city) == "Calgary" && field(.age) >= 18 && !field(.status).isEmpty
    ///     }
    ///     layout.findRecords(query: FindQuery(people, limit: 25))
    ///
    /// A find that no record can match, such as one of no values, gives the result for no match without a request to
    /// the host. A find that FileMaker cannot express makes the call fail with ``FMRest/APIError/Code/invalidRequest``,
    /// and nothing is sent: the error's `underlying` is a ``DataAPI/FindError``, whose text names the conditions and
    /// says how to divide the find. ``DataAPI/Find/explain(limit:)`` checks a find beforehand.
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
    ///   - maximumRequests: The most find requests; the default is 1,000. FileMaker documents no limit.
    public init(
        _ find: DataAPI.Find,
        sort: [DataAPI.SortQuery]? = nil,
        script: DataAPI.ScriptQuery? = nil,
        offset: Int? = nil,
        limit: Int? = nil,
        layoutResponse: String? = nil,
        portal: [DataAPI.PortalRequest]? = nil,
        noMatch: NoMatch = .empty,
        maximumRequests: Int = 1_000
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
            maximumRequests: maximumRequests
        )
    }

    /// Creates a query from a find and options; see
    /// ``init(_:sort:script:offset:limit:layoutResponse:portal:noMatch:maximumRequests:)``.
    public init(
        _ find: DataAPI.Find,
        _ options: DataAPI.ReadOptions,
        noMatch: NoMatch = .empty,
        maximumRequests: Int = 1_000
    ) {
        func compile(_ lineBreaks: EncodingOptions.LineBreaks) -> Compiled {
            Result { () throws(DataAPI.FindError) in
                try find.requests(limit: maximumRequests, lineBreaks: lineBreaks).map(\.dictionary)
            }
        }
        self.init(query: [], options, noMatch: noMatch)
        take(compile(.carriageReturns))
        if find.expression.hasLineFeeds { verbatim = compile(.asTheyAre) }
    }

    /// The requests of a find, or why there are none.
    fileprivate typealias Compiled = Result<[[String: String]], DataAPI.FindError>

    private mutating func take(_ compiled: Compiled) {
        switch compiled {
        case .success(let requests): query = requests
        case .failure(let error): (query, refusal) = ([], error)
        }
    }

    /// The query as compiled for an encoder that writes line breaks in this way.
    package func looking(for lineBreaks: EncodingOptions.LineBreaks) -> DataAPI.FindQuery {
        guard lineBreaks == .asTheyAre, let verbatim else { return self }
        var query = self
        query.take(verbatim)
        return query
    }

    /// What a find that matches nothing is answered with, without a request: as by a host. `nil` for another find.
    var answerWithoutRequest: FMRest.APIError? {
        guard refusal?.code == .matchesNothing else { return nil }
        guard !options.runsScripts else {
            return FMRest.APIError(
                .invalidRequest,
                reason: "The find can match nothing, so that no call is made which could run the query's scripts."
            )
        }
        return FMRest.APIError(
            .fileMaker,
            reason: "No records match the request",
            fileMakerCode: .noRecordsMatch,
            messages: [DataAPI.Message(code: "401", message: "No records match the request")]
        )
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
