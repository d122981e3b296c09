extension DataAPI {
    /// A field on the layout, from which the conditions of a ``Find`` are made.
    ///
    /// Inside ``Find/init(_:_:)`` it is `field(.city)`; elsewhere `DataAPI.FindField(Person.CodingKeys.city)`.
    public struct FindField: Hashable, Sendable {
        /// The name on the layout: only the name for a field of the layout's own table, `Table::Field` for a related
        /// field, with `(2)` after it for one repetition.
        public let name: String
        let values: FindFieldValues

        /// Creates the field that a coding key names.
        public init(_ key: some CodingKey) {
            self.init(named: key.stringValue)
        }

        /// Creates a field with a name that is known at run time only. Prefer a coding key.
        public init(named name: String) {
            // A related field has as many values as there are related records.
            self.init(named: name, name.contains("::") ? .any : .one)
        }

        private init(named name: String, _ values: FindFieldValues) {
            self.name = name
            self.values = values
        }

        /// Returns the same field of a related table occurrence, as `Table::Field`.
        public func related(_ table: String) -> FindField {
            FindField(named: "\(table)::\(name)")
        }

        /// The field as a repeating field: a condition holds if *any* of the repetitions that the layout shows fulfils
        /// it.
        ///
        ///     field(.marks).anyRepetition > 1 && field(.marks).anyRepetition < 5      // 0 and 7 will do
        ///     field(.marks).anyRepetition.isIn(1...5)                                 // one that lies between
        ///
        /// The name of a field does not show whether it repeats. FileMaker searches all repetitions in any case; this
        /// property decides how conditions on the field are combined. Without it they are assumed to apply to the same
        /// value. Then `> 1 && < 5` is compiled to values greater than 1 that are not 5 or more, which is wrong for
        /// several values. ``DataAPI/Find/check(against:)`` finds such fields with the layout's metadata. If a find
        /// uses this property once for a field, it applies to the field in the whole find.
        ///
        /// For a related field it changes nothing: a condition holds if any related record fulfils it.
        public var anyRepetition: FindField {
            FindField(named: name, .any)
        }

        /// Returns one repetition of a repeating field, counted from 1.
        public func repetition(_ number: Int) -> FindField {
            FindField(named: "\(name)(\(number))")
        }
    }
}

// MARK: - Whole values

extension DataAPI.FindField {
    /// Finds records whose whole value equals this one: `==value`. An empty text finds empty fields.
    public static func == (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        field.find(value) { $0.text.isEmpty ? .isEmpty : .equals($0) }
    }

    /// Finds records whose value does not equal this one, including empty fields.
    public static func != (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        !(field == value)
    }

    /// Finds records whose value equals one of these. Without values it finds no records.
    ///
    /// Each value becomes a separate request, so a long list may need a higher limit, the `maximumRequests` of a
    /// ``DataAPI/FindQuery``.
    public func isOneOf(_ values: some Sequence<some DataAPI.FindValue>) -> DataAPI.Find {
        let alternatives = values.map { (self == $0).expression }
        // No field is both empty and not empty. The negation, "every record", needs a field, so this find keeps one.
        return alternatives.isEmpty ? isEmpty && !isEmpty : DataAPI.Find(.or(alternatives))
    }
}

// MARK: - Order

extension DataAPI.FindField {
    /// Finds smaller values: smaller numbers, earlier dates or times. Text is compared word by word: any word of the
    /// field may fulfil the condition.
    public static func < (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        field.comparison(.less, value)
    }

    /// Finds smaller or equal values. Text is compared word by word.
    public static func <= (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        field.comparison(.lessOrEqual, value)
    }

    /// Finds greater values: larger numbers, later dates or times. Text is compared word by word.
    public static func > (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        field.comparison(.greater, value)
    }

    /// Finds greater or equal values. Text is compared word by word.
    public static func >= (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        field.comparison(.greaterOrEqual, value)
    }

