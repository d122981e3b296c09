/// What is wrong with a solution, and where: `tables[2].fields[0].calculation: unknown function Foo`.
public struct SolutionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The database, or the file it was read from.
    public var solution: String
    /// The place in the solution, as a path of keys and indexes.
    public var path: String
    /// What is wrong there.
    public var reason: String

    /// An error at a place in a solution.
    public init(solution: String, path: String, reason: String) {
        self.solution = solution
        self.path = path
        self.reason = reason
    }

    /// The solution, the place and the reason, in one line.
    public var description: String { "\(solution): \(path.isEmpty ? "" : path + ": ")\(reason)" }
}

/// Turns solutions into one ``Model`` and the ``World`` it starts with. Every name is looked up here, so a solution with
/// a loose end never starts.
struct ModelBuilder {
    private let solutions: [Solution]
    private(set) var model = Model()
    private(set) var world = World(tables: [])

    static func build(_ solutions: [Solution]) throws -> (model: Model, world: World) {
        var builder = ModelBuilder(solutions: solutions)
        try builder.addTables()
        for index in solutions.indices { try builder.addGraph(index) }
        for index in solutions.indices { try builder.addLayouts(index) }
        for index in solutions.indices { try builder.addRecords(index) }
        return (builder.model, builder.world)
    }

    private init(solutions: [Solution]) { self.solutions = solutions }

    private func failure(_ index: Int, _ path: String, _ reason: String) -> SolutionError {
        SolutionError(solution: solutions[index].name, path: path, reason: reason)
    }

    private func formula(_ text: String, _ index: Int, _ path: String) throws -> Formula {
        do {
            return try FormulaParser.parse(text)
        } catch let failure as FormulaParser.Failure {
            throw self.failure(index, path, failure.reason)
        }
    }

    // MARK: Tables

    private mutating func addTables() throws {
        for (index, solution) in solutions.enumerated() {
            guard !solution.name.isEmpty else { throw failure(index, "name", "a database needs a name") }
            guard model.database(named: solution.name) == nil else {
                throw failure(index, "name", "two databases of one name")
            }
            guard let format = FileDateFormat(pattern: solution.dateFormat) else {
                throw failure(index, "dateFormat", "expected yyyy, MM and dd with a separator between them")
            }
            let first = model.tables.count
            for (place, table) in solution.tables.enumerated() {
                try addTable(table, index, "tables[\(place)]")
            }
            var database = DatabaseModel(
                index: index,
                name: solution.name,
                tables: first..<model.tables.count,
                fileDateFormat: format
            )
            database.layoutItems = solution.layouts
            database.scriptItems = solution.scripts
            database.accounts =
                solution.accounts.isEmpty ? [Solution.Account(name: "admin", password: "")] : solution.accounts
            for set in [.fullAccess, .readOnlyAccess] + solution.privilegeSets {
                database.privilegeSets[set.name] = set
            }
            for (place, account) in database.accounts.enumerated()
            where database.privilegeSets[account.privilegeSet] == nil {
                throw failure(index, "accounts[\(place)].privilegeSet", "no privilege set \(account.privilegeSet)")
            }
            model.databases.append(database)
        }
    }

