extension DataAPI {
    /// What to find, and how to return it.
    ///
    ///     FindQuery(query: [["City": "Calgary", "Age": ">=18"], ["City": "Kiel"]])
    ///
    /// The conditions of one dictionary must all hold; the dictionaries are alternatives. A value is a FileMaker find
    /// criterion, with its operators. A dictionary with `"omit": "true"` takes its matches out of what the dictionaries
    /// before it have found. It has the members of ``ReadOptions``.
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

        /// The find requests, applied in order. Empty when the query was made of a ``Find`` that takes several calls, or
        /// none; setting it replaces the find.
        public var query: [[String: String]] {
            didSet { (plan, verbatim) = (nil, nil) }
        }
        /// All that it says beside what to find.
        public var options: ReadOptions
        /// Without it records come in the order of their creation.
        public var sort: [SortQuery]? {
            get { options.sortOrder }
            set { options.sortOrder = newValue }
        }
        /// The default is an empty response.
        public var noMatch: NoMatch
        /// What a ``Find`` comes to when it is more or less than one call; why it cannot be said is told when the request is
        /// made.
        private(set) var plan: Result<FindPlan, FindError>?
        /// The same ``Find``, where a value has line feeds, for who writes them as they are.
        private var verbatim: Compiled?

        /// A part of ``options``.
        public subscript<Value>(dynamicMember member: WritableKeyPath<ReadOptions, Value>) -> Value {
            get { options[keyPath: member] }
            set { options[keyPath: member] = newValue }
        }

        /// See the properties, and those of ``ReadOptions``, for the meaning of each part and its default.
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

        /// Made of find requests and options.
        public init(query: [[String: String]], _ options: ReadOptions, noMatch: NoMatch = .empty) {
            self.query = query
            self.options = options
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
            options.givenOffset = GivenNumber(text: offset)
            options.givenLimit = GivenNumber(text: limit)
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

    /// Made of a find and options; see
    /// ``init(_:sort:script:offset:limit:layoutResponse:portal:noMatch:maximumRequests:maximumCalls:)``.
    public init(
        _ find: DataAPI.Find,
        _ options: DataAPI.ReadOptions,
        noMatch: NoMatch = .empty,
        maximumRequests: Int = DataAPI.Find.defaultMaximumRequests,
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

    /// What a find comes to.
    private struct Compiled: Hashable, Sendable {
        /// The requests of its one call.
        let query: [[String: String]]
        /// The plan, where that is more or less than one call.
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

    /// The same query for those who write the line breaks of their texts so.
    func looking(for lineBreaks: EncodingOptions.LineBreaks) -> DataAPI.FindQuery {
        guard lineBreaks == .asTheyAre, let verbatim else { return self }
        var query = self
        query.query = verbatim.query
        query.plan = verbatim.plan
        return query
    }
}

extension DataAPI.FindQuery {
    /// What is sent of it, as members of a body.
    ///
    /// - Parameter dateFormats: how dates are asked for; `nil` for the server's default.
    func wireOptions(dateFormats: String?) throws(FMRest.APIError) -> [WireOption] {
        try options.wireOptions(dateFormats: dateFormats) + .criteria(query)
    }
}
