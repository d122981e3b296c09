extension DataAPI {
    /// A field on the layout, from which the conditions of a ``Find`` are made.
    ///
    /// Inside ``Find/init(_:_:)`` it is `field(.city)`; elsewhere `DataAPI.FindField(Person.CodingKeys.city)`.
    public struct FindField: Hashable, Sendable {
        /// The name on the layout: bare for a field of the layout's own table, `Table::Field` for a related one, with
        /// `(2)` behind it for one repetition.
        public let name: String
        let values: FindFieldValues

        /// The field a coding key names.
        public init(_ key: some CodingKey) {
            self.init(named: key.stringValue)
        }

        /// A field by a name that is known at run time only; prefer a coding key.
        public init(named name: String) {
            // A related field has as many values as there are related records.
            self.init(named: name, name.contains("::") ? .any : .one)
        }

        private init(named name: String, _ values: FindFieldValues) {
            self.name = name
            self.values = values
        }

        /// The same field of a related table occurrence, as `Table::Field`.
        public func related(_ table: String) -> FindField {
            FindField(named: "\(table)::\(name)")
        }

        /// The field as one that repeats: a condition holds when *any* of the repetitions that the layout shows fulfils it.
        ///
        ///     field(.marks).anyRepetition > 1 && field(.marks).anyRepetition < 5      // 0 and 7 will do
        ///     field(.marks).anyRepetition.isIn(1...5)                                 // one that lies between
        ///
        /// The name of a field does not tell whether it repeats. FileMaker looks at all repetitions either way; what is said
        /// here is how conditions on the field go together. Without it they are taken to be about one and the same value,
        /// so that `> 1 && < 5` is what is greater than 1 without being 5 or more, which is wrong where several values
        /// take part. ``DataAPI/Find/check(against:)`` tells such fields by the layout's metadata. Once a find names a
        /// field so, it does everywhere in the find.
        ///
        /// For a related field it changes nothing: a condition holds when any related record fulfils it.
        public var anyRepetition: FindField {
            FindField(named: name, .any)
        }

        /// One repetition of a repeating field, counted from 1.
        public func repetition(_ number: Int) -> FindField {
            FindField(named: "\(name)(\(number))")
        }
    }
}

// MARK: - Whole values

extension DataAPI.FindField {
    /// The whole value equals this one: `==value`. An empty text finds empty fields.
    public static func == (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        field.find(value) { $0.text.isEmpty ? .isEmpty : .equals($0) }
    }

    /// The value does not equal this one; empty fields are found as well.
    public static func != (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        !(field == value)
    }

    /// The value equals one of these. No values: no records.
    ///
    /// Each value is a request of its own, so that a long list may need a higher limit or more than one call:
    /// ``DataAPI/FindQuery/init(_:sort:script:offset:limit:layoutResponse:portal:noMatch:maximumRequests:maximumCalls:)``.
    public func isOneOf(_ values: some Sequence<some DataAPI.FindValue>) -> DataAPI.Find {
        let alternatives = values.map { (self == $0).expression }
        // No field is empty and not empty. The negation, "every record", needs a field to be said with, so one is kept here.
        return alternatives.isEmpty ? isEmpty && !isEmpty : DataAPI.Find(.or(alternatives))
    }
}

// MARK: - Order

extension DataAPI.FindField {
    /// The value is less: a smaller number, an earlier date or time. Text is compared word by word: any word of the field
    /// may fulfil it.
    public static func < (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        field.comparison(.less, value)
    }

    /// The value is less or equal. Text is compared word by word.
    public static func <= (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        field.comparison(.lessOrEqual, value)
    }

    /// The value is greater: a larger number, a later date or time. Text is compared word by word.
    public static func > (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        field.comparison(.greater, value)
    }

    /// The value is greater or equal. Text is compared word by word.
    public static func >= (field: DataAPI.FindField, value: some DataAPI.FindValue) -> DataAPI.Find {
        field.comparison(.greaterOrEqual, value)
    }

    /// The value lies in a range, both ends included: `field(.age).isIn(18...65)`.
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
    /// The value begins with this text: `==text*`.
    public func begins(with text: String) -> DataAPI.Find {
        pattern(.begins, text)
    }

    /// The text occurs anywhere in the value, also inside a word: `==*text*`.
    public func contains(_ text: String) -> DataAPI.Find {
        pattern(.contains, text)
    }

    /// The value ends with this text: `==*text`.
    public func ends(with text: String) -> DataAPI.Find {
        pattern(.ends, text)
    }

    /// Every word of the text is a word of the value, in any order: `=John =Smith`.
    public func hasWords(_ text: String) -> DataAPI.Find {
        words(text, as: .whole)
    }

    /// Every word of the text is the beginning of a word of the value, in any order: what typing plain text into a field
    /// in Find mode does.
    public func hasWords(beginningWith text: String) -> DataAPI.Find {
        words(text, as: .beginning)
    }

    private func pattern(_ pattern: FindPattern, _ text: String) -> DataAPI.Find {
        text.isEmpty ? unusable("an empty text") : find(.matches(pattern, DataAPI.FindText.escaped(text)))
    }

    private func words(_ text: String, as extent: FindWord.Extent) -> DataAPI.Find {
        let words = DataAPI.FindText.words(of: text)
            .map { FindWord(text: DataAPI.FindText.escaped($0), extent: extent) }
        return words.isEmpty ? unusable("a text without words") : find(.words(words))
    }
}

// MARK: - Without a value

extension DataAPI.FindField {
    /// The field is empty: `=`.
    public var isEmpty: DataAPI.Find { find(.isEmpty) }

    /// The field is not empty: `*`.
    public var isNotEmpty: DataAPI.Find { find(.isNotEmpty) }

    /// Another record of the table has the same value: `!`.
    public var isDuplicated: DataAPI.Find { find(.isDuplicated) }

    /// The date is today's on the host, for date and timestamp fields: `//`.
    public var isToday: DataAPI.Find { find(.isToday) }

    /// A criterion exactly as FileMaker is to read it, operators and all, such as `*/21/*` for the 21st of any month.
    /// Never put text from outside into it.
    public func raw(_ criterion: String) -> DataAPI.Find {
        criterion.allSatisfy(\.isWhitespace) ? unusable("an empty criterion") : find(.raw(criterion))
    }
}

// MARK: - Making criteria

extension DataAPI.FindField {
    private func find(_ test: FindTest) -> DataAPI.Find {
        guard !name.isEmpty, name != DataAPI.FindRequest.omitKey else {
            // In a request, "omit" says that it is one; a field of this name cannot be searched.
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
        value.findText.map { FindOperand(text: DataAPI.FindText.escaped($0), isOrdered: Value.isOrderedInFinds) }
    }

    private func unusable(_ what: String) -> DataAPI.Find {
        DataAPI.Find(.unusable(DataAPI.FindError(.invalidValue, "The field \(name) cannot be searched for \(what).")))
    }
}
