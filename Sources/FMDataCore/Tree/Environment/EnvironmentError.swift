public import Foundation

extension DataAPI {
    /// The variables of an environment from which a ``Server`` or a ``Database`` could not be made: all of them, by
    /// their names. A value is never part of it, so it can be printed and logged.
    ///
    ///     FM_DATABASE is missing; FM_SESSIONS must be a number from 1 to 1000
    public struct EnvironmentError: Error, Hashable, Sendable {
        /// What is wrong with one variable.
        public struct Problem: Hashable, Sendable, CustomStringConvertible {
            /// The name of the variable, as in `FM_HOST`.
            public let variable: String
            /// What is wrong, as in "is missing". Never holds a value.
            public let reason: String

            /// Whether the variable is needed and not set. An empty value counts as not set, except for a password.
            public var isMissing: Bool { reason == Self.missing }

            /// The variable and the reason.
            public var description: String { "\(variable) \(reason)" }

            static let missing = "is missing"
        }

        /// What is wrong, at least one thing.
        public let problems: [Problem]
    }
}

extension DataAPI.EnvironmentError: CustomStringConvertible, LocalizedError {
    /// The problems, in the order in which the variables are documented.
    public var description: String { problems.map(\.description).joined(separator: "; ") }

    /// The same as `description`.
    public var errorDescription: String? { description }
}
