extension Reader {
    /// The values of a list. A list of related values is empty without a record.
    func values(
        of list: ValueListModel,
        for record: Record?,
        database: DatabaseModel
    ) -> [(value: String, display: String)] {
        switch list.source {
        case .custom(let values):
            return values.map { ($0, $0) }
        case .field(let reference, let display):
            guard !viewpoint.closedDatabases.contains(model.tables[reference.table].database) else { return [] }
            return values(of: reference, display: display, in: world.tables[reference.table].records, database)
        case .related(let start, let reference, let display):
            guard let record, let table = database.occurrences[start].table else { return [] }
            let records = related(to: record, table: table, along: reference.path, in: database)
            return values(of: reference, display: display, in: records, database)
        }
    }

    private func values(
        of reference: FieldReference,
        display: FieldReference?,
        in records: [Record],
        _ database: DatabaseModel
    ) -> [(value: String, display: String)] {
        let field = model.tables[reference.table].fields[reference.field]
        let shown = display.map { model.tables[$0.table].fields[$0.field] }
        let own = FieldReference(path: [], occurrence: reference.occurrence, table: reference.table, field: field.index)
        var seen: Set<String> = []
        return sorted(
            records,
            by: [SortModel(reference: own, order: .ascending)],
            table: reference.table,
            database: database
        )
        .compactMap { record in
            let text = value(of: field, in: record, table: reference.table).text
            guard !text.isEmpty, seen.insert(text).inserted else { return nil }
            guard let shown, display?.table == reference.table else { return (text, text) }
            return (text, value(of: shown, in: record, table: reference.table).text)
        }
    }
}
