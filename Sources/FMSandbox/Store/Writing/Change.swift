/// A value for one repetition of a field.
struct Change: Sendable {
    var field: FieldModel
    var repetition: Int
    var value: FieldValue
}

extension RecordWriter {
    /// Parses a request's value for a field, in the date notation of the request.
    func change(_ value: JSONValue, to field: FieldModel, repetition: Int?, in table: Int) throws -> Change {
        let privileges = privileges(table)
        let qualified = "\(model.tables[table].name)::\(field.name)"
        guard !privileges.hiddenFields.contains(qualified) else { throw FileMakerError(202) }
        guard field.isStored, !privileges.readOnlyFields.contains(qualified),
            !field.prohibitsModification || options.skipsProhibition
        else { throw FileMakerError(201) }
        let repetition = repetition ?? 1
        guard (1...field.repetitions).contains(repetition) else { throw FileMakerError(111) }
        // null, booleans, arrays and objects cannot be field values.
        guard let text = value.scalarText else { throw FileMakerError(1708) }
        return Change(field: field, repetition: repetition, value: try self.value(text, for: field))
    }

    /// Changes from values by field name, in the order of the names.
    func changes(_ values: [String: String], in table: Int) throws -> [Change] {
        try values.sorted { $0.key < $1.key }.map { name, value in
            let name = FieldName(name)
            guard let field = model.tables[table].field(named: name.field) else { throw FileMakerError(102) }
            return try change(.string(value), to: field, repetition: name.repetition, in: table)
        }
    }

    private func value(_ text: String, for field: FieldModel) throws -> FieldValue {
        guard !text.isEmpty else { return .empty }
        switch field.type {
        case .text, .number:
            return .text(text)
        case .date:
            guard let date = notation.date(from: text) else { throw FileMakerError(500) }
            return .text(DateNotation.us.write(date))
        case .time:
            guard let time = CivilTime(text: text) else { throw FileMakerError(501) }
            return .text(time.text)
        case .timestamp:
            guard let timestamp = notation.timestamp(from: text) else { throw FileMakerError(500) }
            return .text(DateNotation.us.write(timestamp))
        case .container:
            // Only an upload fills a container; a write can only empty it.
            throw FileMakerError(408)
        }
    }
}
