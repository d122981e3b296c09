extension DataAPI {
    /// What records to find, built on coding keys, so that a misspelled field does not compile.
    ///
    /// ```swift
    /// let find = DataAPI.Find(Person.CodingKeys.self) { field in
    ///     field(.city) == "Paris" && field(.balance) < 0 && !(field(.name) == "Bob")
    /// }
    /// print(try await people.find(find).count().firstValue())     // 1
    /// ```
    ///
    /// Values are taken literally: characters that FileMaker reads as operators are escaped, and only
    /// ``FindField/raw(_:)`` lets them through. Conditions are combined with `&&`, `||` and `!` in any nesting; finds
    /// over the same layout can be named and combined further, as in `adults && !retired`.
    ///
    /// ``requests(limit:)`` compiles the find into the requests of a `_find` call, and ``explain(limit:maximumCalls:)`` says
    /// what they mean.
    ///
    /// FileMaker compares text without regard to case and accents, unless the field is indexed as Unicode. A line feed in a value
    /// is sent as a carriage return, which is what a write makes of it: ``EncodingOptions/lineBreaks`` says so for both.
    ///
    /// A field of the layout's own table is taken to have one value, and conditions on it to be about that value. A
    /// condition on a related field holds when *any* related record fulfils it, and two such conditions may be fulfilled
    /// by two records. A field that repeats is to be named ``FindField/anyRepetition`` or by one
    /// ``FindField/repetition(_:)``: its name does not tell.
    ///
    /// Source: Claris Data API guide, "Perform a find request"; FileMaker Pro help, "Finding records".
    public struct Find: Hashable, Sendable {
        let expression: FindExpression

        init(_ expression: FindExpression) {
            self.expression = expression
        }

        /// A find whose fields are the cases of `keys`.
        ///
        /// - Parameters:
        ///   - keys: The coding keys of the record's type. The text of a key is the field's name on the layout; a related
        ///     field's is `Table::Field`. Write the enum out: keys that the compiler makes up are private to the type.
        ///   - condition: Gets a function from a key to the field that conditions are made of.
        public init<Key: CodingKey>(_ keys: Key.Type, _ condition: (FindFields<Key>) -> Find) {
            self = condition(FindFields())
        }

        /// Every record: where a find is wanted and nothing is to be left out.
        ///
        ///     let wanted = city.map { city in Find(Person.CodingKeys.self) { $0(.city) == city } } ?? .everything
        ///
        /// It can be combined with others. Alone it takes a range of records (``TypedLayout``), since FileMaker has no request
        /// for it.
        public static let everything = Find(.and([]))

        /// Records that fulfil both.
        public static func && (left: Find, right: Find) -> Find {
            Find(.and(left.expression.conjuncts + right.expression.conjuncts))
        }

        /// Records that fulfil one or the other or both.
        public static func || (left: Find, right: Find) -> Find {
            Find(.or(left.expression.disjuncts + right.expression.disjuncts))
        }

        /// Records that do not fulfil the condition. It is an *omit* request to FileMaker, so a record whose field is
        /// empty is among them.
        public static prefix func ! (find: Find) -> Find {
            Find(.not(find.expression))
        }
    }

    /// Turns a coding key into the field that conditions are made of: `field(.city)`.
    public struct FindFields<Key: CodingKey>: Sendable {
        init() {}

        /// The field with this name.
        public func callAsFunction(_ key: Key) -> FindField {
            FindField(key)
        }
    }
}

extension DataAPI.Find {
    /// How many requests a call has at most, unless something else is said: 1,000. FileMaker names no limit of its own.
    public static let defaultMaximumRequests = 1_000

    /// The find as the requests of one `_find` call, in the order in which FileMaker must apply them: a request adds its
    /// records to the set, an omit takes its records away from what has come together so far. The same find gives the
    /// same requests in the same order, as few as can be found.
    ///
    /// - Parameter limit: The most requests to put into the call. The default is ``defaultMaximumRequests``.
    /// - Throws: ``DataAPI/FindError``: when a value has no text form, when the find is sure to match nothing, when two
    ///   conditions on one field cannot be told to FileMaker together, or when it takes more requests than `limit`. Its
    ///   ``DataAPI/FindError/example`` is the smallest find that is refused for the same reason.
    public func requests(
        limit: Int = DataAPI.Find.defaultMaximumRequests
    ) throws(DataAPI.FindError) -> [DataAPI.FindRequest] {
        let plan = try plan(maximumRequests: limit, maximumCalls: 1)
        guard let call = plan.onlyCall else {
            throw DataAPI.FindError(.matchesNothing, "The find contradicts itself: no record can match.")
        }
        return call.map(\.request)
    }

    /// The requests as JSON, and what they mean in words. For looking at; it shows the values that are searched for, so
    /// keep it out of logs.
    ///
    /// - Parameters:
    ///   - limit: The most requests to put into a call.
    ///   - maximumCalls: The most calls; of several each is shown.
    /// - Throws: What ``requests(limit:)`` throws, but for a find that matches nothing.
    public func explain(
        limit: Int = DataAPI.Find.defaultMaximumRequests,
        maximumCalls: Int = 1
    ) throws(DataAPI.FindError) -> String {
        FindExplanation(try plan(maximumRequests: limit, maximumCalls: maximumCalls)).text
    }

    /// - Parameter lineBreaks: what a write makes of the line feeds of a text, and so a find of those of a value.
    func plan(
        maximumRequests: Int,
        maximumCalls: Int,
        lineBreaks: EncodingOptions.LineBreaks = .carriageReturns
    ) throws(DataAPI.FindError) -> FindPlan {
        try FindCompiler(maximumRequests: maximumRequests, maximumCalls: maximumCalls)
            .plan(lineBreaks == .asTheyAre ? expression : expression.withReturns)
    }
}
