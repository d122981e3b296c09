import Foundation

/// What a value depends on besides the records: the session's globals and account, and the wall clock.
struct Viewpoint: Sendable {
    struct GlobalKey: Hashable, Sendable {
        var table: Int
        var slot: Int
    }

    var account = ""
    var globals: [GlobalKey: FieldValue] = [:]
    /// The files of data sources that the session cannot read; they appear to have no records.
    var closedDatabases: Set<Int> = []
    /// The conditions of the records that the account may see, by table. All records of other tables are visible.
    var visibleRecords: [Int: Formula] = [:]
    var now: CivilTimestamp

    /// The same viewpoint, but with all records visible.
    var ofEverything: Viewpoint {
        var viewpoint = self
        viewpoint.visibleRecords = [:]
        return viewpoint
    }
}

/// Reads values, related records and found sets from one state of the world.
struct Reader: Sendable {
    let model: Model
    let world: World
    let viewpoint: Viewpoint

    /// The maximum depth of calculations, which may refer to each other in a circle; a deeper one is `?`. The limit is
    /// low because two calculations that name each other twice double the work at every level.
    private static let maximumDepth = 12
    private var depth = 0

    init(model: Model, world: World, viewpoint: Viewpoint) {
        self.model = model
        self.world = world
        self.viewpoint = viewpoint
    }

    // MARK: Access

    /// The value of a field that is not visible.
    static let noAccess = "<No Access>"

    /// Whether the account may see a record. The placeholder for no record (id 0) is visible.
    func isVisible(_ record: Record, table: Int) -> Bool {
        guard record.id > 0, let condition = viewpoint.visibleRecords[table] else { return true }
        return condition.isTrue(in: RecordContext(reader: seeingEverything, record: record, table: table))
    }

    private var seeingEverything: Reader {
        var reader = Reader(model: model, world: world, viewpoint: viewpoint.ofEverything)
        reader.depth = depth
        return reader
    }

    // MARK: Values

    /// The value of one repetition (from 1) of a field in a record of the table; `<No Access>` if the account may not
    /// see the record.
    func value(of field: FieldModel, repetition: Int = 1, in record: Record, table: Int) -> FieldValue {
        guard field.isGlobal || isVisible(record, table: table) else { return .text(Self.noAccess) }
        switch field.content {
        case .stored:
            guard (1...field.repetitions).contains(repetition) else { return .empty }
            let slot = field.slot + repetition - 1
            if field.isGlobal {
                return viewpoint.globals[Viewpoint.GlobalKey(table: table, slot: slot)]
                    ?? world.tables[table].globals[slot]
            }
            return record.values[slot]
        case .calculation(let formula):
            guard depth < Self.maximumDepth else { return .text("?") }
            var deeper = self
            deeper.depth += 1
            return .text(formula.evaluate(in: RecordContext(reader: deeper, record: record, table: table)))
        case .summary(let function, let source):
            return .text(summary(function, of: source, over: world.tables[table].records, table: table))
        }
    }

    func summary(_ function: Solution.Summary.Function, of index: Int, over records: [Record], table: Int) -> String {
        let field = model.tables[table].fields[index]
        guard case .summary = field.content else {
            let values = records.filter { isVisible($0, table: table) }
                .map { value(of: field, in: $0, table: table).text }
                .filter { !$0.isEmpty }
            switch function {
            case .count: return String(values.count)
            case .total: return Formula.text(values.map(Formula.decimal).reduce(0, +))
            case .minimum: return values.min { Formula.compare($0, $1) < 0 } ?? ""
            case .maximum: return values.max { Formula.compare($0, $1) < 0 } ?? ""
            }
        }
        return "?"
    }

    /// The values of a reference as seen from a record: one of the record itself or of the first related record, and
    /// with `all` one of each related record.
    func values(
        of reference: FieldReference,
        repetitions: ClosedRange<Int> = 1...1,
        from record: Record,
        table: Int,
        database: DatabaseModel,
        all: Bool = false
    ) -> [FieldValue] {
        let field = model.tables[reference.table].fields[reference.field]
        if reference.path.isEmpty {
            return repetitions.map { value(of: field, repetition: $0, in: record, table: reference.table) }
        }
        let related = self.related(to: record, table: table, along: reference.path, in: database)
        return (all ? related[...] : related.prefix(1)).flatMap { record in
            repetitions.map { value(of: field, repetition: $0, in: record, table: reference.table) }
        }
    }

    // MARK: Relationships

    /// The records to which a path leads, each once, in the order of the last relationship (creation order if it has no
    /// sort).
    func related(to record: Record, table: Int, along path: [Hop], in database: DatabaseModel) -> [Record] {
        guard depth < Self.maximumDepth else { return [] }
        var records = [record]
        var table = table
        for hop in path {
            let far = database.relationships[hop.relationship].far(hop)
            guard let targetTable = database.occurrences[far.occurrence].table else { return [] }
            if records.count == 1 {
                records = related(to: records[0], table: table, along: hop, to: targetTable, in: database)
            } else {
                var seen: Set<Int> = []
                records = records.flatMap { related(to: $0, table: table, along: hop, to: targetTable, in: database) }
                    .filter { seen.insert($0.id).inserted }
            }
            table = targetTable
        }
        return records
    }

