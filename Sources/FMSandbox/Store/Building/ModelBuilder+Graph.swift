/// Adds table occurrences and relationships, and resolves the fields that are reachable along relationships.
extension ModelBuilder {
    mutating func addGraph(_ index: Int) throws {
        let solution = solutions[index]
        let place = Place(solution: index)
        for table in model.databases[index].tables {
            append(OccurrenceModel(name: model.tables[table].name, table: table, database: solution.name), index)
        }
        for (number, occurrence) in solution.occurrences.enumerated() {
            try addOccurrence(occurrence, place["occurrences", number])
        }
        for (number, relationship) in solution.relationships.enumerated() {
            try addRelationship(relationship, place["relationships", number])
        }
    }

    private mutating func append(_ occurrence: OccurrenceModel, _ index: Int) {
        model.databases[index].occurrenceIndexes[occurrence.name] = model.databases[index].occurrences.count
        model.databases[index].occurrences.append(occurrence)
    }

    private mutating func addOccurrence(_ occurrence: Solution.Occurrence, _ place: Place) throws {
        let index = place.solution
        guard model.databases[index].occurrenceIndexes[occurrence.name] == nil else {
            throw failure(place["name"], "two table occurrences named \(occurrence.name)")
        }
        var owner = model.databases[index].name
        if let name = occurrence.dataSource {
            guard let source = solutions[index].dataSources.first(where: { $0.name == name }) else {
                throw failure(place["dataSource"], "no data source \(name)")
            }
            owner = source.database
        }
        let hosted = model.database(named: owner)
        let table = hosted?.tables.first { model.tables[$0].name == occurrence.table }
        if hosted != nil, table == nil {
            throw failure(place["table"], "no table \(occurrence.table) in \(owner)")
        }
        append(OccurrenceModel(name: occurrence.name, table: table, database: owner), index)
    }

    private mutating func addRelationship(_ relationship: Solution.Relationship, _ place: Place) throws {
        let database = model.databases[place.solution]
        func side(_ name: String, _ rules: Solution.Relationship.Rules, _ key: String) throws -> RelationshipModel.Side
        {
            guard let occurrence = database.occurrenceIndexes[name] else {
                throw failure(place[key], "no table occurrence \(name)")
            }
            return RelationshipModel.Side(
                occurrence: occurrence,
                allowsCreation: rules.allowsCreation,
                deletesWithOther: rules.deletesWithOther
            )
        }
        func field(_ name: String, of side: RelationshipModel.Side, _ place: Place) throws -> Int? {
            guard let table = database.occurrences[side.occurrence].table else { return nil }
            guard let field = model.tables[table].fieldIndexes[name] else {
                throw failure(place, "no field \(name) in \(model.tables[table].name)")
            }
            return field
        }
        var result = RelationshipModel(
            left: try side(relationship.left, relationship.leftRules, "left"),
            right: try side(relationship.right, relationship.rightRules, "right"),
            matches: []
        )
        for (number, match) in relationship.matches.enumerated() {
            let place = place["matches", number]
            guard let left = try field(match.left, of: result.left, place["left"]),
                let right = try field(match.right, of: result.right, place["right"])
            else { continue }
            result.matches.append(.init(left: left, right: right, comparison: match.comparison))
        }
        model.databases[place.solution].relationships.append(result)
    }

    /// Adds the sort orders of relationships. This is a separate step because they may use value lists, which may use
    /// relationships.
    mutating func addSortOrders(_ index: Int) throws {
        for (number, relationship) in solutions[index].relationships.enumerated() {
            let place = Place(solution: index)["relationships", number]
            let sides = model.databases[index].relationships[number]
            let left = try sort(relationship.leftRules.sort, from: sides.left.occurrence, place["leftRules"])
            let right = try sort(relationship.rightRules.sort, from: sides.right.occurrence, place["rightRules"])
            model.databases[index].relationships[number].left.sort = left ?? []
            model.databases[index].relationships[number].right.sort = right ?? []
        }
    }

    /// A sort order as seen from an occurrence; nil if a file that it needs is not hosted.
    func sort(_ orders: [Solution.SortOrder], from occurrence: Int, _ place: Place) throws -> [SortModel]? {
        var sort: [SortModel] = []
        for (number, order) in orders.enumerated() {
            let place = place["sort", number]
            guard let reference = try reference(order.field, from: occurrence, place["field"]) else { return nil }
            switch order.order {
            case "ascend": sort.append(SortModel(reference: reference, order: .ascending))
            case "descend": sort.append(SortModel(reference: reference, order: .descending))
            default:
                guard let list = model.databases[place.solution].valueLists[order.order] else {
                    throw failure(place["order"], "neither ascend, descend nor a value list: \(order.order)")
                }
                sort.append(SortModel(reference: reference, order: .valueList(list)))
            }
        }
        return sort
    }

    /// A field as seen from an occurrence; nil if its file is not hosted.
    func reference(_ name: String, from occurrence: Int, _ place: Place) throws -> FieldReference? {
        let database = model.databases[place.solution]
        let parsed = FieldName(name)
        let own = database.occurrences[occurrence]
        guard let target = parsed.occurrence, target != own.name else {
            guard let table = own.table else { return nil }
            guard let field = model.tables[table].fieldIndexes[parsed.field] else {
                throw failure(place, "no field \(parsed.field) in \(model.tables[table].name)")
            }
            return FieldReference(path: [], occurrence: occurrence, table: table, field: field)
        }
        guard let index = database.occurrenceIndexes[target] else {
            throw failure(place, "no table occurrence \(target)")
        }
        guard database.occurrences[index].table != nil else { return nil }
        guard let result = database.reference(to: target, field: parsed.field, from: occurrence, tables: model.tables)
        else {
            throw failure(place, "no field \(name), or no relationship from \(own.name) to \(target)")
        }
        return result
    }
}
