import NIOConcurrencyHelpers

/// A script written in Swift. It runs while its session waits; throwing a ``FileMakerError`` ends it with that code as
/// `scriptError`, anything else with -1.
public typealias ScriptHandler = @Sendable (ScriptContext) async throws -> ScriptResult

/// What a script returns.
public struct ScriptResult: Sendable, Equatable {
    /// The result; without one the answer has no `scriptResult`.
    public var result: String?
    /// The last error, 0 for none.
    public var error: Int

    /// A result and the last error.
    public init(result: String? = nil, error: Int = 0) {
        self.result = result
        self.error = error
    }

    /// No result and no error.
    public static let none = ScriptResult()

    /// A result.
    public static func result(_ text: String) -> ScriptResult { ScriptResult(result: text) }

    /// An error.
    public static func error(_ code: Int) -> ScriptResult { ScriptResult(error: code) }
}

/// What a script can see and change: the session's found set and layout, records, globals and the parameter.
///
/// Names of fields are those of formulas: `Name` of the layout's table, `Occurrence::Name`, `Name(2)`.
public final class ScriptContext: Sendable {
    /// The parameter of the call, empty if there is none.
    public let parameter: String
    private let context: Context
    private let state: NIOLockedValueBox<ScriptState>

    init(_ context: Context, parameter: String, state: ScriptState) {
        self.context = context
        self.parameter = parameter
        self.state = NIOLockedValueBox(state)
    }

    var finalState: ScriptState { state.withLockedValue { $0 } }

    /// The account that is logged in.
    public var account: String { context.session.account.name }

    /// The layout the script is on. To leave it, see ``goToLayout(_:)``.
    public var layout: String { state.withLockedValue { $0.layout.name } }

    /// The ids of the found set, in order. After `presort` and the last script, this is what is returned.
    public var foundSet: [Int] {
        get { state.withLockedValue { $0.foundSet } }
        set {
            state.withLockedValue { state in
                state.foundSet = newValue
                if !newValue.contains(state.current ?? -1) { state.current = newValue.first }
            }
        }
    }

    /// The id of the current record; nil when the found set is empty.
    public var currentRecord: Int? {
        get { state.withLockedValue { $0.current } }
        set { state.withLockedValue { $0.current = newValue } }
    }

    /// Goes to a layout. One of another table shows the found set that the session has there: what a find or a script left,
    /// otherwise all records. Throws 105 when there is none of that name.
    public func goToLayout(_ name: String) throws {
        let layout = try context.layout(named: name)
        try commitRecords()
        let before = finalState
        let world = reader().world
        if before.layout.table != layout.table {
            context.keep(before.foundSet, in: before.layout.table, of: world)
        }
        let foundSet = context.foundSet(in: layout.table, of: world)
        state.withLockedValue { state in
            if state.layout.table != layout.table {
                state.foundSet = foundSet
                state.current = foundSet.first
            }
            state.layout = layout
        }
    }

    /// Finds records of the layout's table, with requests like those of `_find`: criteria by field name, and `"omit": "true"`
    /// for one whose matches are taken away. Fields are seen from the layout, on it or not.
    ///
    /// Throws 102 for an unknown field, 400 without a criterion, 401 when nothing matches (the found set is empty then), and
    /// what an unreadable criterion answers.
    public func find(_ requests: [[String: String]]) throws {
        let layout = finalState.layout
        let today = context.engine.now.date
        let read = try requests.map { request in
            var conditions: [FindRequest.Condition] = []
            for (key, text) in request.sorted(by: { $0.key < $1.key }) where key != "omit" && !text.trimmed.isEmpty {
                conditions.append(try condition(FieldName(key), text, layout, today))
            }
            return FindRequest(conditions: conditions, isOmit: request["omit"] == "true")
        }
        .filter { !$0.conditions.isEmpty }
        guard !read.isEmpty else { throw FileMakerError(400) }
        try commitRecords()
        foundSet = reader().find(read, table: layout.table, database: context.database).map(\.id)
        guard !foundSet.isEmpty else { throw FileMakerError(401) }
    }

