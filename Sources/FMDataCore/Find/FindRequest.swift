public import Foundation

/// One request of a `_find` call: one criterion per field, all of which must hold. A find is compiled to requests.
package struct FindRequest: Hashable, Sendable {
    /// The criteria by field name.
    var criteria: [String: String]
    /// Whether the request removes its records from those found by the requests before it, or from all records if it is
    /// the first.
    var isOmit = false

    /// The request as an element of the array `query`: the criteria and, for an omit, `"omit": "true"`.
    package var dictionary: [String: String] {
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
            /// field use ``DataAPI/FindField/isIn(_:)``.
            public static let sameField = Code(rawValue: "sameField")
            /// A condition treats a repeating field as a field with one value: see ``DataAPI/Find/check(against:)``.
            public static let repeatingField = Code(rawValue: "repeatingField")
            /// The find contradicts itself: no record can match. A query with such a find sends no request and gives
            /// the empty answer.
            public static let matchesNothing = Code(rawValue: "matchesNothing")
            /// The find matches every record, for which FileMaker has no request. Get a range of records instead.
            public static let matchesEverything = Code(rawValue: "matchesEverything")
            /// The find needs more requests than the limit.
            public static let tooManyRequests = Code(rawValue: "tooManyRequests")
            /// The find multiplies out to too many alternatives, or two of them leave out different records, which a
            /// sequence of requests and omit requests cannot express. Make several finds of it.
            public static let tooComplex = Code(rawValue: "tooComplex")
        }

        /// The kind of the error.
        public let code: Code
        /// The error in words. It names the conditions that cannot be expressed together, without their values.
        public let description: String

        init(_ code: Code, _ description: String) {
            self.code = code
            self.description = description
        }
    }
}

extension DataAPI.FindError: APIErrorConvertible {
    package var apiError: FMRest.APIError { FMRest.APIError(.invalidRequest, reason: "\(self)", underlying: self) }
}

extension DataAPI.FindError: LocalizedError {
    /// What is wrong with the find.
    public var errorDescription: String? { description }
}