    private func related(
        to record: Record,
        table: Int,
        along hop: Hop,
        to target: Int,
        in database: DatabaseModel
    ) -> [Record] {
        guard !viewpoint.closedDatabases.contains(model.tables[target].database) else { return [] }
        let relationship = database.relationships[hop.relationship]
        let state = world.tables[target]
        var candidates: [Record]?
        for match in relationship.matches {
            let near = model.tables[table].fields[hop.isForward ? match.left : match.right]
            let far = model.tables[target].fields[hop.isForward ? match.right : match.left]
            let keys = matchKeys(of: near, in: record, table: table, type: far.type)
            if match.comparison == .equal, candidates == nil, far.isStored, !far.isGlobal {
                candidates = state.index.positions(ofField: far.index, keys: keys) { keyTable(of: far, target) }
                    .map { state.records[$0] }
            } else if match.comparison != .cartesian {
                let comparison = match.comparison
                candidates = (candidates ?? state.records).filter { candidate in
                    matchKeys(of: far, in: candidate, table: target, type: far.type).contains { other in
                        keys.contains { Self.holds(comparison, near: $0, far: other, isForward: hop.isForward) }
                    }
                }
            }
        }
        let order = relationship.far(hop).sort
        return sorted(candidates ?? state.records, by: order, table: target, database: database)
    }

    private func keyTable(of field: FieldModel, _ table: Int) -> [MatchKey: [Int]] {
        var positions: [MatchKey: [Int]] = [:]
        for (position, record) in world.tables[table].records.enumerated() {
            for key in Set(matchKeys(of: field, in: record, table: table, type: field.type)) {
                positions[key, default: []].append(position)
            }
        }
        return positions
    }

    /// The keys of a match field, one for each of its lines. Relationships do not depend on the account, and neither do
    /// the keys, which are cached for all accounts.
    private func matchKeys(
        of field: FieldModel,
        in record: Record,
        table: Int,
        type: Solution.FieldType
    ) -> [MatchKey] {
        let text = seeingEverything.value(of: field, in: record, table: table).text
        if !text.contains("\r") { return MatchKey(text, type: type).map { [$0] } ?? [] }
        return text.split(separator: "\r").compactMap { MatchKey(String($0), type: type) }
    }

    private static func holds(
        _ comparison: Solution.Relationship.Comparison,
        near: MatchKey,
        far: MatchKey,
        isForward: Bool
    ) -> Bool {
        let (left, right) = isForward ? (near, far) : (far, near)
        let order =
            switch (left, right) {
            case (.number(let one), .number(let other)): one == other ? 0 : (one < other ? -1 : 1)
            case (.text(let one), .text(let other)): TextFolding.compare(one, other)
            case (.number, .text), (.text, .number): 2
            }
        switch comparison {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .less: return order == -1
        case .lessOrEqual: return order == -1 || order == 0
        case .greater: return order == 1
        case .greaterOrEqual: return order == 1 || order == 0
        case .cartesian: return true
        }
    }
}

/// A record as the context of a formula: unqualified names are fields of its table, `Occurrence::Field` is resolved
/// through the graph.
struct RecordContext: FormulaContext {
    let reader: Reader
    let record: Record
    let table: Int
    var variables: [String: String] = [:]
    /// The values of `Get ( … )` other than those of the record, the account and the clock.
    var facts: (_ name: String) -> String? = { _ in nil }

    func value(ofField name: String) -> String? {
        guard let reference = reference(to: name) else { return nil }
        let values = reader.values(
            of: reference.field,
            repetitions: reference.repetition...reference.repetition,
            from: record,
            table: table,
            database: reader.model.databases[reader.model.tables[table].database]
        )
        return values.first?.text ?? ""
    }

    func values(ofField name: String) -> [String] {
        guard let reference = reference(to: name) else { return [] }
        let field = reader.model.tables[reference.field.table].fields[reference.field.field]
        return reader.values(
            of: reference.field,
            repetitions: 1...field.repetitions,
            from: record,
            table: table,
            database: reader.model.databases[reader.model.tables[table].database],
            all: true
        )
        .map(\.text)
    }

    func value(ofVariable name: String) -> String { variables[name] ?? "" }

    func get(_ name: String) -> String? {
        switch name {
        case "recordid": String(record.id)
        case "recordmodificationcount": String(record.modId)
        case "accountname": reader.viewpoint.account
        case "currentdate": DateNotation.us.write(reader.viewpoint.now.date)
        case "currenttime": reader.viewpoint.now.time.text
        case "currenttimestamp": DateNotation.us.write(reader.viewpoint.now)
        default: facts(name)
        }
    }

    private func reference(to name: String) -> (field: FieldReference, repetition: Int)? {
        let name = FieldName(name)
        let model = reader.model.tables[table]
        let database = reader.model.databases[model.database]
        let repetition = name.repetition ?? 1
        guard let occurrence = name.occurrence else {
            guard let field = model.fieldIndexes[name.field] else { return nil }
            return (FieldReference(path: [], occurrence: -1, table: table, field: field), repetition)
        }
        guard
            let start = database.occurrences.firstIndex(where: { $0.table == table }),
            let reference = database.reference(
                to: occurrence,
                field: name.field,
                from: start,
                tables: reader.model.tables
            )
        else { return nil }
        return (reference, repetition)
    }
}
