/// Changes records for a session. It works on a draft of the world, which replaces the world when all parts of a
/// request have succeeded, so that a request is one commit.
///
/// Source: Claris FileMaker Data API Guide, "Create a record", "Edit a record".
struct RecordWriter {
    /// The `options` of a write.
    struct Options: Sendable {
        /// `entrymode: "script"`: validation is not enforced.
        var skipsValidation = false
        /// `prohibitmode: "script"`: "prohibit modification during data entry" is not enforced.
        var skipsProhibition = false
        /// Whether `deleteRelated` may be a list; it may not before version 18.
        var deletesSeveralRows = true
        /// In a transaction: auto-enter (except serial numbers) and validation wait for the commit.
        var waitsForCommit = false
    }

    /// The changes made to a record.
    struct Touch: Sendable {
        var isNew: Bool
        /// The fields that were set.
        var given: Set<Int> = []
    }

    /// A portal row that a request created.
    struct NewRow: Equatable, Sendable {
        var tableName: String
        var recordId: Int
        /// The number of fields that the request set.
        var fieldCount: Int
    }

    let model: Model
    let database: DatabaseModel
    /// The session's privileges in a table, which may belong to a data source.
    let privileges: (_ table: Int) -> Solution.PrivilegeSet
    let notation: DateNotation
    let options: Options
    var world: World
    var viewpoint: Viewpoint
    private(set) var newRows: [NewRow] = []
    /// The number of the transaction; nil outside a transaction.
    let transaction: Int?
    /// The records that this commit has created or changed. A commit increments the modId of a record once, however
    /// often it changes the record.
    private(set) var touched: [RecordPlace: Touch]
    /// The record that was created or changed last.
    private(set) var changedLast: RecordPlace?
    /// The records that were deleted.
    private(set) var removed: Set<RecordPlace> = []

    init(
        _ context: Context,
        world: World,
        viewpoint: Viewpoint,
        notation: DateNotation = .us,
        options: Options = Options(),
        in transaction: Transaction? = nil
    ) {
        model = context.model
        database = context.database
        privileges = context.privileges(in:)
        self.notation = notation
        self.options = options
        self.world = world
        self.viewpoint = viewpoint
        self.transaction = transaction?.number
        touched = transaction?.touched ?? [:]
    }

    /// Creates a writer with full access.
    init(_ model: Model, _ database: DatabaseModel, world: World, viewpoint: Viewpoint) {
        self.model = model
        self.database = database
        privileges = { _ in .fullAccess }
        notation = .us
        options = Options()
        self.world = world
        self.viewpoint = viewpoint
        transaction = nil
        touched = [:]
    }

    /// A reader of all records: auto-enter, lookups and validation do not depend on the account.
    var reader: Reader { Reader(model: model, world: world, viewpoint: viewpoint.ofEverything) }

    /// Throws 200 if the account may not see a record, and so may not change, copy or delete it.
    private func checkVisibility(of record: Record, in table: Int) throws {
        let reader = Reader(model: model, world: world, viewpoint: viewpoint)
        guard reader.isVisible(record, table: table) else { throw FileMakerError(200) }
    }

    // MARK: Records

    /// Creates a record of a table with auto-entered and given values.
    mutating func create(in table: Int, _ changes: [Change]) throws -> Record {
        guard privileges(table).canCreate else { throw FileMakerError(200) }
        let schema = model.tables[table]
        var record = world.tables[table].append(values: Array(repeating: .empty, count: schema.slotCount))
        enterOnCreation(&record, schema, given: Set(changes.map(\.field.index)))
        for change in changes { apply(change, to: &record, table) }
        enterCalculations(&record, schema, given: Set(changes.map(\.field.index)))
        world.tables[table].replace(record)
        let place = RecordPlace(table: table, recordId: record.id)
        touched[place] = Touch(isNew: true, given: Set(changes.map(\.field.index)))
        changedLast = place
        try validate(record, schema, fields: schema.fields)
        return record
    }