    private mutating func addTable(_ table: Solution.Table, _ index: Int, _ path: String) throws {
        var result = TableModel(id: model.tables.count, database: index, name: table.name)
        if solutions[index].tables.count(where: { $0.name == table.name }) > 1 {
            throw failure(index, "\(path).name", "two tables named \(table.name)")
        }
        var globalSlots = 0
        for (place, field) in table.fields.enumerated() {
            let path = "\(path).fields[\(place)]"
            guard !field.name.isEmpty, !field.name.contains("::") else {
                throw failure(index, "\(path).name", "a field name is neither empty nor contains ::")
            }
            guard result.fieldIndexes[field.name] == nil else {
                throw failure(index, "\(path).name", "two fields named \(field.name)")
            }
            guard (1...1000).contains(field.repetitions) else {
                throw failure(index, "\(path).repetitions", "expected 1 to 1000")
            }
            var content = FieldModel.Content.stored
            if let calculation = field.calculation {
                content = .calculation(try formula(calculation, index, "\(path).calculation"))
            } else if let summary = field.summary {
                guard let source = table.fields.firstIndex(where: { $0.name == summary.field }) else {
                    throw failure(index, "\(path).summary.field", "no field \(summary.field)")
                }
                content = .summary(summary.function, field: source)
            }
            let stored = if case .stored = content { true } else { false }
            result.fieldIndexes[field.name] = place
            result.fields.append(
                FieldModel(
                    index: place,
                    name: field.name,
                    type: field.type,
                    slot: field.isGlobal ? globalSlots : result.slotCount,
                    repetitions: field.repetitions,
                    isGlobal: field.isGlobal,
                    content: content,
                    autoEnter: field.autoEnter,
                    validation: field.validation,
                    validationFormula: try field.validation.calculation.map {
                        try formula($0, index, "\(path).validation.calculation")
                    },
                    prohibitsModification: field.prohibitsModification
                )
            )
            guard stored else { continue }
            if field.isGlobal { globalSlots += field.repetitions } else { result.slotCount += field.repetitions }
        }
        model.tables.append(result)
        world.tables.append(TableState(globalSlots: globalSlots))
    }

    // MARK: Graph

    private mutating func addGraph(_ index: Int) throws {
        let solution = solutions[index]
        for table in model.databases[index].tables {
            model.databases[index].occurrences.append(
                OccurrenceModel(name: model.tables[table].name, table: table, database: solution.name)
            )
        }
        for (place, occurrence) in solution.occurrences.enumerated() {
            try addOccurrence(occurrence, index, "occurrences[\(place)]")
        }
        for (place, relationship) in solution.relationships.enumerated() {
            try addRelationship(relationship, index, "relationships[\(place)]")
        }
    }

    private mutating func addOccurrence(_ occurrence: Solution.Occurrence, _ index: Int, _ path: String) throws {
        guard !model.databases[index].occurrences.contains(where: { $0.name == occurrence.name }) else {
            throw failure(index, "\(path).name", "two table occurrences named \(occurrence.name)")
        }
        var owner = model.databases[index].name
        if let name = occurrence.dataSource {
            guard let source = solutions[index].dataSources.first(where: { $0.name == name }) else {
                throw failure(index, "\(path).dataSource", "no data source \(name)")
            }
            owner = source.database
        }
        let hosted = model.database(named: owner)
        let table = hosted?.tables.first { model.tables[$0].name == occurrence.table }
        if hosted != nil, table == nil {
            throw failure(index, "\(path).table", "no table \(occurrence.table) in \(owner)")
        }
        model.databases[index].occurrences.append(
            OccurrenceModel(name: occurrence.name, table: table, database: owner)
        )
    }

    private mutating func addRelationship(
        _ relationship: Solution.Relationship,
        _ index: Int,
        _ path: String
    ) throws {
        let database = model.databases[index]
        func side(_ name: String, _ key: String) throws -> Int {
            guard let occurrence = database.occurrences.firstIndex(where: { $0.name == name }) else {
                throw failure(index, "\(path).\(key)", "no table occurrence \(name)")
            }
            return occurrence
        }
        let (left, right) = (try side(relationship.left, "left"), try side(relationship.right, "right"))
        func field(_ name: String, of occurrence: Int, _ key: String) throws -> Int? {
            guard let table = database.occurrences[occurrence].table else { return nil }
            guard let field = model.tables[table].fieldIndexes[name] else {
                throw failure(index, "\(path).\(key)", "no field \(name) in \(model.tables[table].name)")
            }
            return field
        }
        var matches: [RelationshipModel.Match] = []
        for (place, match) in relationship.matches.enumerated() {
            guard
                let leftField = try field(match.left, of: left, "matches[\(place)].left"),
                let rightField = try field(match.right, of: right, "matches[\(place)].right")
            else { continue }
            matches.append(RelationshipModel.Match(left: leftField, right: rightField, comparison: match.comparison))
        }
        model.databases[index].relationships.append(
            RelationshipModel(
                left: left,
                right: right,
                matches: matches,
                leftRules: relationship.leftRules,
                rightRules: relationship.rightRules
            )
        )
    }

