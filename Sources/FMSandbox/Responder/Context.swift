import NIOConcurrencyHelpers

/// A call within a session, with what the endpoints of a database share. It gives access to the state that scripts read
/// and change during a request.
struct Context: Sendable {
    let engine: Engine
    let call: Call
    let session: Session

    var model: Model { engine.model }
    var database: DatabaseModel { engine.model.databases[session.database] }
    var privileges: Solution.PrivilegeSet { session.privileges }

    /// The session's privileges in a table. For the table of a data source, they are those of the account that opened
    /// its file.
    func privileges(in table: Int) -> Solution.PrivilegeSet {
        let owner = model.tables[table].database
        return session.state.withLockedValue { $0.openedDatabases[owner] } ?? session.privileges
    }

    /// The date format of the request: `dateformats`, from the query or the body.
    func notation() throws -> DateNotation {
        guard let value = call.query["dateformats"].map(JSONValue.string) ?? call.body["dateformats"] else {
            return .us
        }
        switch value.scalarText {
        case "0": return .us
        case "1": return .file(database.fileDateFormat)
        case "2": return .iso(engine.traits.isoTimestampSeparator)
        default: throw FileMakerError(960)
        }
    }

    func reader() -> Reader {
        Reader(model: model, world: engine.world, viewpoint: engine.viewpoint(of: session))
    }

    /// The layout of the path. Throws if the account may not see it or its files cannot be opened.
    func layout() throws -> LayoutModel { try layout(named: call.route.layout) }

    func layout(named name: String) throws -> LayoutModel {
        guard session.state.withLockedValue(\.hasWindow) else { throw FileMakerError(112) }
        guard let layout = database.layouts[name] else { throw FileMakerError(105) }
        guard !privileges.hiddenLayouts.contains(layout.name) else { throw FileMakerError(9) }
        guard !layout.needsMissingFile else { throw FileMakerError(100) }
        for index in layout.foreignDatabases { try open(index, isOwner: index == model.tables[layout.table].database) }
        return layout
    }

    /// Opens the file of a data source with the credentials that the login gave for it, else with the session's own
    /// account. Wrong credentials for a data source cause an error here, not at the login.
    ///
    /// - Parameter isOwner: Whether the layout's records are in that file, so that the layout cannot be used without
    ///   it.
    private func open(_ index: Int, isOwner: Bool) throws {
        let isClosed = session.state.withLockedValue { $0.closedDatabases.contains(index) }
        guard !isOwner || !isClosed else { throw FileMakerError(212, status: 500) }
        if isClosed || session.state.withLockedValue({ $0.openedDatabases[index] }) != nil { return }
        let database = model.databases[index]
        let login = session.dataSources.last { $0.database.lowercased() == database.name.lowercased() }
        let account =
            switch login?.credentials {
            case .account(let name, let password):
                database.account(.fileMaker, name: name, password: password)
            case .oauth(let requestId, let identifier):
                engine.withState { $0.oauth.redeem(requestId: requestId, identifier: identifier) }
                    .flatMap { database.account(.oauth, name: $0) }
            case nil:
                database.account(session.account.kind, name: session.account.name, password: session.account.password)
            }
        if let account, account.isActive, let privileges = database.privilegeSets[account.privilegeSet],
            privileges.allowsDataAPI
        {
            session.state.withLockedValue { $0.openedDatabases[index] = privileges }
            return
        }
        switch engine.traits.dataSourceWithoutAccount {
        case .emptyValues where login == nil && !isOwner:
            session.state.withLockedValue { state in
                state.closedDatabases.insert(index)
                state.openedDatabases[index] = .noAccess
            }
        case .fileNotOpened where login == nil: throw FileMakerError(802)
        case .emptyValues, .invalidAccount, .fileNotOpened: throw FileMakerError(212, status: 500)
        }
    }

    /// The session's found set in a table: the one that the last find or script set, otherwise all records.
    ///
    /// - Parameter world: The world as a transaction sees it; nil for the committed world.
    func foundSet(in table: Int, of world: World? = nil) -> [Int] {
        let records = (world ?? engine.world).tables[table]
        let kept = session.state.withLockedValue { $0.foundSets[table] }
        // Some of the records may have been deleted since.
        return kept?.filter { records.position(of: $0) != nil } ?? records.records.map(\.id)
    }

    /// Keeps a found set for later requests and scripts. A found set of all records keeps growing with the table.
    func keep(_ foundSet: [Int], in table: Int, of world: World? = nil) {
        let isWhole = foundSet.elementsEqual((world ?? engine.world).tables[table].records.lazy.map(\.id))
        session.state.withLockedValue { $0.foundSets[table] = isWhole ? nil : foundSet }
    }

