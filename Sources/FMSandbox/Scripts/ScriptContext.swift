import NIOConcurrencyHelpers

/// A script written in Swift. The session's other requests wait while it runs. If it throws a ``FileMakerError``, the
/// script ends with that code as `scriptError`; any other error makes it -1.
public typealias ScriptHandler = @Sendable (ScriptContext) async throws -> ScriptResult

/// The result of a script.
public struct ScriptResult: Sendable, Equatable {
    /// The script result. If it is nil, the answer has no `scriptResult`.
    public var result: String?
    /// The last error; 0 if there is none.
    public var error: Int

    /// Creates a result with the last error.
    public init(result: String? = nil, error: Int = 0) {
        self.result = result
        self.error = error
    }

    /// No result and no error.
    public static let none = ScriptResult()

    /// A result without an error.
    public static func result(_ text: String) -> ScriptResult { ScriptResult(result: text) }

    /// An error without a result.
    public static func error(_ code: Int) -> ScriptResult { ScriptResult(error: code) }
}

/// The data that a script can read and change: the session's found set and layout, records, globals and the parameter.
///
/// Field names are written as in formulas: `Name` of the layout's table, `Occurrence::Name`, `Name(2)`.
public final class ScriptContext: Sendable {
    /// The parameter of the call; empty if there is none.
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

    /// The layout of the script. To change it, see ``goToLayout(_:)``.
    public var layout: String { state.withLockedValue { $0.layout.name } }

    /// The ids of the found set, in order. After `presort` and the last script, these records are returned.
    public var foundSet: [Int] {
        get { state.withLockedValue { $0.foundSet } }
        set {
            state.withLockedValue { state in
                state.foundSet = newValue
                if !newValue.contains(state.current ?? -1) { state.current = newValue.first }
            }
        }
    }

    /// The id of the current record; nil if the found set is empty.
    public var currentRecord: Int? {
        get { state.withLockedValue { $0.current } }
        set { state.withLockedValue { $0.current = newValue } }
    }

    /// Goes to a layout. If it shows another table, the session's found set in that table becomes current: the one that
    /// a find or a script left, otherwise all records. Throws 105 if there is no layout of that name.
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

    /// Finds records of the layout's table, with requests like those of `_find`: criteria by field name, and
    /// `"omit": "true"` for a request whose matches are omitted. Fields are related to the layout's table and need not
    /// be on the layout.
    ///
    /// Throws 102 for an unknown field, 400 without a criterion, 401 if no record matches (the found set is then
    /// empty), and the errors of invalid criteria.
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

    /// Removes the current record from the found set; the one after it becomes current. Throws 101 if there is none.
    public func omitRecord() throws {
        guard let id = currentRecord else { throw FileMakerError(101) }
        state.withLockedValue { $0.leaveOut(id) }
    }

    /// Closes the session's window: later requests of the session that need a layout are error 112. A new login has a
    /// window again. An open transaction is committed first, or reverted if that fails.
    public func closeWindow() { try? endWindow() }

    /// Closes the window like ``closeWindow()``, but throws the validation error of the transaction's commit.
    func endWindow() throws {
        defer { context.session.state.withLockedValue { $0.hasWindow = false } }
        if isInTransaction { try commitTransaction() }
    }

    /// Finds all records of the layout's table.
    public func showAllRecords() {
        let table = finalState.layout.table
        foundSet = reader().world.tables[table].records.map(\.id)
    }

    /// Makes the records with these ids the found set, in this order, and the first one the current record. Ids without
    /// a record are ignored. Throws 101 and keeps the found set if none of the records exists.
    public func goToRecords(_ recordIds: [Int]) throws {
        try commitRecords()
        let records = reader().world.tables[finalState.layout.table]
        let there = recordIds.filter { records.position(of: $0) != nil }
        guard let first = there.first else { throw FileMakerError(101) }
        foundSet = there
        currentRecord = first
    }

    /// The value of a field of the current record, or of a given record. Throws 101 if there is no such record, 102 if
    /// there is no such field.
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

    /// Sets a field of the current record or of a given record, or the session's value of a global field. Throws 101 if
    /// there is no such record, 102 if there is no such field, and the errors of validation.
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

    /// Creates a record in the layout's table, adds it to the found set and makes it the current record. Returns its
    /// id.
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