    /// Finds values in a range, both ends included: `field(.age).isIn(18...65)`.
    public func isIn<Value: DataAPI.FindValue>(_ range: ClosedRange<Value>) -> DataAPI.Find {
        find(range.lowerBound) { lower in
            guard let upper = operand(range.upperBound), !lower.text.isEmpty, !upper.text.isEmpty else { return nil }
            return .range(lower, upper)
        }
    }

    private func comparison(_ comparison: FindComparison, _ value: some DataAPI.FindValue) -> DataAPI.Find {
        find(value) { $0.text.isEmpty ? nil : .compares(comparison, $0) }
    }
}

// MARK: - Text

extension DataAPI.FindField {
    /// Finds values that begin with this text: `==text*`.
    public func begins(with text: String) -> DataAPI.Find {
        pattern(.begins, text)
    }

    /// Finds values that contain this text anywhere, also inside a word: `==*text*`.
    public func contains(_ text: String) -> DataAPI.Find {
        pattern(.contains, text)
    }

    /// Finds values that end with this text: `==*text`.
    public func ends(with text: String) -> DataAPI.Find {
        pattern(.ends, text)
    }

    /// Finds values that contain every word of the text, in any order: `=John =Smith`.
    public func hasWords(_ text: String) -> DataAPI.Find {
        words(text, as: .whole)
    }

    /// Finds values with words that begin with the words of the text, in any order, as plain text in a field in Find
    /// mode does.
    public func hasWords(beginningWith text: String) -> DataAPI.Find {
        words(text, as: .beginning)
    }

    private func pattern(_ pattern: FindPattern, _ text: String) -> DataAPI.Find {
        text.isEmpty ? unusable("an empty text") : find(.matches(pattern, FindText.escaped(text)))
    }

    private func words(_ text: String, as extent: FindWord.Extent) -> DataAPI.Find {
        let words = FindText.words(of: text)
            .map { FindWord(text: FindText.escaped($0), extent: extent) }
        return words.isEmpty ? unusable("a text without words") : find(.words(words))
    }
}

// MARK: - Without a value

extension DataAPI.FindField {
    /// Finds empty fields: `=`.
    public var isEmpty: DataAPI.Find { find(.isEmpty) }

    /// Finds fields that are not empty: `*`.
    public var isNotEmpty: DataAPI.Find { find(.isNotEmpty) }

    /// Finds records whose value another record of the table has as well: `!`.
    public var isDuplicated: DataAPI.Find { find(.isDuplicated) }

    /// Finds today's date on the host, for date and timestamp fields: `//`.
    public var isToday: DataAPI.Find { find(.isToday) }

    /// Finds records with a criterion in FileMaker's syntax, including operators, such as `*/21/*` for the 21st of any
    /// month. Never include text from outside in it.
    public func raw(_ criterion: String) -> DataAPI.Find {
        criterion.allSatisfy(\.isWhitespace) ? unusable("an empty criterion") : find(.raw(criterion))
    }
}

// MARK: - Making criteria

extension DataAPI.FindField {
    private func find(_ test: FindTest) -> DataAPI.Find {
        guard !name.isEmpty, name != FindRequest.omitKey else {
            // In a request, "omit" is a key of its own, so a field of this name cannot be searched.
            return DataAPI.Find(
                .unusable(DataAPI.FindError(.invalidField, "A field named \"\(name)\" cannot be searched."))
            )
        }
        return DataAPI.Find(.test(FindCriterion(field: name, values: values, test: test)))
    }

    private func find<Value: DataAPI.FindValue>(_ value: Value, _ test: (FindOperand) -> FindTest?) -> DataAPI.Find {
        operand(value).flatMap(test).map(find) ?? unusable("a value without a text form")
    }

    private func operand<Value: DataAPI.FindValue>(_ value: Value) -> FindOperand? {
        value.findText.map { FindOperand(text: FindText.escaped($0), isOrdered: Value.isOrderedInFinds) }
    }

    private func unusable(_ what: String) -> DataAPI.Find {
        DataAPI.Find(.unusable(DataAPI.FindError(.invalidValue, "The field \(name) cannot be searched for \(what).")))
    }
}
