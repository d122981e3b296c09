extension ModelBuilder {
    /// The limit of record ids and modIds, well before they could overflow.
    private static let countLimit = 1 << 53

    mutating func addRecords(_ index: Int) throws {
        for (number, table) in model.databases[index].tables.enumerated() {
            let source = solutions[index].tables[number]
            let place = Place(solution: index)["tables", number]
            try addRecords(of: source, to: model.tables[table], place)
            for (name, text) in source.globals.sorted(by: { $0.key < $1.key }) {
                let place = place["globals"][name]
                let (slot, value) = try self.value(text, name, model.tables[table], isGlobal: true, place)
                world.tables[table].globals[slot] = value
            }
        }
    }

    private mutating func addRecords(of source: Solution.Table, to table: TableModel, _ place: Place) throws {
        var records: [Record] = []
        records.reserveCapacity(source.records.count)
        var next = 1
        for (row, record) in source.records.enumerated() {
            let place = place["records", row]
            let recordId = record.recordId ?? next
            guard recordId >= next, recordId < Self.countLimit else {
                throw failure(place["$recordId"], "record ids must grow, from 1 to 2^53")
            }
            guard (0..<Self.countLimit).contains(record.modId) else {
                throw failure(place["$modId"], "expected 0 to 2^53")
            }
            next = recordId + 1
            var values = Array(repeating: FieldValue.empty, count: table.slotCount)
            for (name, text) in record.values {
                let (slot, value) = try value(text, name, table, isGlobal: false, place[name])
                values[slot] = value
            }
            records.append(Record(id: recordId, modId: record.modId, isLocked: record.isLocked, values: values))
        }
        if let number = source.nextRecordId {
            guard (next...Self.countLimit).contains(number) else {
                throw failure(place["nextRecordId"], "expected \(next) or more")
            }
            next = number
        }
        world.tables[table.id].load(records, nextRecordId: next)
        for field in table.fields where field.autoEnter == .serial && field.isStored && !field.isGlobal {
            let greatest = records.compactMap { FMNumber(reading: $0.values[field.slot].text) }.max()
            world.tables[table.id].serials[field.index] = try nextSerial(source, field, place) ?? greatest?.successor
        }
    }

    /// The next serial number if the solution has one. It is needed if the records with the greatest numbers were
    /// deleted.
    private func nextSerial(_ source: Solution.Table, _ field: FieldModel, _ place: Place) throws -> FMNumber? {
        guard let text = source.fields[field.index].nextSerial else { return nil }
        guard let next = FMNumber(literal: text) else {
            throw failure(place["fields", field.index]["nextSerial"], "expected a number")
        }
        return next
    }

    /// The slot of a value, in a record or among the globals, and the value itself.
    private func value(
        _ text: String,
        _ name: String,
        _ table: TableModel,
        isGlobal: Bool,
        _ place: Place
    ) throws -> (slot: Int, value: FieldValue) {
        let name = FieldName(name)
        guard name.occurrence == nil, let field = table.field(named: name.field), field.isStored,
            field.isGlobal == isGlobal
        else {
            throw failure(place, "no such field to hold a value in \(table.name)")
        }
        let repetition = name.repetition ?? 1
        guard (1...field.repetitions).contains(repetition) else {
            throw failure(place, "expected repetitions between 1 and \(field.repetitions)")
        }
        guard let value = FieldValue(text, type: field.type) else {
            throw failure(place, "expected data:<type>;name=<file name>;base64,<bytes>")
        }
        return (field.slot + repetition - 1, value)
    }
}

extension FieldValue {
    /// Reads a value of a solution file. A container is a data URL; nil if it is not. A date, time or timestamp that
    /// can be read is changed to the padded form of the Data API.
    fileprivate init?(_ text: String, type: Solution.FieldType) {
        switch type {
        case .text, .number: self = .text(text)
        case .date: self = .text(DateNotation.us.date(from: text).map(DateNotation.us.write) ?? text)
        case .time: self = .text(CivilTime(text: text)?.text ?? text)
        case .timestamp: self = .text(DateNotation.us.timestamp(from: text).map(DateNotation.us.write) ?? text)
        case .container:
            guard !text.isEmpty else {
                self = .empty
                return
            }
            guard let content = ContainerContent(dataURL: text) else { return nil }
            self = .container(content)
        }
    }
}
