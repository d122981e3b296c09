extension RecordWriter {
    /// Checks the validation rules of the fields of a record. Throws the error of the first rule that fails.
    func validate(_ record: Record, _ table: TableModel, fields: [FieldModel]) throws {
        guard !options.skipsValidation, !options.waitsForCommit else { return }
        for field in fields where field.isStored && !field.isGlobal && field.validation != Solution.Validation() {
            let values = record.values[field.slot..<field.slot + field.repetitions]
            if field.validation.notEmpty, values.allSatisfy(\.isEmpty) { throw FileMakerError(509) }
            for value in values where !value.isEmpty {
                if let code = try failure(of: value.text, field, record, table) { throw FileMakerError(code) }
            }
        }
    }

    private func failure(of text: String, _ field: FieldModel, _ record: Record, _ table: TableModel) throws -> Int? {
        let rules = field.validation
        if rules.numeric, FMNumber(literal: text) == nil { return 502 }
        if let minimum = rules.minimum, Formula.compare(text, minimum) < 0 { return 503 }
        if let maximum = rules.maximum, Formula.compare(text, maximum) > 0 { return 503 }
        if let maximum = rules.maxCharacters, text.count > maximum { return 511 }
        if rules.unique || rules.existing {
            let isElsewhere = holders(of: text, field, table).contains { $0 != record.id }
            if rules.unique, isElsewhere { return 504 }
            if rules.existing, !isElsewhere { return 505 }
        }
        if let name = rules.valueList {
            guard let list = database.valueLists[name] else { return 108 }
            let key = TextFolding.fold(text)
            let values = reader.values(of: list, for: record, database: database)
            // A checkbox set has several values, one per line.
            let isListed = text.split(separator: "\r").allSatisfy { line in
                values.contains { TextFolding.fold($0.value) == TextFolding.fold(String(line)) }
            }
            if !isListed, !values.contains(where: { TextFolding.fold($0.value) == key }) { return 506 }
        }
        if let formula = field.validationFormula {
            let context = RecordContext(reader: reader, record: record, table: table.id)
            if !formula.isTrue(in: context) { return 507 }
        }
        return nil
    }

    private func holders(of text: String, _ field: FieldModel, _ table: TableModel) -> [Int] {
        guard let key = MatchKey(text, type: field.type) else { return [] }
        return world.tables[table.id].records.filter { record in
            record.values[field.slot..<field.slot + field.repetitions].contains {
                MatchKey($0.text, type: field.type) == key
            }
        }
        .map(\.id)
    }
}
