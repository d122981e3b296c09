extension DataAPI {
    /// One request of a `_find` call: one criterion per field, all of which must hold. The plain data that a
    /// ``Find`` is compiled to.
    public struct FindRequest: Hashable, Sendable {
        /// Criterion by field name.
        public var criteria: [String: String]
        /// Whether the request takes its records away from those found by the requests before it, or from all records
        /// when it is the first.
        public var isOmit: Bool

        /// A request.
        public init(criteria: [String: String], isOmit: Bool = false) {
            self.criteria = criteria
            self.isOmit = isOmit
        }

        /// The request as an element of the array `query`: the criteria and, for an omit, `"omit": "true"`.
        public var dictionary: [String: String] {
            isOmit ? criteria.merging([Self.omitKey: "true"]) { _, omit in omit } : criteria
        }

        /// The key that makes a request an omit; a field of this name cannot be searched.
        static let omitKey = "omit"
    }

    /// Why a ``Find`` cannot be told to FileMaker. Raised before anything is sent; names fields, never values.
    public struct FindError: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong. May grow.
        public struct Code: RawRepresentable, Hashable, Sendable {
            /// The name of the code.
            public let rawValue: String

            /// A code by its name.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// The field's name is empty or means something else in a request.
            public static let invalidField = Code(rawValue: "invalidField")
            /// A value that nothing can be found by: an empty text to begin with, a number that is none.
            public static let invalidValue = Code(rawValue: "invalidValue")
            /// Conditions on one field must hold together, and a request has one criterion for each field. Numbers, dates
            /// and times on a field with one value do go together, and so do words; for a related or repeating field use
            /// ``DataAPI/FindField/isIn(_:)``, or allow several calls.
            public static let sameField = Code(rawValue: "sameField")
            /// A condition takes the field to have one value, and it repeats: see ``DataAPI/Find/check(against:)``.
            public static let repeatingField = Code(rawValue: "repeatingField")
            /// The find contradicts itself: no record can match, and there are no requests that say so. A query of such a
            /// find needs none: it comes to the empty answer.
            public static let matchesNothing = Code(rawValue: "matchesNothing")
            /// The find matches every record, and names no field of the layout's own table, by which that could be said: get
            /// a range of records instead.
            public static let matchesEverything = Code(rawValue: "matchesEverything")
            /// The find takes more requests than the limit.
            public static let tooManyRequests = Code(rawValue: "tooManyRequests")
            /// The find multiplies out to too many alternatives, or no sequence of requests was found that says the same.
            /// Simplify its negations, or allow several calls.
            public static let tooComplex = Code(rawValue: "tooComplex")
        }

        /// What is wrong.
        public let code: Code
        /// What is wrong, and the smallest example of it, in words.
        public let description: String
        /// The smallest find that is refused for the same reason, made from the refused one by leaving out what does not
        /// matter: `name begins with … and name ends with …`. It shows fields and operators, and no values. `nil` when
        /// there is but one condition to blame.
        public let example: String?

        init(_ code: Code, _ description: String, example: String? = nil) {
            self.code = code
            self.description = description
            self.example = example
        }
    }
}