    private func condition(
        _ name: FieldName,
        _ text: String,
        _ layout: LayoutModel,
        _ today: CivilDate
    ) throws -> FindRequest.Condition {
        let database = context.database
        let occurrence = name.occurrence ?? database.occurrences[layout.occurrence].name
        let found = database.reference(
            to: occurrence,
            field: name.field,
            from: layout.occurrence,
            tables: context.model.tables
        )
        guard let reference = found else { throw FileMakerError(102) }
        let field = context.model.tables[reference.table].fields[reference.field]
        guard !field.isGlobal, !field.isSummary else { throw FileMakerError(408) }
        let repetitions = name.repetition.map { $0...$0 } ?? 1...field.repetitions
        guard (1...field.repetitions).contains(repetitions.lowerBound) else { throw FileMakerError(111) }
        return FindRequest.Condition(
            reference: reference,
            repetitions: repetitions,
            criterion: try Criterion(text, type: field.type, today: today)
        )
    }

    /// Takes the current record out of the found set; the one after it becomes the current one. Throws 101 when there is
    /// none.
    public func omitRecord() throws {
        guard let id = currentRecord else { throw FileMakerError(101) }
        state.withLockedValue { $0.leaveOut(id) }
    }

    /// Closes the session's window: its later requests that need a layout are error 112, until it logs in anew. An open transaction
    /// is committed first, or reverted where that fails.
    public func closeWindow() { try? endWindow() }

    /// Throws what a record of the transaction does not stand up to.
    func endWindow() throws {
        defer { context.session.state.withLockedValue { $0.hasWindow = false } }
        if isInTransaction { try commitTransaction() }
    }

    /// Finds all records of the layout's table.
    public func showAllRecords() {
        let table = finalState.layout.table
        foundSet = reader().world.tables[table].records.map(\.id)
    }

    /// Makes the records with these ids the found set, in this order, and the first one the current one. Ids of records that are
    /// not there are left out. Throws 101, and leaves the found set as it is, when none is there.
    public func goToRecords(_ recordIds: [Int]) throws {
        try commitRecords()
        let records = reader().world.tables[finalState.layout.table]
        let there = recordIds.filter { records.position(of: $0) != nil }
        guard let first = there.first else { throw FileMakerError(101) }
        foundSet = there
        currentRecord = first
    }

    /// The value of a field of the current record, or of the record given. Throws 101 and 102.
    public func value(_ field: String, of recordId: Int? = nil) throws -> String {
        let state = finalState
        let reader = reader()
        let record = try recordId.map { id in
            guard let record = reader.world.tables[state.layout.table].record(id) else { throw FileMakerError(101) }
            return record
        }
        guard let value = state.formulaContext(reader, parameter: parameter, record: record).value(ofField: field)
        else {
            throw FileMakerError(102)
        }
        return value
    }

    /// Sets a field of the current record, or of the record given; a global field for the session. Validation applies.
    /// Throws 101, 102 and what the validation says.
    public func set(_ field: String, to value: String, of recordId: Int? = nil) throws {
        let state = finalState
        let name = FieldName(field)
        var table = state.layout.table
        if let occurrence = name.occurrence {
            guard let other = context.database.table(ofOccurrence: occurrence) else { throw FileMakerError(102) }
            table = other
        }
        guard let model = context.model.tables[table].field(named: name.field) else { throw FileMakerError(102) }
        guard model.isGlobal || table == state.layout.table else { throw FileMakerError(102) }
        try write { writer in
            let change = try writer.change(.string(value), to: model, repetition: name.repetition, in: table)
            if model.isGlobal {
                let key = Viewpoint.GlobalKey(table: table, slot: model.slot + change.repetition - 1)
                writer.viewpoint.globals[key] = change.value
            } else {
                guard let id = recordId ?? state.current else { throw FileMakerError(101) }
                try writer.change(id, in: table, [change])
            }
        }
    }

    /// Creates a record in the layout's table, adds it to the found set and makes it the current one.
    @discardableResult
    public func createRecord(_ values: [String: String] = [:]) throws -> Int {
        let table = finalState.layout.table
        try commitRecords()
        let record = try write { try $0.create(in: table, $0.changes(values, in: table)) }
        state.withLockedValue { state in
            state.foundSet.append(record.id)
            state.current = record.id
        }
        return record.id
    }