    /// The record id of the path. Throws 101 if it is not a number.
    func recordId() throws -> Int {
        guard let recordId = Int(call.route.recordId), recordId > 0 else { throw FileMakerError(101) }
        return recordId
    }

    /// The layout that `layout.response` names. A layout of another table is refused, because it is not known what a
    /// host answers.
    func responseLayout(_ name: String?, for layout: LayoutModel) throws -> LayoutModel? {
        guard let name, !name.isEmpty else { return nil }
        let response = try self.layout(named: name)
        guard response.table == layout.table else {
            throw FileMakerError(960, message: "Parameter is invalid: layout.response is a layout of another table")
        }
        return response
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
            let model = self.model.tables[field.reference.table].fields[field.reference.field]
            guard !model.isSummary, model.type != .container else { throw FileMakerError(404) }
            guard !isHidden(model, in: field.reference.table) else { throw FileMakerError(204) }
            switch order {
            case "ascend", "": return SortModel(reference: field.reference, order: .ascending)
            case "descend": return SortModel(reference: field.reference, order: .descending)
            default:
                guard let list = database.valueLists[order] else { throw FileMakerError(108) }
                return SortModel(reference: field.reference, order: .valueList(list))
            }
        }
    }

    /// The name that a field has on the layout: fields of the layout's own table occurrence are unqualified.
    func ownName(_ name: FieldName, on layout: LayoutModel) -> String {
        name.occurrence.flatMap { database.occurrenceIndexes[$0] } == layout.occurrence ? name.field : name.qualified
    }

    /// Whether the session's account may not see a field.
    func isHidden(_ field: FieldModel, in table: Int) -> Bool {
        privileges(in: table).hiddenFields.contains("\(model.tables[table].name)::\(field.name)")
    }
}

extension Context {
    func script(named name: String) throws -> ScriptModel {
        guard let script = database.scripts[name] else { throw FileMakerError(104) }
        guard privileges.canRunScripts else { throw FileMakerError(9) }
        return script
    }

    /// Changes records as one commit, and keeps the values of global fields that the body set.
    @discardableResult
    func write<Result>(
        notation: DateNotation = .us,
        options: RecordWriter.Options = RecordWriter.Options(),
        _ body: (inout RecordWriter) throws -> Result
    ) throws -> Result {
        let viewpoint = engine.viewpoint(of: session)
        let (result, globals) = try engine.commit(in: session) { world in
            var writer = RecordWriter(self, world: world, viewpoint: viewpoint, notation: notation, options: options)
            let result = try body(&writer)
            world = writer.world
            return (result, writer.viewpoint.globals)
        }
        session.state.withLockedValue { $0.globals = globals }
        return result
    }
}

extension Context {
    /// Changes records for a script: within the transaction, or as one commit if none is open.
    func write<Result>(
        in transaction: inout Transaction?,
        _ body: (inout RecordWriter) throws -> Result
    ) throws -> Result {
        guard var open = transaction else {
            return try write { writer in
                let result = try body(&writer)
                try writer.logCommit()
                return result
            }
        }
        let viewpoint = engine.viewpoint(of: session)
        let (result, globals) = try engine.change(in: &open, of: session) { transaction in
            var writer = RecordWriter(
                self,
                world: transaction.world,
                viewpoint: viewpoint,
                options: RecordWriter.Options(waitsForCommit: true),
                in: transaction
            )
            let result = try body(&writer)
            return (writer, (result, writer.viewpoint.globals))
        }
        transaction = open
        session.state.withLockedValue { $0.globals = globals }
        return result
    }

    /// Validates the record that the transaction changed last, and closes it. Throws the validation's error.
    func leaveRecord(of transaction: inout Transaction?) throws {
        guard var open = transaction, let place = open.openRecord else { return }
        engine.refresh(&open)
        var writer = RecordWriter(self, world: open.world, viewpoint: engine.viewpoint(of: session), in: open)
        try writer.complete(open.touched.filter { $0.key == place })
        open.leftRecord()
        transaction = open
    }

    /// Commits and ends the transaction. If a record fails validation, reverts the transaction and throws the error.
    /// Throws 3 if no transaction is open.
    func commit(_ transaction: inout Transaction?) throws {
        guard let open = transaction.take() else { throw FileMakerError(3) }
        let viewpoint = engine.viewpoint(of: session)
        try engine.commit(open, of: session) { transaction in
            var writer = RecordWriter(self, world: transaction.world, viewpoint: viewpoint, in: transaction)
            try writer.complete(transaction.touched)
            try writer.logCommit(removedBefore: transaction.removed)
            return writer
        }
    }
}
