extension DataAPI {
    /// The description of the records to find, built on coding keys, so that a misspelled field does not compile.
    ///
    /// ```swift
    /// let find = DataAPI.Find(Person.CodingKeys.self) { field in
    ///     field(.city) == "Paris" && field(.balance) < 0 && !(field(.name) == "Bob")
    /// }
    /// print(try await people.find(find).count().firstValue())     // 1
    /// ```
    ///
    /// Values are taken literally: characters that FileMaker reads as operators are escaped; only ``FindField/raw(_:)``
    /// does not escape them. Conditions are combined with `&&`, `||` and `!` in any nesting. Finds over the same layout
    /// can be named and combined further, as in `adults && !retired`.
    ///
    /// A find is compiled to the requests of a `_find` call; ``explain(limit:)`` shows them and describes
    /// their meaning.
    ///
    /// FileMaker compares text without regard to case and accents, unless the field is indexed as Unicode. A line feed
    /// in a value is sent as a carriage return, as in written records; ``EncodingOptions/lineBreaks`` applies to both.
    ///
    /// A field of the layout's own table is assumed to have one value, and all conditions on it apply to that value. A
    /// condition on a related field holds if *any* related record fulfils it, and two such conditions may be fulfilled
    /// by two records. For a repeating field, use ``FindField/anyRepetition`` or one ``FindField/repetition(_:)``,
    /// because its name does not show that it repeats.
    ///
    /// Source: Claris Data API guide, "Perform a find request"; FileMaker Pro help, "Finding records".
    public struct Find: Hashable, Sendable {
        let expression: FindExpression

        init(_ expression: FindExpression) {
            self.expression = expression
        }

        /// Creates a find whose fields are the cases of `keys`.
        ///
        /// - Parameters:
        ///   - keys: The coding keys of the record's type. The text of a key is the field's name on the layout; for a
        ///     related field it is `Table::Field`. Write the enum explicitly, because synthesized keys are private to
        ///     the type.
        ///   - condition: A function that gets a function from keys to fields and returns the conditions.
        public init<Key: CodingKey>(_ keys: Key.Type, _ condition: (FindFields<Key>) -> Find) {
            self = condition(FindFields())
        }

        /// Finds every record, where a find is required and no record is to be left out.
        ///
        ///     let wanted = city.map { city in Find(Person.CodingKeys.self) { $0(.city) == city } } ?? .everything
        ///
        /// It can be combined with other finds. Used alone, it gets a range of records (``TypedLayout``), since
        /// FileMaker has no find request for all records.
        public static let everything = Find(.and([]))

        /// Returns a find of the records that fulfil both conditions.
        public static func && (left: Find, right: Find) -> Find {
            Find(.and(left.expression.conjuncts + right.expression.conjuncts))
        }

        /// Returns a find of the records that fulfil at least one of the conditions.
        public static func || (left: Find, right: Find) -> Find {
            Find(.or(left.expression.disjuncts + right.expression.disjuncts))
        }

        /// Returns a find of the records that do not fulfil the condition. It becomes an *omit* request, so records
        /// whose field is empty are included.
        public static prefix func ! (find: Find) -> Find {
            Find(.not(find.expression))
        }
    }

    /// Turns coding keys into fields, from which conditions are made: `field(.city)`.
    public struct FindFields<Key: CodingKey>: Sendable {
        init() {}

        /// Returns the field with this name.
        public func callAsFunction(_ key: Key) -> FindField {
            FindField(key)
        }
    }
}

extension DataAPI.Find {
    /// The greatest number of requests in a call, unless another one is given. FileMaker documents no limit.
    package static let defaultMaximumRequests = 1_000

    /// Returns the find as the requests of one `_find` call, in the order in which FileMaker must apply them: a request
    /// adds its records to the set, and an omit request removes its records from those found so far. The same find
    /// gives the same requests in the same order.
    ///
    /// - Parameters:
    ///   - limit: The greatest number of requests in the call.
    ///   - lineBreaks: How writes convert the line feeds of texts; values in the find are converted in the same way.
    package func requests(
        limit: Int = DataAPI.Find.defaultMaximumRequests,
        lineBreaks: EncodingOptions.LineBreaks = .carriageReturns
    ) throws(DataAPI.FindError) -> [FindRequest] {
        try FindCompiler(maximumRequests: limit)
            .steps(lineBreaks == .asTheyAre ? expression : expression.withReturns)
            .map(\.request)
    }

    /// Returns the requests as JSON, and their meaning in words. It shows the values that are searched for, so keep it
    /// out of logs.
    ///
    /// - Parameter limit: The greatest number of requests. The default is 1,000; FileMaker documents no limit.
    /// - Throws: ``DataAPI/FindError`` if a value has no text form, if the find can match nothing or everything, or if
    ///   FileMaker cannot express it; then it names the conditions: what a query with this find fails with.
    public func explain(limit: Int = 1_000) throws(DataAPI.FindError) -> String {
        FindExplanation(try FindCompiler(maximumRequests: limit).steps(expression.withReturns)).text
    }
}

extension DataAPI.Find {
    /// Checks that no condition treats a field that repeats on the layout as a field with one value.
    ///
    /// A field's name does not show whether it repeats. So a find with two conditions on one field, such as
    /// `> 1 && < 5`, may be compiled to requests that have another meaning for several repetitions. Call this in a
    /// test, or at the start of a program that builds its finds at run time:
    ///
    ///     try await find.check(against: layout.getLayoutMetadata().firstValue())
    ///
    /// - Throws: ``DataAPI/FindError/Code/repeatingField`` for a repeating field with several conditions of which none
    ///   uses ``DataAPI/FindField/anyRepetition``.
    public func check(against metaData: DataAPI.Layout.LayoutMetaData) throws(DataAPI.FindError) {
        var tests: [String: Set<FindTest>] = [:]
        for criterion in try FindFormula(expression).criteria where criterion.values == .one {
            tests[criterion.field, default: []].insert(criterion.test)
        }
        for field in metaData.fieldMetaData
        where field.showsSeveralRepetitions && tests[field.name, default: []].count > 1 {
            throw DataAPI.FindError(
                .repeatingField,
                "The field \(field.name) repeats, and conditions on it are taken to be about one value; say anyRepetition."
            )
        }
    }
}

extension DataAPI.Layout.LayoutMetaData.FieldMetaData {
    /// Whether a find searches more than one repetition of the field: those that the layout shows.
    fileprivate var showsSeveralRepetitions: Bool {
        if let repetitionStart, let repetitionEnd { return repetitionEnd > repetitionStart }
        return (repetitions ?? maxRepeat) > 1
    }
}
