import NIOConcurrencyHelpers

/// A call of a session: what the endpoints of a database share. It holds the state that scripts see and change on the way
/// through one request.
struct Context: Sendable {
    let engine: Engine
    let call: Call
    let session: Session

    var model: Model { engine.model }
    var database: DatabaseModel { engine.model.databases[session.database] }
    var privileges: Solution.PrivilegeSet { session.privileges }

    func reader() -> Reader {
        Reader(model: model, world: engine.world, viewpoint: engine.viewpoint(of: session))
    }

    /// The layout of the path, once the account may see it and its files are open.
    func layout() throws -> LayoutModel { try layout(named: call.route.layout) }

    func layout(named name: String) throws -> LayoutModel {
        guard let layout = database.layouts[name] else { throw FileMakerError(105) }
        guard !privileges.hiddenLayouts.contains(name) else { throw FileMakerError(9) }
        guard !layout.needsMissingFile else { throw FileMakerError(100) }
        for index in layout.foreignDatabases { try open(index) }
        return layout
    }

    /// Opens the file of a data source with what the login said about it, else with the session's own account. This is
    /// where wrong credentials for a data source come to light, and not before.
    private func open(_ index: Int) throws {
        if session.state.withLockedValue({ $0.openedDatabases.contains(index) }) { return }
        let database = model.databases[index]
        let login = session.dataSources.last { $0.database.lowercased() == database.name.lowercased() }
        let account = database.accounts.first { account in
            let name =
                login.map { $0.oauthIdentifier == nil ? $0.user : $0.oauthIdentifier ?? "" } ?? session.account.name
            let password = login?.password ?? session.account.password
            return account.name.lowercased() == name.lowercased() && account.password == password && account.isActive
        }
        guard let account, database.privilegeSets[account.privilegeSet]?.allowsDataAPI == true else {
            throw FileMakerError(212, status: 500)
        }
        session.state.withLockedValue { _ = $0.openedDatabases.insert(index) }
    }

    /// The record id of the path; what is no number names no record.
    func recordId() throws -> Int {
        guard let recordId = Int(call.route.recordId), recordId > 0 else { throw FileMakerError(101) }
        return recordId
    }

    /// `layout.response`, which must be based on the same table.
    func responseLayout(_ name: String?) throws -> LayoutModel? {
        guard let name, !name.isEmpty else { return nil }
        return try layout(named: name)
    }

    /// The sort order of a request: `[{"fieldName": "Name", "sortOrder": "ascend"}]`.
    func sort(_ value: JSONValue?, on layout: LayoutModel) throws -> [SortModel] {
        guard let value else { return [] }
        guard let elements = value.array else { throw FileMakerError(1708) }
        return try elements.map { element in
            guard let object = element.object, let name = object["fieldName"]?.string else {
                throw FileMakerError(1708)
            }
            let order = object["sortOrder"] ?? "ascend"
            guard let order = order.string else { throw FileMakerError(1708) }
            guard let field = layout.field(named: ownName(FieldName(name), on: layout)) else {
                throw FileMakerError(102)
            }
            switch order {
            case "ascend", "": return SortModel(reference: field.reference, order: .ascending)
            case "descend": return SortModel(reference: field.reference, order: .descending)
            default:
                guard let list = database.valueLists[order] else { throw FileMakerError(108) }
                return SortModel(reference: field.reference, order: .valueList(list))
            }
        }
    }

    /// The name a field has on the layout: fields of the layout's own table occurrence are bare.
    func ownName(_ name: FieldName, on layout: LayoutModel) -> String {
        name.occurrence == database.occurrences[layout.occurrence].name ? name.field : name.qualified
    }
}

extension Context {
    func script(named name: String) throws -> ScriptModel {
        guard let script = database.scripts[name] else { throw FileMakerError(104) }
        guard privileges.canRunScripts else { throw FileMakerError(9) }
        return script
    }

    /// Changes records as one commit, and keeps the global values that the change set.
    @discardableResult
    func write<Result>(
        notation: DateNotation = .us,
        options: RecordWriter.Options = RecordWriter.Options(),
        _ body: (inout RecordWriter) throws -> Result
    ) throws -> Result {
        let viewpoint = engine.viewpoint(of: session)
        let (result, globals) = try engine.commit { world in
            var writer = RecordWriter(self, world: world, viewpoint: viewpoint, notation: notation, options: options)
            let result = try body(&writer)
            world = writer.world
            return (result, writer.viewpoint.globals)
        }
        session.state.withLockedValue { $0.globals = globals }
        return result
    }
}
