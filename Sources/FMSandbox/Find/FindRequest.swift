/// One request of a find: criteria that must all match, and whether its matches are added or omitted.
struct FindRequest: Sendable {
    struct Condition: Sendable {
        var reference: FieldReference
        var repetitions: ClosedRange<Int>
        var criterion: Criterion
    }

    var conditions: [Condition]
    var isOmit: Bool
}

extension Reader {
    /// The records that the requests find together: each request in turn adds or omits its matches. If the first one
    /// omits, it starts from all records. Records that the account may not see are left out.
    ///
    /// Source: Claris FileMaker Data API Guide, "Perform a find request".
    func find(_ requests: [FindRequest], table: Int, database: DatabaseModel) -> [Record] {
        let records = world.tables[table].records
        var found = Array(repeating: requests.first?.isOmit ?? false, count: records.count)
        var columns: [FindColumn] = []
        for request in requests {
            let duplicates = request.conditions.map { self.duplicates(for: $0) }
            let places = request.conditions.map { condition in
                if let known = columns.firstIndex(where: { $0.isOf(condition) }) { return known }
                let field = model.tables[condition.reference.table].fields[condition.reference.field]
                columns.append(FindColumn(condition, field.type, keeping: requests.count > 1 ? records.count : 0))
                return columns.count - 1
            }
            for position in records.indices where found[position] == request.isOmit {
                let matches = request.conditions.indices.allSatisfy { number in
                    let criterion = request.conditions[number].criterion
                    return columns[places[number]].contents(at: position) { reference, repetitions in
                        values(
                            of: reference,
                            repetitions: repetitions,
                            from: records[position],
                            table: table,
                            database: database,
                            all: true
                        )
                    }
                    .contains { criterion.matches($0, duplicates: duplicates[number]) }
                }
                if matches { found[position] = !request.isOmit }
            }
        }
        return zip(records, found).filter { $1 && isVisible($0, table: table) }.map(\.0)
    }

    /// The contents of a field that occur in more than one record of its table; computed for `!` only.
    private func duplicates(for condition: FindRequest.Condition) -> Set<MatchKey> {
        guard case .duplicated(let type) = condition.criterion else { return [] }
        let table = condition.reference.table
        let field = model.tables[table].fields[condition.reference.field]
        var seen: Set<MatchKey> = []
        var duplicates: Set<MatchKey> = []
        for record in world.tables[table].records {
            let content = Criterion.content(value(of: field, in: record, table: table).text, type)
            if !seen.insert(content).inserted { duplicates.insert(content) }
        }
        return duplicates
    }
}

/// What the records of a table have in one field, read once for all requests of a find: a find of many keys has a
/// request for each.
private struct FindColumn {
    let reference: FieldReference
    let repetitions: ClosedRange<Int>
    let type: Solution.FieldType
    private var contents: [[FindContent]?]

    /// - Parameter recordCount: of how many records the contents are kept: 0 for a find of one request.
    init(_ condition: FindRequest.Condition, _ type: Solution.FieldType, keeping recordCount: Int) {
        (reference, repetitions, self.type) = (condition.reference, condition.repetitions, type)
        contents = Array(repeating: nil, count: recordCount)
    }

    func isOf(_ condition: FindRequest.Condition) -> Bool {
        reference == condition.reference && repetitions == condition.repetitions
    }

    mutating func contents(
        at position: Int,
        reading read: (FieldReference, ClosedRange<Int>) -> [FieldValue]
    ) -> [FindContent] {
        guard !contents.isEmpty else { return read(reference, repetitions).map { FindContent($0, of: type) } }
        if let known = contents[position] { return known }
        let new = read(reference, repetitions).map { FindContent($0, of: type) }
        contents[position] = new
        return new
    }
}