    /// Changes fields of a record and increments its modId, once per commit.
    mutating func change(_ recordId: Int, in table: Int, _ changes: [Change]) throws {
        guard var record = world.tables[table].record(recordId) else { throw FileMakerError(101) }
        let schema = model.tables[table]
        // Global values belong to the session, not to the record.
        for change in changes where change.field.isGlobal { apply(change, to: &record, table) }
        let own = changes.filter { !$0.field.isGlobal }
        guard !own.isEmpty else { return }
        guard privileges(table).canEdit else { throw FileMakerError(200) }
        let place = RecordPlace(table: table, recordId: recordId)
        if touched[place]?.isNew != true { try checkVisibility(of: record, in: table) }
        try checkLock(of: record, at: place)
        for change in own { apply(change, to: &record, table) }
        let given = Set(own.map(\.field.index))
        enterOnModification(&record, schema, given: given)
        enterCalculations(&record, schema, given: given, changed: Set(own.map(\.field.name)))
        if touched[place] == nil { record.modId += 1 }
        touched[place, default: Touch(isNew: false)].given.formUnion(given)
        changedLast = place
        world.tables[table].replace(record)
        try validate(record, schema, fields: own.map(\.field))
    }

    /// Deletes a record, and related records if a relationship says so.
    mutating func delete(_ recordId: Int, in table: Int) throws {
        guard let record = world.tables[table].record(recordId) else { throw FileMakerError(101) }
        guard privileges(table).canDelete else { throw FileMakerError(200) }
        try checkVisibility(of: record, in: table)
        let place = RecordPlace(table: table, recordId: recordId)
        try checkLock(of: record, at: place)
        var related: [(table: Int, recordId: Int)] = []
        for (index, relationship) in database.relationships.enumerated() {
            for isForward in [true, false] {
                let hop = Hop(relationship: index, isForward: isForward)
                let far = relationship.far(hop)
                guard far.deletesWithOther,
                    database.occurrences[relationship.near(hop).occurrence].table == table,
                    let farTable = database.occurrences[far.occurrence].table
                else { continue }
                related += reader.related(to: record, table: table, along: [hop], in: database).map {
                    (farTable, $0.id)
                }
            }
        }
        world.tables[table].remove(recordId)
        touched[place] = nil
        removed.insert(place)
        // A record that is reached twice does not exist the second time.
        for (table, recordId) in related where world.tables[table].position(of: recordId) != nil {
            try delete(recordId, in: table)
        }
    }

    /// Copies a record with a new id. Serial numbers, creation stamps and other auto-enter values are entered again.
    mutating func duplicate(_ recordId: Int, in table: Int) throws -> Record {
        guard privileges(table).canCreate else { throw FileMakerError(200) }
        guard let original = world.tables[table].record(recordId) else { throw FileMakerError(101) }
        try checkVisibility(of: original, in: table)
        let schema = model.tables[table]
        var record = world.tables[table].append(values: original.values)
        touched[RecordPlace(table: table, recordId: record.id)] = Touch(isNew: true)
        // The original has its constants already, or the values that replaced them.
        let constants = schema.fields.filter { if case .constant = $0.autoEnter { true } else { false } }
        enterOnCreation(&record, schema, given: Set(constants.map(\.index)))
        world.tables[table].replace(record)
        try validate(record, schema, fields: schema.fields)
        return record
    }

    /// Throws 301 if another user or another transaction has the record in use.
    private func checkLock(of record: Record, at place: RecordPlace) throws {
        guard !record.isLocked, world.locks[place] ?? transaction == transaction else { throw FileMakerError(301) }
    }

    /// Performs the auto-enter and validation that waited for the commit of a transaction.
    mutating func complete(_ touched: [RecordPlace: Touch]) throws {
        let places = touched.keys.sorted { ($0.table, $0.recordId) < ($1.table, $1.recordId) }
        for place in places {
            guard let touch = touched[place], var record = world.tables[place.table].record(place.recordId) else {
                continue
            }
            let schema = model.tables[place.table]
            let fields = touch.isNew ? schema.fields : schema.fields.filter { touch.given.contains($0.index) }
            if touch.isNew {
                let serials = schema.fields.filter(\.isSerial).map(\.index)
                enterOnCreation(&record, schema, given: touch.given.union(serials))
                enterCalculations(&record, schema, given: touch.given)
            } else {
                enterOnModification(&record, schema, given: touch.given)
                enterCalculations(&record, schema, given: touch.given, changed: Set(fields.map(\.name)))
            }
            world.tables[place.table].replace(record)
            try validate(record, schema, fields: fields)
        }
    }

    private mutating func apply(_ change: Change, to record: inout Record, _ table: Int) {
        let slot = change.field.slot + change.repetition - 1
        if change.field.isGlobal {
            viewpoint.globals[Viewpoint.GlobalKey(table: table, slot: slot)] = change.value
        } else {
            record.values[slot] = change.value
        }
    }

    mutating func note(_ row: NewRow) { newRows.append(row) }
}
