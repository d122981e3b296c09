extension DataAPI.Find {
    /// Checks that no condition treats a field that repeats on the layout as a field with one value.
    ///
    /// A field's name does not show whether it repeats. So a find with two conditions on one field, such as
    /// `> 1 && < 5`, may be compiled to requests that have another meaning for several repetitions. Call this in a
    /// test, or at the start of a program that builds its finds at run time:
    ///
    ///     try await find.check(against: layout.getLayoutMetadata().firstValue())
    ///
    /// - Throws: ``DataAPI/FindError/Code/repeatingField`` for a repeating field with several conditions of which none
    ///   uses ``DataAPI/FindField/anyRepetition``.
    public func check(against metaData: DataAPI.Layout.LayoutMetaData) throws(DataAPI.FindError) {
        var tests: [String: Set<FindTest>] = [:]
        for criterion in try FindFormula(expression).criteria where criterion.values == .one {
            tests[criterion.field, default: []].insert(criterion.test)
        }
        for field in metaData.fieldMetaData
        where field.showsSeveralRepetitions && tests[field.name, default: []].count > 1 {
            throw DataAPI.FindError(
                .repeatingField,
                "The field \(field.name) repeats, and conditions on it are taken to be about one value; say anyRepetition."
            )
        }
    }
}

extension DataAPI.Layout.LayoutMetaData.FieldMetaData {
    /// Whether a find searches more than one repetition of the field: those that the layout shows.
    fileprivate var showsSeveralRepetitions: Bool {
        if let repetitionStart, let repetitionEnd { return repetitionEnd > repetitionStart }
        return (repetitions ?? maxRepeat) > 1
    }
}
