extension DataAPI {
    /// What records to find, built on coding keys, so that a misspelled field does not compile.
    ///
    ///     let find = DataAPI.Find(Person.CodingKeys.self) { field in
    ///         field(.city) == "Calgary" && field(.age) >= 18 && !(field(.status) == "retired")
    ///     }
    ///
    /// Values are taken literally: characters that FileMaker reads as operators are escaped, and only
    /// ``FindField/raw(_:)`` lets them through. Conditions are combined with `&&`, `||` and `!` in any nesting; finds
    /// over the same layout can be named and combined further, as in `adults && !retired`.
    ///
    /// ``requests(limit:)`` compiles the find into the requests of a `_find` call, and ``explain(limit:)`` says what they
    /// mean.
    ///
    /// FileMaker compares text without regard to case and accents, unless the field is indexed as Unicode. A condition on
    /// a related field holds when *any* related record fulfils it, one on a repeating field when any repetition does.
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
    /// The find as the requests of one `_find` call, in the order in which FileMaker must apply them: a request adds its
    /// records to the set, an omit takes its records away from what has come together so far. The same find gives the
    /// same requests in the same order, as few as can be found.
    ///
    /// - Parameter limit: The most requests to put into one call. The default is 200.
    /// - Throws: ``DataAPI/FindError``: when a value has no text form, when the find is sure to match nothing or
    ///   everything, when two conditions on one field cannot be told to FileMaker together, or when it takes more
    ///   requests than `limit`.
    public func requests(limit: Int = 200) throws(DataAPI.FindError) -> [DataAPI.FindRequest] {
        try compiled(limit: limit).map(\.request)
    }

    /// The requests as JSON, and what they mean in words. For looking at; it shows the values that are searched for, so
    /// keep it out of logs.
    ///
    /// - Throws: What ``requests(limit:)`` throws.
    public func explain(limit: Int = 200) throws(DataAPI.FindError) -> String {
        FindExplanation(try compiled(limit: limit)).text
    }

    private func compiled(limit: Int) throws(DataAPI.FindError) -> [CompiledFindRequest] {
        let compiled = try FindCompiler.compile(expression)
        guard compiled.count <= limit else {
            throw DataAPI.FindError(
                .tooManyRequests,
                "The find takes \(compiled.count) requests, more than the limit of \(limit)."
            )
        }
        return compiled
    }
}