    // MARK: Layouts, value lists, scripts

    private mutating func addLayouts(_ index: Int) throws {
        for (place, list) in solutions[index].valueLists.enumerated() {
            model.databases[index].valueLists[list.name] = try valueList(list, index, "valueLists[\(place)]")
        }
        for layout in solutions[index].layouts.flatMap(\.layouts) where layout.name != "-" {
            let path = "layouts[\(layout.name)]"
            guard model.databases[index].layouts[layout.name] == nil else {
                throw failure(index, path, "two layouts of one name")
            }
            model.databases[index].layouts[layout.name] = try self.layout(layout, index, path)
        }
        for script in solutions[index].scripts.flatMap(\.scripts) where script.name != "-" {
            let path = "scripts[\(script.name)]"
            let steps = try script.steps.enumerated().map { try step($1, index, "\(path).steps[\($0)]") }
            // Of two scripts of one name the first one runs: the Data API gives no way to choose.
            guard model.databases[index].scripts[script.name] == nil else { continue }
            model.databases[index].scripts[script.name] = ScriptModel(
                name: script.name,
                steps: steps,
                handler: solutions[index].handlers[script.name]
            )
        }
    }

    private func layout(_ layout: Solution.Layout, _ index: Int, _ path: String) throws -> LayoutModel {
        let database = model.databases[index]
        guard let occurrence = database.occurrences.firstIndex(where: { $0.name == layout.table }) else {
            throw failure(index, "\(path).table", "no table occurrence \(layout.table)")
        }
        var result = LayoutModel(
            name: layout.name,
            database: index,
            occurrence: occurrence,
            table: database.occurrences[occurrence].table ?? -1,
            view: layout.view
        )
        guard result.table >= 0 else {
            result.needsMissingFile = true
            return result
        }
        for (place, field) in layout.fields.enumerated() {
            let path = "\(path).fields[\(place)]"
            guard let field = try layoutField(field, from: occurrence, index, path) else {
                result.needsMissingFile = true
                continue
            }
            // A field placed twice is one key of the answer.
            guard result.fieldIndexes[field.name] == nil else { continue }
            result.fieldIndexes[field.name] = result.fields.count
            result.fields.append(field)
        }
        for (place, portal) in layout.portals.enumerated() {
            let path = "\(path).portals[\(place)]"
            guard let portal = try self.portal(portal, from: occurrence, index, path) else {
                result.needsMissingFile = true
                continue
            }
            guard result.portal(named: portal.key) == nil else {
                throw failure(index, path, "two portals named \(portal.key)")
            }
            result.portals.append(portal)
        }
        let shown =
            [result.table] + result.fields.map(\.reference.table)
            + result.portals.flatMap { [$0.table] + $0.fields.map(\.reference.table) }
        result.foreignDatabases = Set(shown.map { model.tables[$0].database }).subtracting([index])
        return result
    }

    /// A field as seen from an occurrence, or nil when the file that holds it is not hosted.
    private func reference(_ name: String, from occurrence: Int, _ index: Int, _ path: String) throws -> FieldReference?
    {
        let database = model.databases[index]
        let parsed = FieldName(name)
        let own = database.occurrences[occurrence]
        guard let target = parsed.occurrence, target != own.name else {
            guard let table = own.table else { return nil }
            guard let field = model.tables[table].fieldIndexes[parsed.field] else {
                throw failure(index, path, "no field \(parsed.field) in \(model.tables[table].name)")
            }
            return FieldReference(path: [], occurrence: occurrence, table: table, field: field)
        }
        guard let place = database.occurrences.firstIndex(where: { $0.name == target }) else {
            throw failure(index, path, "no table occurrence \(target)")
        }
        guard database.occurrences[place].table != nil else { return nil }
        guard let result = database.reference(to: target, field: parsed.field, from: occurrence, tables: model.tables)
        else {
            throw failure(index, path, "no field \(name), or no relationship from \(own.name) to \(target)")
        }
        return result
    }

