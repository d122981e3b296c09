public import Foundation

/// One request of a `_find` call: one criterion per field, all of which must hold. A find is compiled to requests.
struct FindRequest: Hashable, Sendable {
    /// The criteria by field name.
    var criteria: [String: String]
    /// Whether the request removes its records from those found by the requests before it, or from all records if it is
    /// the first.
    var isOmit = false

    /// The request as an element of the array `query`: the criteria and, for an omit, `"omit": "true"`.
    var dictionary: [String: String] {
        isOmit ? criteria.merging([Self.omitKey: "true"]) { _, omit in omit } : criteria
    }

    /// The key that makes a request an omit; a field of this name cannot be searched.
    static let omitKey = "omit"
}

extension DataAPI {
    /// The reason why a ``Find`` cannot be expressed for FileMaker. It is thrown before anything is sent, and contains
    /// names of fields, but no values.
    public struct FindError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kind of the error. Further codes may be added.
        public struct Code: RawRepresentable, Hashable, Sendable {
            /// The name of the code.
            public let rawValue: String

            /// Creates a code with a name.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// The field's name is empty or has another meaning in a request.
            public static let invalidField = Code(rawValue: "invalidField")
            /// No records can be found by this value, such as an empty text for `begins(with:)`, or a number that is
            /// not finite.
            public static let invalidValue = Code(rawValue: "invalidValue")
            /// Conditions on one field must hold together, and a request has one criterion for each field. Numbers,
            /// dates and times on a field with one value can be combined, and so can words. For a related or repeating
            /// field use ``DataAPI/FindField/isIn(_:)``, or allow several calls.
            public static let sameField = Code(rawValue: "sameField")
            /// A condition treats a repeating field as a field with one value: see ``DataAPI/Find/check(against:)``.
            public static let repeatingField = Code(rawValue: "repeatingField")
            /// The find contradicts itself: no record can match, and no requests express that. A query with such a find
            /// sends no request and gives the empty answer.
            public static let matchesNothing = Code(rawValue: "matchesNothing")
            /// The find matches every record, and names no field of the layout's own table with which that could be
            /// expressed. Get a range of records instead.
            public static let matchesEverything = Code(rawValue: "matchesEverything")
            /// The find needs more requests than the limit.
            public static let tooManyRequests = Code(rawValue: "tooManyRequests")
            /// The find multiplies out to too many alternatives, or no sequence of requests was found that expresses
            /// it. Simplify its negations, or allow several calls.
            public static let tooComplex = Code(rawValue: "tooComplex")
        }

        /// The kind of the error.
        public let code: Code
        /// The error in words, with the smallest example.
        public let description: String
        /// The smallest find that is refused for the same reason, made from the refused find by leaving out irrelevant
        /// parts: `name begins with … and name ends with …`. It shows fields and operators, but no values. `nil` for
        /// other codes than ``Code/sameField``, ``Code/tooManyRequests`` and ``Code/tooComplex``.
        public let example: String?

        init(_ code: Code, _ description: String, example: String? = nil) {
            self.code = code
            self.description = description
            self.example = example
        }
    }
}

extension DataAPI.FindError: APIErrorConvertible {
    var apiError: FMRest.APIError { FMRest.APIError(.invalidRequest, reason: "\(self)", underlying: self) }
}

extension DataAPI.FindError: LocalizedError {
    /// What is wrong with the find, and the smallest example of it.
    public var errorDescription: String? { description }
}
