extension ModelBuilder {
    mutating func addValueLists(_ index: Int) throws {
        for (number, list) in solutions[index].valueLists.enumerated() {
            let place = Place(solution: index)["valueLists", number]
            guard model.databases[index].valueLists[list.name] == nil else {
                throw failure(place["name"], "two value lists named \(list.name)")
            }
            model.databases[index].valueLists[list.name] = ValueListModel(
                name: list.name,
                source: try source(of: list, place)
            )
        }
    }

    private func source(of list: Solution.ValueList, _ place: Place) throws -> ValueListModel.Source {
        guard let field = list.field else { return .custom(list.values ?? []) }
        func occurrence(_ name: String?, _ key: String) throws -> Int {
            guard let name, let index = model.databases[place.solution].occurrenceIndexes[name] else {
                throw failure(place[key], "expected the name of a table occurrence")
            }
            return index
        }
        let target = try occurrence(FieldName(field).occurrence, "field")
        let start = try list.relatedFrom.map { try occurrence($0, "relatedFrom") } ?? target
        // A list whose file is not hosted is empty.
        guard let reference = try reference(field, from: start, place["field"]) else { return .custom([]) }
        let display = try list.displayField.flatMap { try self.reference($0, from: start, place["displayField"]) }
        if list.relatedFrom == nil { return .field(reference, display: display) }
        return .related(occurrence: start, reference, display: display)
    }
}
