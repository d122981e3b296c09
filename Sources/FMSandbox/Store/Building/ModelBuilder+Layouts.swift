extension ModelBuilder {
    mutating func addLayouts(_ index: Int) throws {
        // A layout named `-` is a separator in the list.
        for layout in solutions[index].layouts.flatMap(\.layouts) where layout.name != "-" {
            let place = Place(solution: index)["layouts", layout.name]
            guard model.databases[index].layouts[layout.name] == nil else {
                throw failure(place, "two layouts of one name")
            }
            model.databases[index].layouts[layout.name] = try self.layout(layout, place)
        }
    }

    private func layout(_ layout: Solution.Layout, _ place: Place) throws -> LayoutModel {
        let database = model.databases[place.solution]
        guard let occurrence = database.occurrenceIndexes[layout.table] else {
            throw failure(place["table"], "no table occurrence \(layout.table)")
        }
        var result = LayoutModel(
            name: layout.name,
            database: place.solution,
            occurrence: occurrence,
            table: database.occurrences[occurrence].table ?? -1,
            fieldIndexes: nameTable(),
            portalIndexes: nameTable(),
            view: layout.view
        )
        guard result.table >= 0 else {
            result.needsMissingFile = true
            return result
        }
        for (number, field) in layout.fields.enumerated() {
            guard !field.field.isEmpty else {
                result.deletedFields.append(result.fields.count)
                continue
            }
            guard let field = try layoutField(field, from: occurrence, place["fields", number]) else {
                result.needsMissingFile = true
                continue
            }
            // A field that is placed twice has only one key in answers.
            guard result.fieldIndexes[field.name] == nil else { continue }
            result.fieldIndexes[field.name] = result.fields.count
            result.fields.append(field)
        }
        for (number, portal) in layout.portals.enumerated() {
            let place = place["portals", number]
            guard let portal = try self.portal(portal, from: occurrence, place) else {
                result.needsMissingFile = true
                continue
            }
            if let first = result.portal(named: portal.key) {
                // Object names must be unique. Portals without one are named by their occurrence, and several may have
                // the same.
                guard first.objectName == nil, portal.objectName == nil else {
                    throw failure(place, "two portals named \(portal.key)")
                }
            } else {
                result.portalIndexes[portal.key] = result.portals.count
            }
            result.portals.append(portal)
        }
        let shown =
            [result.table] + result.fields.map(\.reference.table)
            + result.portals.flatMap { [$0.table] + $0.fields.map(\.reference.table) }
        result.foreignDatabases = Set(shown.map { model.tables[$0].database }).subtracting([place.solution])
        return result
    }

    /// A field on a layout or in a portal, where names are always qualified; nil if its file is not hosted.
    private func layoutField(
        _ field: Solution.LayoutField,
        from occurrence: Int,
        qualified: Bool = false,
        _ place: Place
    ) throws -> LayoutFieldModel? {
        guard let reference = try reference(field.field, from: occurrence, place) else { return nil }
        let model = self.model.tables[reference.table].fields[reference.field]
        let last = min(field.lastRepetition ?? model.repetitions, model.repetitions)
        guard field.firstRepetition >= 1, field.firstRepetition <= last else {
            throw failure(place, "expected repetitions between 1 and \(model.repetitions)")
        }
        let database = self.model.databases[place.solution]
        if let list = field.valueList, database.valueLists[list] == nil {
            throw failure(place["valueList"], "no value list \(list)")
        }
        let isForeign = qualified || !reference.path.isEmpty
        let owner = database.occurrences[reference.occurrence].name
        return LayoutFieldModel(
            name: isForeign ? "\(owner)::\(model.name)" : model.name,
            reference: reference,
            display: field.display,
            valueList: field.valueList,
            repetitions: field.firstRepetition...last
        )
    }

    private func portal(_ portal: Solution.Portal, from occurrence: Int, _ place: Place) throws -> PortalModel? {
        let database = model.databases[place.solution]
        guard let target = database.occurrenceIndexes[portal.table] else {
            throw failure(place["table"], "no table occurrence \(portal.table)")
        }
        guard let table = database.occurrences[target].table else { return nil }
        guard let hops = database.path(from: occurrence, to: target), !hops.isEmpty else {
            throw failure(place["table"], "no relationship to \(portal.table)")
        }
        guard portal.firstRow >= 1 else { throw failure(place["firstRow"], "expected 1 or more") }
        guard portal.rowCount ?? 0 >= 0 else { throw failure(place["rowCount"], "expected no negative number") }
        var fields: [LayoutFieldModel] = []
        var indexes: NameTable<Int> = nameTable()
        for (number, field) in portal.fields.enumerated() {
            let place = place["fields", number]
            guard let field = try layoutField(field, from: target, qualified: true, place) else { return nil }
            guard indexes[field.name] == nil else { continue }
            indexes[field.name] = fields.count
            fields.append(field)
        }
        guard let sort = try sort(portal.sort, from: target, place) else { return nil }
        return PortalModel(
            key: portal.name ?? portal.table,
            objectName: portal.name,
            occurrence: target,
            table: table,
            path: hops,
            fields: fields,
            fieldIndexes: indexes,
            firstRow: portal.firstRow,
            rowCount: portal.rowCount,
            sort: sort,
            filter: try portal.filter.map { try formula($0, place["filter"]) },
            allowsDeletion: portal.allowsDeletion
        )
    }
}
