extension ModelBuilder {
    mutating func addTable(_ table: Solution.Table, ofDatabase index: Int, _ place: Place) throws {
        var result = TableModel(
            id: model.tables.count,
            database: index,
            name: table.name,
            fieldIndexes: nameTable()
        )
        for (number, field) in table.fields.enumerated() {
            try add(field, to: &result, among: table.fields, place["fields", number])
        }
        model.tables.append(result)
        world.tables.append(TableState(globalSlots: result.globalSlotCount))
    }

    private func add(
        _ field: Solution.Field,
        to table: inout TableModel,
        among fields: [Solution.Field],
        _ place: Place
    ) throws {
        guard !field.name.isEmpty, !field.name.contains("::") else {
            throw failure(place["name"], "a field name is neither empty nor contains ::")
        }
        guard table.fieldIndexes[field.name] == nil else {
            throw failure(place["name"], "two fields named \(field.name)")
        }
        guard (1...1000).contains(field.repetitions) else {
            throw failure(place["repetitions"], "expected 1 to 1000")
        }
        if let list = field.validation.valueList,
            !solutions[place.solution].valueLists.contains(where: { $0.name == list })
        {
            throw failure(place["validation"]["valueList"], "no value list \(list)")
        }
        let model = FieldModel(
            index: table.fields.count,
            name: field.name,
            type: field.type,
            slot: field.isGlobal ? table.globalSlotCount : table.slotCount,
            repetitions: field.repetitions,
            isGlobal: field.isGlobal,
            content: try content(of: field, among: fields, place),
            autoEnter: field.autoEnter,
            autoEnterFormula: try autoEnterFormula(of: field, place),
            validation: field.validation,
            validationFormula: try field.validation.calculation.map {
                try formula($0, place["validation"]["calculation"])
            },
            prohibitsModification: field.prohibitsModification
        )
        table.fieldIndexes[field.name] = model.index
        table.fields.append(model)
        guard model.isStored else { return }
        if model.isGlobal { table.globalSlotCount += model.repetitions } else { table.slotCount += model.repetitions }
    }

    private func autoEnterFormula(of field: Solution.Field, _ place: Place) throws -> Formula? {
        guard case .calculation(let text, _) = field.autoEnter else { return nil }
        return try formula(text, place["autoEnter"]["calculation"])
    }

    private func content(
        of field: Solution.Field,
        among fields: [Solution.Field],
        _ place: Place
    ) throws -> FieldModel.Content {
        if let calculation = field.calculation {
            return .calculation(try formula(calculation, place["calculation"]))
        }
        guard let summary = field.summary else { return .stored }
        guard let source = fields.firstIndex(where: { $0.name == summary.field }) else {
            throw failure(place["summary"]["field"], "no field \(summary.field)")
        }
        return .summary(summary.function, field: source)
    }
}
