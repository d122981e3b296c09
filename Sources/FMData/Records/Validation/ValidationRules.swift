extension DataAPI {
    /// Rules for the fields of a record, which ``TypedLayout/validating(_:)`` checks before a write is sent. The field
    /// is named by its coding key.
    public struct ValidationRules<Key: CodingKey>: Sendable {
        /// Whether what the layout tells of its fields is checked too: which must not be empty, which must be numbers,
        /// how long texts may be, what a date, a time and a timestamp is. The default is yes; it takes one request a
        /// minute and layout.
        public var followsLayout = true
        /// Whether a value must be one of the layout's value list, where the control of its field has one with custom
        /// values. The default is no: a list is a help to whoever types, and FileMaker itself refuses other values only
        /// where the field's validation says so, which it does not tell.
        public var followsValueLists = false
        private(set) var rules: [FieldRule] = []

        /// There has to be a value: a new record that says nothing of the field is refused, and an edit that empties
        /// it.
        public mutating func require(_ field: Key) {
            rules.append(FieldRule(field.stringValue, .required, isRequired: true))
        }

        /// A value has to be a number that lies between these two. Empty is allowed.
        public mutating func limit(_ field: Key, to range: ClosedRange<FMNumber>) {
            check(field, .range(range)) { value in value.number.map(range.contains) ?? false }
        }

        /// A value may have so many characters.
        public mutating func limit(_ field: Key, toCharacters count: Int) {
            check(field, .length(atMost: count)) { $0.text.count <= count }
        }

        /// A value has to be one of these, without regard to case. Empty is allowed; of a set of check boxes each line
        /// is a value.
        public mutating func limit(_ field: Key, to values: [String]) {
            let values = Set(values.map { $0.lowercased() })
            check(field, .listed) { value in
                value.text.split(separator: "\r").allSatisfy { values.contains($0.lowercased()) }
            }
        }

        /// A value has to pass a check of the program's own, which may be made on any thread. Empty is allowed.
        ///
        /// - Parameters:
        ///   - field: the field.
        ///   - description: the rule in words, such as "must be an address"; it stands in the error.
        ///   - isValid: gets the value as it would be sent.
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

/// A rule of the program's own for a field.
struct FieldRule: Sendable {
    /// In lower case, without a repetition.
    let field: String
    /// As it was named.
    let name: String
    let rule: DataAPI.InvalidValue.Rule
    let isRequired: Bool
    /// Asked of values that are not empty.
    let isValid: @Sendable (FieldValue) -> Bool

    init(
        _ name: String,
        _ rule: DataAPI.InvalidValue.Rule,
        isRequired: Bool = false,
        isValid: @escaping @Sendable (FieldValue) -> Bool = { _ in true }
    ) {
        field = FieldSuspicion.plainName(name).lowercased()
        self.name = name
        self.rule = rule
        self.isRequired = isRequired
        self.isValid = isValid
    }
}

extension DataAPI.TypedLayout {
    /// The same layout, whose writes are checked before they are sent.
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
    /// It holds for every write that is made through what comes back: create, edit, save, upsert, the rows of a batch
    /// and of a commit, and rows of portals. FileMaker tells one field of one rule at a time; here one error of
    /// ``FMRest/APIError/Code/invalidValues`` names all fields (``FMRest/APIError/invalidValues``), and the row of a
    /// batch that is refused costs no request. An upsert has looked for its record before.
    ///
    /// What the layout tells is all that a user sees of validation: uniqueness, ranges and formulas stay FileMaker's,
    /// and so does the last word. A write as a script (``DataAPI/WriteOptions``) is checked by the program's own rules
    /// alone.
    ///
    /// - Parameter change: adds rules to those that hold so far; with none, those of the layout are checked.
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
