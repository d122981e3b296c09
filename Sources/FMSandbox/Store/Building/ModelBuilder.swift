/// Turns solutions into one ``Model`` and its initial ``World``. Every name is resolved here, so a solution that refers
/// to something missing does not start.
///
/// Each pass uses what the passes before it have added for all solutions, because a relationship may lead into another
/// file.
struct ModelBuilder {
    /// A place in a solution, for errors.
    struct Place {
        var solution: Int
        var path = ""

        subscript(key: String) -> Place { Place(solution: solution, path: path.isEmpty ? key : "\(path).\(key)") }
        subscript(key: String, index: Int) -> Place { self["\(key)[\(index)]"] }
        subscript(key: String, name: String) -> Place { self["\(key)[\(name)]"] }
    }

    let solutions: [Solution]
    private let ignoresNameCase: Bool
    var model = Model()
    var world = World(tables: [])

    static func build(_ solutions: [Solution], ignoresNameCase: Bool = false) throws -> (model: Model, world: World) {
        var builder = ModelBuilder(solutions: solutions, ignoresNameCase: ignoresNameCase)
        for index in solutions.indices { try builder.addDatabase(index) }
        for index in solutions.indices { try builder.addGraph(index) }
        for index in solutions.indices { try builder.addValueLists(index) }
        for index in solutions.indices { try builder.addSortOrders(index) }
        for index in solutions.indices {
            try builder.addLayouts(index)
            try builder.addScripts(index)
            try builder.addPrivilegeSets(index)
            try builder.addRecords(index)
        }
        return (builder.model, builder.world)
    }

    private init(solutions: [Solution], ignoresNameCase: Bool) {
        self.solutions = solutions
        self.ignoresNameCase = ignoresNameCase
    }

    // MARK: Shared by the passes

    func failure(_ place: Place, _ reason: String) -> SolutionError {
        SolutionError(solution: solutions[place.solution].name, path: place.path, reason: reason)
    }

    func formula(_ text: String, _ place: Place) throws -> Formula {
        do {
            return try FormulaParser.parse(text)
        } catch let failure as FormulaParser.Failure {
            throw self.failure(place, failure.reason)
        }
    }

    func nameTable<Value>(of _: Value.Type = Value.self) -> NameTable<Value> {
        NameTable(ignoresCase: ignoresNameCase)
    }

    // MARK: Databases

    private mutating func addDatabase(_ index: Int) throws {
        let solution = solutions[index]
        let place = Place(solution: index)
        guard !solution.name.isEmpty else { throw failure(place["name"], "a database needs a name") }
        guard model.database(named: solution.name) == nil else {
            throw failure(place["name"], "two databases of one name")
        }
        guard let format = FileDateFormat(pattern: solution.dateFormat) else {
            throw failure(place["dateFormat"], "expected yyyy, MM and dd with a separator between them")
        }
        let first = model.tables.count
        var names: NameTable<Bool> = nameTable()
        for (number, table) in solution.tables.enumerated() {
            let place = place["tables", number]
            guard names[table.name] == nil else { throw failure(place["name"], "two tables named \(table.name)") }
            names[table.name] = true
            try addTable(table, ofDatabase: index, place)
        }
        var database = DatabaseModel(
            index: index,
            name: solution.name,
            tables: first..<model.tables.count,
            occurrenceIndexes: nameTable(),
            layouts: nameTable(),
            valueLists: nameTable(),
            scripts: nameTable(),
            fileDateFormat: format
        )
        database.commitLog = database.tables.first { model.tables[$0].name == solution.commitLog }
        database.layoutItems = solution.layouts
        database.scriptItems = solution.scripts
        database.accounts =
            solution.accounts.isEmpty ? [Solution.Account(name: "admin", password: "")] : solution.accounts
        model.databases.append(database)
    }

    // MARK: Privileges

    private mutating func addPrivilegeSets(_ index: Int) throws {
        let place = Place(solution: index)
        for set in [Solution.PrivilegeSet.fullAccess, .readOnlyAccess] {
            model.databases[index].privilegeSets[set.name] = set
        }
        for (number, set) in solutions[index].privilegeSets.enumerated() {
            let place = place["privilegeSets", number]
            try check(set, place)
            model.databases[index].privilegeSets[set.name] = set
            model.databases[index].visibleRecords[set.name] = try conditions(of: set, place)
        }
        for (number, account) in model.databases[index].accounts.enumerated()
        where model.databases[index].privilegeSets[account.privilegeSet] == nil {
            throw failure(place["accounts", number]["privilegeSet"], "no privilege set \(account.privilegeSet)")
        }
    }

    private func conditions(of set: Solution.PrivilegeSet, _ place: Place) throws -> [Int: Formula] {
        var conditions: [Int: Formula] = [:]
        for (name, text) in set.visibleRecords.sorted(by: { $0.key < $1.key }) {
            let place = place["visibleRecords", name]
            let tables = model.databases[place.solution].tables
            guard let table = tables.first(where: { model.tables[$0].name == name }) else {
                throw failure(place, "no table \(name)")
            }
            let condition = try formula(text, place)
            for field in condition.fieldNames.sorted() where FieldName(field).occurrence == nil {
                guard model.tables[table].field(named: field) != nil else { throw failure(place, "no field \(field)") }
            }
            conditions[table] = condition
        }
        return conditions
    }

    /// Throws if the set names a layout or a field that does not exist, because it would protect nothing.
    private func check(_ set: Solution.PrivilegeSet, _ place: Place) throws {
        let database = model.databases[place.solution]
        let layouts = solutions[place.solution].layouts.flatMap(\.layouts)
        for (number, name) in set.hiddenLayouts.enumerated() where !layouts.contains(where: { $0.name == name }) {
            throw failure(place["hiddenLayouts", number], "no layout \(name)")
        }
        let fields = database.tables.flatMap { table in
            model.tables[table].fields.map { "\(model.tables[table].name)::\($0.name)" }
        }
        for (key, names) in [("hiddenFields", set.hiddenFields), ("readOnlyFields", set.readOnlyFields)] {
            for (number, name) in names.enumerated() where !fields.contains(name) {
                throw failure(place[key, number], "no field \(name)")
            }
        }
    }
}