    private func layoutField(
        _ field: Solution.LayoutField,
        from occurrence: Int,
        qualified: Bool = false,
        _ index: Int,
        _ path: String
    ) throws -> LayoutFieldModel? {
        guard let reference = try reference(field.field, from: occurrence, index, path) else { return nil }
        let model = self.model.tables[reference.table].fields[reference.field]
        let last = min(field.lastRepetition ?? model.repetitions, model.repetitions)
        guard field.firstRepetition >= 1, field.firstRepetition <= last else {
            throw failure(index, path, "expected repetitions between 1 and \(model.repetitions)")
        }
        if let list = field.valueList, !solutions[index].valueLists.contains(where: { $0.name == list }) {
            throw failure(index, "\(path).valueList", "no value list \(list)")
        }
        let isForeign = qualified || !reference.path.isEmpty
        return LayoutFieldModel(
            name: isForeign
                ? "\(self.model.databases[index].occurrences[reference.occurrence].name)::\(model.name)" : model.name,
            reference: reference,
            display: field.display,
            valueList: field.valueList,
            repetitions: field.firstRepetition...last
        )
    }

    private func portal(
        _ portal: Solution.Portal,
        from occurrence: Int,
        _ index: Int,
        _ path: String
    ) throws -> PortalModel? {
        let database = model.databases[index]
        guard let target = database.occurrences.firstIndex(where: { $0.name == portal.table }) else {
            throw failure(index, "\(path).table", "no table occurrence \(portal.table)")
        }
        guard let table = database.occurrences[target].table else { return nil }
        guard let hops = database.path(from: occurrence, to: target), !hops.isEmpty else {
            throw failure(index, "\(path).table", "no relationship to \(portal.table)")
        }
        var fields: [LayoutFieldModel] = []
        for (place, field) in portal.fields.enumerated() {
            let path = "\(path).fields[\(place)]"
            guard let field = try layoutField(field, from: target, qualified: true, index, path) else { return nil }
            fields.append(field)
        }
        var sort: [SortModel] = []
        for (place, order) in portal.sort.enumerated() {
            let path = "\(path).sort[\(place)]"
            guard let reference = try reference(order.field, from: target, index, path) else { return nil }
            sort.append(SortModel(reference: reference, order: try self.order(order.order, index, path)))
        }
        return PortalModel(
            key: portal.name ?? portal.table,
            objectName: portal.name,
            occurrence: target,
            table: table,
            path: hops,
            fields: fields,
            firstRow: max(1, portal.firstRow),
            rowCount: portal.rowCount,
            sort: sort,
            filter: try portal.filter.map { try formula($0, index, "\(path).filter") },
            allowsDeletion: portal.allowsDeletion
        )
    }

    private func order(_ name: String, _ index: Int, _ path: String) throws -> SortModel.Order {
        switch name {
        case "ascend": return .ascending
        case "descend": return .descending
        default:
            guard let place = solutions[index].valueLists.firstIndex(where: { $0.name == name }) else {
                throw failure(index, path, "neither ascend, descend nor a value list: \(name)")
            }
            return .valueList(try valueList(solutions[index].valueLists[place], index, "valueLists[\(place)]"))
        }
    }

    private func valueList(_ list: Solution.ValueList, _ index: Int, _ path: String) throws -> ValueListModel {
        guard let field = list.field else {
            return ValueListModel(name: list.name, source: .custom(list.values ?? []))
        }
        let database = model.databases[index]
        func place(_ name: String?, _ key: String) throws -> Int {
            guard let name, let place = database.occurrences.firstIndex(where: { $0.name == name }) else {
                throw failure(index, "\(path).\(key)", "expected a field as Occurrence::Field")
            }
            return place
        }
        let target = try place(FieldName(field).occurrence, "field")
        let start = try list.relatedFrom.map { try place($0, "relatedFrom") } ?? target
        guard let reference = try reference(field, from: start, index, "\(path).field") else {
            return ValueListModel(name: list.name, source: .custom([]))
        }
        let display = try list.displayField.flatMap {
            try self.reference($0, from: start, index, "\(path).displayField")
        }
        return ValueListModel(
            name: list.name,
            source: list.relatedFrom == nil
                ? .field(reference, display: display) : .related(occurrence: start, reference, display: display)
        )
    }

