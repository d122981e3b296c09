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
            /// Two conditions on one field must hold together, and a request has room for one. Two comparisons of numbers,
            /// dates or times on a field of the layout's own table do go together; for a related field use
            /// ``DataAPI/FindField/isIn(_:)``.
            public static let sameField = Code(rawValue: "sameField")
            /// The find needs no look at the records: it contradicts itself.
            public static let matchesNothing = Code(rawValue: "matchesNothing")
            /// The find matches every record: get a range of records instead.
            public static let matchesEverything = Code(rawValue: "matchesEverything")
            /// The find takes more requests than the limit.
            public static let tooManyRequests = Code(rawValue: "tooManyRequests")
            /// No sequence of requests was found that says the same as the find. Simplify its negations.
            public static let tooComplex = Code(rawValue: "tooComplex")
        }

        /// What is wrong.
        public let code: Code
        /// What is wrong, in words.
        public let description: String

        init(_ code: Code, _ description: String) {
            self.code = code
            self.description = description
        }
    }
}
