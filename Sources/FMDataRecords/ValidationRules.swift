public import FMDataCore

extension DataAPI {
    /// Rules for the fields of a record, which ``TypedLayout/validating(_:)`` checks before a write is sent. Each rule
    /// names its field by a coding key.
    public struct ValidationRules<Key: CodingKey>: Sendable {
        /// Whether values are also checked by the layout's metadata: which fields must not be empty, which must be
        /// numbers, how long texts may be, and what is a date, a time and a timestamp. The default is `true`; it takes
        /// at most one request a minute for a layout.
        public var followsLayout = true
        /// Whether a value must be on the layout's value list, if the field's control has a list of custom values. The
        /// default is `false`: a list only helps people to type, and FileMaker itself refuses other values only if the
        /// field's validation says so, which its metadata does not report.
        public var followsValueLists = false
        private(set) var rules: [FieldRule] = []

        /// The field needs a value: a new record without the field is refused, and so is an edit that empties it.
        public mutating func require(_ field: Key) {
            rules.append(FieldRule(field.stringValue, .required, isRequired: true))
        }

        /// A value must be a number between these two. Empty is allowed.
        public mutating func limit(_ field: Key, to range: ClosedRange<FMNumber>) {
            check(field, .range(range)) { value in value.number.map(range.contains) ?? false }
        }

        /// A value may have at most this many characters.
        public mutating func limit(_ field: Key, toCharacters count: Int) {
            check(field, .length(atMost: count)) { $0.text.count <= count }
        }

        /// A value must be one of these, without regard to case. Empty is allowed; in a set of check boxes, each line
        /// is a value.
        public mutating func limit(_ field: Key, to values: [String]) {
            let values = Set(values.map { $0.lowercased() })
            check(field, .listed) { value in
                value.text.split(separator: "\r").allSatisfy { values.contains($0.lowercased()) }
            }
        }

        /// A value must pass a check of the program's own, which may run on any thread. Empty is allowed.
        ///
        /// - Parameters:
        ///   - field: the field.
        ///   - description: the rule in words, such as "must be an address"; the error contains it.
        ///   - isValid: receives the value as it would be sent.
        public mutating func check(
            _ field: Key,
            _ description: String,
            _ isValid: @escaping @Sendable (FieldValue) -> Bool
        ) {
            check(field, .custom(description), isValid)
        }

        private mutating func check(
            _ field: Key,
            _ rule: InvalidValue.Rule,
            _ isValid: @escaping @Sendable (FieldValue) -> Bool
        ) {
            rules.append(FieldRule(field.stringValue, rule, isValid: isValid))
        }
    }
}

extension DataAPI.TypedLayout {
    /// The same layout; its writes are checked before they are sent.
    ///
    /// ```swift
    /// let checked = people.validating {
    ///     $0.require(.name)
    ///     $0.limit(.city, toCharacters: 30)
    /// }
    /// do {
    ///     try await checked.create(Person(name: "", city: "Oslo")).firstValue()
    /// } catch let error as FMRest.APIError {
    ///     print(error.invalidValues)                              // ["Name" must not be empty]
    /// }
    /// ```
    ///
    /// The rules apply to every write through the returned layout: create, edit, save, upsert, the rows of a batch and
    /// of a commit, and portal rows. FileMaker reports one rule of one field at a time; here one error with code
    /// ``FMRest/APIError/Code/invalidValues`` names all fields (``FMRest/APIError/invalidValues``), and a refused batch
    /// row costs no request. An upsert looks for its record before the check.
    ///
    /// The layout's metadata is all that a Data API user sees of validation: uniqueness, ranges and formulas are
    /// checked by FileMaker, which has the last word. A write as a script (``DataAPI/WriteOptions``) is checked only by
    /// the program's own rules.
    ///
    /// - Parameter change: adds rules to those set before. Without rules, only the layout's are checked.
    ///
    /// Source: Claris Data API guide, "Get layout metadata"; FileMaker Pro help, "Defining field validation".
    public func validating(
        _ change: (inout DataAPI.ValidationRules<R.CodingKeys>) -> Void = { _ in }
    ) -> DataAPI.TypedLayout<R> {
        var rules = DataAPI.ValidationRules<R.CodingKeys>()
        change(&rules)
        return callOptions { options in
            var validation = options.validation ?? WriteValidation()
            validation.followsLayout = rules.followsLayout
            validation.followsValueLists = rules.followsValueLists
            validation.rules += rules.rules
            options.validation = validation
        }
    }
}

// Rules for what a layout says about its fields beyond "not empty" and a length. A generated model has them as the
// layout was when it was fetched.

extension DataAPI.ValidationRules {
    /// A value must be a number as a whole. Empty is allowed.
    public mutating func requireNumber(_ field: Key) {
        check(field, DataAPI.InvalidValue.Rule.number.description) { value in
            guard case .text(var text) = value else { return true }
            return text.withUTF8 { NumberText.literal(of: $0, separator: UInt8(ascii: ".")) } != nil
        }
    }

    /// The year of a date or a timestamp must have four digits. Empty is allowed.
    public mutating func requireFourDigitYear(_ field: Key) {
        check(field, DataAPI.InvalidValue.Rule.fourDigitYear.description) { value in
            value.text.split { !$0.isASCII || !$0.isNumber }.contains { $0.count == 4 }
        }
    }

    /// A time must lie within a day: from 0:00 to before 24:00. Empty is allowed.
    public mutating func requireTimeOfDay(_ field: Key) {
        check(field, DataAPI.InvalidValue.Rule.timeOfDay.description) { value in
            let hours = value.text.prefix { $0 != ":" }
            return hours.hasPrefix("-") ? false : Int(hours).map { $0 < 24 } ?? true
        }
    }
}