    /// Deletes the current record; the one after it becomes the current one.
    public func deleteRecord() throws {
        let before = finalState
        guard let id = before.current else { throw FileMakerError(101) }
        try write { try $0.delete(id, in: before.layout.table) }
        state.withLockedValue { $0.leaveOut(id) }
    }

    /// Waits on the sandbox's clock. The session waits with it, other sessions do not.
    public func wait(for duration: Duration) async throws {
        try await context.engine.clock.wait(for: duration)
    }

    // MARK: Transactions

    /// Opens a transaction: what is created, changed and deleted from now on becomes visible to others, and is entered and
    /// validated, when it is committed, all of it or nothing. Until then others find the records in use (301). Record ids and
    /// serial numbers are taken at once, and not given back. Global fields are not part of it.
    ///
    /// A transaction that is open when the script ends is reverted. Throws 3 when one is open already.
    public func openTransaction() throws {
        try state.withLockedValue { state in
            guard state.transaction == nil else { throw FileMakerError(3) }
            state.transaction = context.engine.openTransaction()
        }
    }

    /// Commits the transaction. When a record of it does not pass validation all of it is reverted, and the code thrown. Throws 3
    /// when none is open.
    public func commitTransaction() throws {
        try ending { try context.commit(&$0) }
    }

    /// Reverts the transaction: nothing of it has happened. Throws 3 when none is open.
    public func revertTransaction() throws {
        try ending { transaction in
            guard let open = transaction.take() else { throw FileMakerError(3) }
            context.engine.revert(open)
        }
    }

    /// Validates the record that was changed last in a transaction, as going to another one does. Throws what validation says.
    /// Outside of a transaction every change is a commit, and there is nothing to do.
    public func commitRecords() throws {
        try state.withLockedValue { try context.leaveRecord(of: &$0.transaction) }
    }

    /// Whether a transaction is open, of this script or of one that performs it.
    public var isInTransaction: Bool { state.withLockedValue { $0.transaction != nil } }

    /// Records that a transaction had created, and those that it had deleted, are others afterwards.
    private func ending(_ end: (inout Transaction?) throws -> Void) throws {
        try state.withLockedValue { state in
            defer {
                let records = context.engine.world.tables[state.layout.table]
                state.foundSet.removeAll { records.position(of: $0) == nil }
                if let id = state.current, records.position(of: id) == nil { state.current = state.foundSet.first }
            }
            try end(&state.transaction)
        }
    }

    private func write<Result>(_ body: (inout RecordWriter) throws -> Result) throws -> Result {
        try state.withLockedValue { try context.write(in: &$0.transaction, body) }
    }

    /// What there is to read, as the transaction sees it.
    private func reader() -> Reader {
        let world: World? = state.withLockedValue { state in
            guard var open = state.transaction else { return nil }
            context.engine.refresh(&open)
            state.transaction = open
            return open.world
        }
        guard let world else { return context.reader() }
        return Reader(model: context.model, world: world, viewpoint: context.engine.viewpoint(of: context.session))
    }

    // MARK: Steps

    var lastError: Int {
        get { state.withLockedValue { $0.lastError } }
        set { state.withLockedValue { $0.lastError = newValue } }
    }

    /// Whether an error reverts the transaction by itself.
    var revertsOnError: Bool {
        get { state.withLockedValue { $0.revertsOnError } }
        set { state.withLockedValue { $0.revertsOnError = newValue } }
    }

    /// The script of that name, and what it sees: the same window, with variables of its own.
    func performing(_ name: String, parameter: String) throws -> (script: ScriptModel, context: ScriptContext) {
        let script = try context.script(named: name)
        var state = finalState
        state.variables = state.variables.filter { $0.key.hasPrefix("$$") }
        state.revertsOnError = true
        return (script, ScriptContext(context, parameter: parameter, state: state))
    }

    /// Goes on where a script that was performed has left the window.
    func goOn(after other: ScriptContext, result: String) {
        state.withLockedValue { state in
            let before = state
            state = other.finalState
            state.variables = before.variables.filter { !$0.key.hasPrefix("$$") }
                .merging(state.variables.filter { $0.key.hasPrefix("$$") }) { $1 }
            state.revertsOnError = before.revertsOnError
            state.scriptResult = result
        }
    }