    /// Deletes the current record; the one after it becomes current.
    public func deleteRecord() throws {
        let before = finalState
        guard let id = before.current else { throw FileMakerError(101) }
        try write { try $0.delete(id, in: before.layout.table) }
        state.withLockedValue { $0.leaveOut(id) }
    }

    /// Waits on the sandbox's clock. The session's other requests wait too; other sessions do not.
    public func wait(for duration: Duration) async throws {
        try await context.engine.clock.wait(for: duration)
    }

    // MARK: Transactions

    /// Opens a transaction. Records that are created, changed and deleted from now on become visible to others when it
    /// is committed, all or none; auto-enter and validation happen then. Until then the records are in use for others
    /// (301). Record ids and serial numbers are used up at once, even if it is reverted. Global fields are not part of
    /// it.
    ///
    /// A transaction that is open when the script ends is reverted. Throws 3 if one is open already.
    public func openTransaction() throws {
        try state.withLockedValue { state in
            guard state.transaction == nil else { throw FileMakerError(3) }
            state.transaction = context.engine.openTransaction()
        }
    }

    /// Commits the transaction. If one of its records fails validation, reverts the whole transaction and throws the
    /// error. Throws 3 if no transaction is open.
    public func commitTransaction() throws {
        try ending { try context.commit(&$0) }
    }

    /// Reverts the transaction, so that none of its changes are made. Throws 3 if no transaction is open.
    public func revertTransaction() throws {
        try ending { transaction in
            guard let open = transaction.take() else { throw FileMakerError(3) }
            context.engine.revert(open)
        }
    }

    /// Validates the record that the transaction changed last, as going to another record does. Throws the errors of
    /// validation. Outside a transaction every change is a commit of its own, and this does nothing.
    public func commitRecords() throws {
        try state.withLockedValue { try context.leaveRecord(of: &$0.transaction) }
    }

    /// Whether a transaction is open, opened by this script or by one that performs it.
    public var isInTransaction: Bool { state.withLockedValue { $0.transaction != nil } }

    /// Ends the transaction, then removes from the found set the records that do not exist afterwards.
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

    /// A reader of the records as the transaction sees them, or of the committed ones if no transaction is open.
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

    /// Whether an error reverts the transaction automatically.
    var revertsOnError: Bool {
        get { state.withLockedValue { $0.revertsOnError } }
        set { state.withLockedValue { $0.revertsOnError = newValue } }
    }

    /// The script of that name and a context for it: the same window, but only the `$$variables`.
    func performing(_ name: String, parameter: String) throws -> (script: ScriptModel, context: ScriptContext) {
        let script = try context.script(named: name)
        var state = finalState
        state.variables = state.variables.filter { $0.key.hasPrefix("$$") }
        state.revertsOnError = true
        return (script, ScriptContext(context, parameter: parameter, state: state))
    }

    /// Takes over the window as a performed script left it, with its result.
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

/// The state that the scripts of one request pass on.
struct ScriptState: Sendable {
    var layout: LayoutModel
    var foundSet: [Int]
    var current: Int?
    var variables: [String: String] = [:]
    /// The error code of the last step; 0 if it succeeded.
    var lastError = 0
    /// The result of the script that was performed last.
    var scriptResult = ""
    var transaction: Transaction?
    var revertsOnError = true

    init(layout: LayoutModel, foundSet: [Int]) {
        self.layout = layout
        self.foundSet = foundSet
        current = foundSet.first
    }

    /// Removes a record from the found set; the one after it becomes current.
    mutating func leaveOut(_ recordId: Int) {
        guard let place = foundSet.firstIndex(of: recordId) else { return }
        foundSet.remove(at: place)
        current = foundSet.isEmpty ? nil : foundSet[min(place, foundSet.count - 1)]
    }

    /// The context for a script's formulas: the current record, or an empty one if the found set is empty.
    func formulaContext(_ reader: Reader, parameter: String, record: Record? = nil) -> RecordContext {
        let slots = reader.model.tables[layout.table].slotCount
        let nobody = Record(id: 0, modId: 0, isLocked: false, values: Array(repeating: .empty, count: slots))
        let record = record ?? current.flatMap { reader.world.tables[layout.table].record($0) } ?? nobody
        return RecordContext(reader: reader, record: record, table: layout.table, variables: variables) { name in
            name == "scriptparameter" ? parameter : fact(name, record, reader)
        }
    }

    /// The value of `Get ( … )` for the layout, its found set and the script's state; nil for other functions.
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
