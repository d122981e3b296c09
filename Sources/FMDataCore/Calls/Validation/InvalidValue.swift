extension DataAPI {
    /// A value that a rule for its field refuses; ``FMRest/APIError/invalidValues`` holds these. It does not hold the
    /// value itself.
    public struct InvalidValue: Hashable, Sendable {
        /// The field's name, as in the write.
        public let field: String
        /// The rule that the value breaks.
        public let rule: Rule

        /// Creates a value, for tests and doubles.
        public init(field: String, rule: Rule) {
            self.field = field
            self.rule = rule
        }

        /// A requirement on the values of a field. More rules may be added: a `switch` over them needs a `default`.
        public struct Rule: Hashable, Sendable, CustomStringConvertible {
            /// The rule in words: "must not be empty".
            public let description: String

            private init(_ description: String) { self.description = description }

            /// The field needs a value.
            public static let required = Rule("must not be empty")
            /// The value must be a number.
            public static let number = Rule("must be a number")
            /// The value must be a date.
            public static let date = Rule("must be a date")
            /// The value must be a time.
            public static let time = Rule("must be a time")
            /// The value must be a timestamp.
            public static let timestamp = Rule("must be a timestamp")
            /// The year of the date must have four digits.
            public static let fourDigitYear = Rule("must have a year of four digits")
            /// The time must lie within a day.
            public static let timeOfDay = Rule("must lie within a day")
            /// The value must be on a value list.
            public static let listed = Rule("must be a value of the list")

            /// The value may have at most this many characters.
            public static func length(atMost count: Int) -> Rule {
                Rule("must have at most \(count) character\(count == 1 ? "" : "s")")
            }

            /// The value must be between two numbers, both allowed.
            public static func range(_ range: ClosedRange<FMNumber>) -> Rule {
                Rule("must be from \(range.lowerBound.literal) to \(range.upperBound.literal)")
            }

            /// A rule of the program's own.
            public static func custom(_ description: String) -> Rule { Rule(description) }
        }
    }
}

extension DataAPI.InvalidValue: CustomStringConvertible {
    /// The field and the rule, in words.
    public var description: String { "\"\(field)\" \(rule)" }
}

extension FMRest.APIError {
    /// The values that rules refuse, for ``Code/invalidValues``; empty for every other error.
    public var invalidValues: [DataAPI.InvalidValue] { (underlying as? InvalidValues)?.values ?? [] }

    package static func invalid(_ values: [DataAPI.InvalidValue]) -> FMRest.APIError {
        let texts = values.map(\.description)
        var error = FMRest.APIError(
            .invalidValues,
            reason: "\(texts.joined(separator: ", ")). Nothing was sent.",
            underlying: InvalidValues(values: values)
        )
        var seen: Set<ExactName> = []
        error.fields = values.map(\.field).filter { seen.insert(ExactName($0)).inserted }
        return error
    }
}

private struct InvalidValues: Error { let values: [DataAPI.InvalidValue] }