    // MARK: Formulas

    func evaluate(_ formula: Formula) -> String {
        let state = finalState
        return formula.evaluate(in: state.formulaContext(reader(), parameter: parameter))
    }

    func isTrue(_ formula: Formula, of recordId: Int) -> Bool {
        let state = finalState
        let reader = reader()
        guard let record = reader.world.tables[state.layout.table].record(recordId) else { return false }
        return formula.isTrue(in: state.formulaContext(reader, parameter: parameter, record: record))
    }

    func setVariable(_ name: String, to value: String) { state.withLockedValue { $0.variables[name] = value } }
}

/// Where a session stands between the scripts of one request.
struct ScriptState: Sendable {
    var layout: LayoutModel
    var foundSet: [Int]
    var current: Int?
    var variables: [String: String] = [:]
    /// The code of the last step that failed or succeeded.
    var lastError = 0
    /// What the script returned that was performed last.
    var scriptResult = ""
    var transaction: Transaction?
    var revertsOnError = true

    init(layout: LayoutModel, foundSet: [Int]) {
        self.layout = layout
        self.foundSet = foundSet
        current = foundSet.first
    }

    /// Takes a record out of the found set; the one after it becomes the current one.
    mutating func leaveOut(_ recordId: Int) {
        guard let place = foundSet.firstIndex(of: recordId) else { return }
        foundSet.remove(at: place)
        current = foundSet.isEmpty ? nil : foundSet[min(place, foundSet.count - 1)]
    }

    /// What the formulas of a script see: the current record, or one with nothing in it when the found set is empty.
    func formulaContext(_ reader: Reader, parameter: String, record: Record? = nil) -> RecordContext {
        let slots = reader.model.tables[layout.table].slotCount
        let nobody = Record(id: 0, modId: 0, isLocked: false, values: Array(repeating: .empty, count: slots))
        let record = record ?? current.flatMap { reader.world.tables[layout.table].record($0) } ?? nobody
        return RecordContext(reader: reader, record: record, table: layout.table, variables: variables) { name in
            name == "scriptparameter" ? parameter : fact(name, record, reader)
        }
    }

    /// What `Get ( … )` tells about the layout and its found set.
    private func fact(_ name: String, _ record: Record, _ reader: Reader) -> String? {
        let database = reader.model.databases[layout.database]
        let total = reader.world.tables[layout.table].records.count
        switch name {
        case "foundcount": return String(foundSet.count)
        case "totalrecordcount": return String(total)
        case "recordnumber": return String((foundSet.firstIndex(of: record.id) ?? -1) + 1)
        case "layoutname": return layout.name
        case "layouttablename": return database.occurrences[layout.occurrence].name
        case "filename": return database.name
        case "lasterror": return String(lastError)
        case "scriptresult": return scriptResult
        case "transactionopenstate": return transaction == nil ? "0" : "1"
        case "reverttransactiononerrorstate": return revertsOnError ? "1" : "0"
        case "datainfo":
            return Self.json([
                "database": .string(database.name), "layout": .string(layout.name),
                "table": .string(database.occurrences[layout.occurrence].name), "totalRecordCount": .int(total),
                "foundCount": .int(foundSet.count),
            ])
        case "portaldatainfo":
            return Self.json(.array(layout.portals.map { info(of: $0, for: record, reader, database) }))
        default: return nil
        }
    }

    private func info(
        of portal: PortalModel,
        for record: Record,
        _ reader: Reader,
        _ database: DatabaseModel
    ) -> JSONValue {
        let occurrence = database.occurrences[portal.occurrence]
        var info = JSONObject()
        if let name = portal.objectName { info.append("portalObjectName", .string(name)) }
        info.append("database", .string(occurrence.database))
        info.append("table", .string(occurrence.name))
        let rows = reader.rows(of: portal, for: record, layout: layout, database: database)
        info.append("foundCount", .int(rows.count))
        return .object(info)
    }

    private static func json(_ value: JSONValue) -> String { String(decoding: JSONWriter.write(value), as: UTF8.self) }
}