    private func step(_ step: Solution.Step, _ index: Int, _ path: String) throws -> StepModel {
        func steps(_ steps: [Solution.Step], _ key: String) throws -> [StepModel] {
            try steps.enumerated().map { try self.step($1, index, "\(path).\(key)[\($0)]") }
        }
        switch step {
        case .set(let target, let value): return .set(target, try formula(value, index, "\(path).to"))
        case .exit(let result): return .exit(try formula(result, index, "\(path).exit"))
        case .error(let code): return .error(code)
        case .loop(let body): return .loop(try steps(body, "loop"))
        case .branch(let condition, let then, let otherwise):
            return .branch(
                try formula(condition, index, "\(path).if"),
                then: try steps(then, "then"),
                else: try steps(otherwise, "else")
            )
        case .goToLayout(let name):
            guard solutions[index].layouts.flatMap(\.layouts).contains(where: { $0.name == name }) else {
                throw failure(index, "\(path).goToLayout", "no layout \(name)")
            }
            return .goToLayout(name)
        case .constrain(let condition): return .constrain(try formula(condition, index, "\(path).constrain"))
        case .showAll: return .showAll
        case .newRecord: return .newRecord
        case .deleteRecord: return .deleteRecord
        case .wait(let seconds):
            guard (0...86_400).contains(seconds) else {
                throw failure(index, "\(path).wait", "expected 0 to 86400 seconds")
            }
            return .wait(seconds)
        }
    }

    // MARK: Records

    private mutating func addRecords(_ index: Int) throws {
        for (place, table) in zip(model.databases[index].tables, solutions[index].tables).map({ ($0, $1) }).enumerated()
        {
            let path = "tables[\(place)].records"
            let (id, source) = table
            let schema = model.tables[id]
            var records: [Record] = []
            records.reserveCapacity(source.records.count)
            var next = 1
            for (row, record) in source.records.enumerated() {
                let recordId = record.recordId ?? next
                guard recordId >= next, recordId < Int.max else {
                    throw failure(index, "\(path)[\(row)].$recordId", "record ids must grow")
                }
                next = recordId + 1
                var values = Array(repeating: FieldValue.empty, count: schema.slotCount)
                for (name, text) in record.values {
                    try set(text, name, &values, schema, index, "\(path)[\(row)].\(name)")
                }
                records.append(Record(id: recordId, modId: record.modId, isLocked: record.isLocked, values: values))
            }
            world.tables[id].load(records, nextRecordId: next)
            for field in schema.fields where field.autoEnter == .serial {
                world.tables[id].serials[field.index] =
                    records.compactMap { FMNumber(reading: $0.values[field.slot].text) }.max()
            }
        }
    }

    private mutating func set(
        _ text: String,
        _ name: String,
        _ values: inout [FieldValue],
        _ table: TableModel,
        _ index: Int,
        _ path: String
    ) throws {
        let name = FieldName(name)
        guard name.occurrence == nil, let field = table.field(named: name.field), field.isStored else {
            throw failure(index, path, "no such field to hold a value in \(table.name)")
        }
        let repetition = name.repetition ?? 1
        guard (1...field.repetitions).contains(repetition) else {
            throw failure(index, path, "expected repetitions between 1 and \(field.repetitions)")
        }
        var value = FieldValue.text(text)
        if field.type == .container, !text.isEmpty {
            guard let content = ContainerContent(dataURL: text) else {
                throw failure(index, path, "expected data:<type>;name=<file name>;base64,<bytes>")
            }
            value = .container(content)
        }
        if field.isGlobal {
            world.tables[table.id].globals[field.slot + repetition - 1] = value
        } else {
            values[field.slot + repetition - 1] = value
        }
    }
}
