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
        for request in requests {
            let duplicates = request.conditions.map { self.duplicates(for: $0) }
            for (position, record) in records.enumerated() where found[position] == request.isOmit {
                let matches = zip(request.conditions, duplicates).allSatisfy { condition, duplicates in
                    values(
                        of: condition.reference,
                        repetitions: condition.repetitions,
                        from: record,
                        table: table,
                        database: database,
                        all: true
                    )
                    .contains { condition.criterion.matches($0, duplicates: duplicates) }
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
