/// The schema of all hosted solutions, resolved once at the start: names are indexes, formulas are parsed, and paths
/// through the relationship graph are known. Requests never search the graph.
struct Model: Sendable {
    var databases: [DatabaseModel] = []
    /// The tables of all databases. A table is identified by its index here, so that a relationship can cross files.
    var tables: [TableModel] = []

    func database(named name: String) -> DatabaseModel? {
        // FileMaker opens a file whatever the case of its name; the session then belongs to the spelling that was used.
        databases.first { $0.name.lowercased() == name.lowercased() }
    }

    /// A table by its name, and its database. Throws 802 if there is no such database, 106 if there is no such table.
    func table(_ name: String, ofDatabase database: String) throws -> (database: DatabaseModel, place: Int) {
        guard let database = self.database(named: database) else { throw FileMakerError(802) }
        guard let place = database.tables.first(where: { tables[$0].name == name }) else { throw FileMakerError(106) }
        return (database, place)
    }
}

struct DatabaseModel: Sendable {
    var index: Int
    var name: String
    var tables: Range<Int>
    var occurrences: [OccurrenceModel] = []
    var occurrenceIndexes: NameTable<Int>
    var relationships: [RelationshipModel] = []
    var layouts: NameTable<LayoutModel>
    var layoutItems: [Solution.LayoutItem] = []
    var valueLists: NameTable<ValueListModel>
    var scripts: NameTable<ScriptModel>
    var scriptItems: [Solution.ScriptItem] = []
    var accounts: [Solution.Account] = []
    var privilegeSets: [String: Solution.PrivilegeSet] = [:]
    /// The conditions of visible records, by privilege set and table.
    var visibleRecords: [String: [Int: Formula]] = [:]
    var fileDateFormat: FileDateFormat
    /// The table that logs commits.
    var commitLog: Int?

    /// The table of an occurrence; nil if there is no such occurrence or its file is not hosted.
    func table(ofOccurrence name: String) -> Int? { occurrenceIndexes[name].flatMap { occurrences[$0].table } }

    /// An account by its name, in any case, and by its password unless that is nil.
    func account(_ kind: Solution.Account.Kind, name: String, password: String? = nil) -> Solution.Account? {
        accounts.first { account in
            account.kind == kind && account.name.lowercased() == name.lowercased()
                && (password == nil || account.password == password)
        }
    }
}

struct TableModel: Sendable {
    var id: Int
    var database: Int
    var name: String
    var fields: [FieldModel] = []
    var fieldIndexes: NameTable<Int>
    /// The number of values in a record: one for each repetition of each stored field.
    var slotCount = 0
    /// The number of values of all global fields.
    var globalSlotCount = 0

    func field(named name: String) -> FieldModel? { fieldIndexes[name].map { fields[$0] } }
}

struct FieldModel: Sendable {
    enum Content: Sendable {
        case stored
        case calculation(Formula)
        case summary(Solution.Summary.Function, field: Int)
    }

    var index: Int
    var name: String
    var type: Solution.FieldType
    /// The index of the first repetition among the values of a record, or among the global values of the table.
    var slot = 0
    var repetitions = 1
    var isGlobal = false
    var content = Content.stored
    var autoEnter: Solution.AutoEnter?
    /// The formula of ``Solution/AutoEnter/calculation(_:replacesExisting:)``.
    var autoEnterFormula: Formula?
    var validation = Solution.Validation()
    var validationFormula: Formula?
    var prohibitsModification = false

    var isStored: Bool { if case .stored = content { true } else { false } }
    var isSerial: Bool { if case .serial = autoEnter { true } else { false } }
    var isSummary: Bool { if case .summary = content { true } else { false } }
}

struct OccurrenceModel: Sendable {
    var name: String
    /// nil if the file of the table is not hosted.
    var table: Int?
    /// The database of the table, by the name that answers use.
    var database: String
}

struct RelationshipModel: Sendable {
    struct Match: Sendable {
        var left: Int
        var right: Int
        var comparison: Solution.Relationship.Comparison
    }

    /// The settings of one side, and the order of its records.
    struct Side: Sendable {
        var occurrence: Int
        var allowsCreation: Bool
        var deletesWithOther: Bool
        var sort: [SortModel] = []
    }

    var left: Side
    var right: Side
    var matches: [Match]

    /// The side from which a hop starts.
    func near(_ hop: Hop) -> Side { hop.isForward ? left : right }
    /// The side to which a hop leads.
    func far(_ hop: Hop) -> Side { hop.isForward ? right : left }
}

/// One step through the graph: along a relationship, from left to right or back.
struct Hop: Sendable, Equatable {
    var relationship: Int
    var isForward: Bool
}

/// A field as seen from a table occurrence: the path to the field's occurrence, and the field there.
struct FieldReference: Sendable, Equatable {
    var path: [Hop]
    var occurrence: Int
    var table: Int
    var field: Int
}

struct LayoutModel: Sendable {
    var name: String
    var database: Int
    var occurrence: Int
    var table: Int
    var fields: [LayoutFieldModel] = []
    var fieldIndexes: NameTable<Int>
    var portals: [PortalModel] = []
    /// The first portal of each name.
    var portalIndexes: NameTable<Int>
    var view: Solution.Layout.View
    /// The databases of data sources on this layout, which are opened with the session's credentials.
    var foreignDatabases: Set<Int> = []
    /// The objects whose field was deleted: for each, the number of fields before it.
    var deletedFields: [Int] = []
    /// Whether it shows a table of a file that is not hosted; using it is then error 100.
    var needsMissingFile = false

    func field(named name: String) -> LayoutFieldModel? { fieldIndexes[name].map { fields[$0] } }
    func portal(named name: String) -> PortalModel? { portalIndexes[name].map { portals[$0] } }

    /// The first portal of that name that shows all given fields. Portals of one occurrence may share a name; if none
    /// shows them all, it is the first of that name.
    func portal(named name: String, showing fields: [String]) -> PortalModel? {
        guard let first = portal(named: name) else { return nil }
        return portals.first { portal in
            portal.key == first.key && fields.allSatisfy { portal.field(named: $0) != nil }
        } ?? first
    }
}

struct LayoutFieldModel: Sendable {
    /// The name in requests and answers: unqualified if the field is in the layout's own table occurrence, otherwise
    /// `Occurrence::Field`.
    var name: String
    var reference: FieldReference
    var display: Solution.LayoutField.Display
    var valueList: String?
    /// The repetitions that it shows; the first one is 1.
    var repetitions: ClosedRange<Int>
}

struct PortalModel: Sendable {
    /// The name in requests and answers: the object name, else the name of its table occurrence.
    var key: String
    var objectName: String?
    var occurrence: Int
    var table: Int
    var path: [Hop]
    /// The fields; their references start at the portal's occurrence, not at the layout's.
    var fields: [LayoutFieldModel]
    var fieldIndexes: NameTable<Int>
    var firstRow: Int
    var rowCount: Int?
    var sort: [SortModel]
    var filter: Formula?
    var allowsDeletion: Bool

    func field(named name: String) -> LayoutFieldModel? { fieldIndexes[name].map { fields[$0] } }
}

struct SortModel: Sendable {
    enum Order: Sendable {
        case ascending
        case descending
        /// The order of a value list; values that are not in the list come last.
        case valueList(ValueListModel)
    }

    var reference: FieldReference
    var order: Order
}

struct ValueListModel: Sendable {
    enum Source: Sendable {
        case custom([String])
        case field(FieldReference, display: FieldReference?)
        /// Only the values of records related to the current one.
        case related(occurrence: Int, FieldReference, display: FieldReference?)
    }

    var name: String
    var source: Source
}

struct ScriptModel: Sendable {
    var name: String
    var steps: [StepModel]
    var handler: ScriptHandler?
}

indirect enum StepModel: Sendable {
    case set(String, Formula)
    /// Ends the script. Without a code the last error is kept.
    case exit(Formula, error: Formula?)
    case error(Formula)
    case setByName(Formula, Formula)
    case loop([StepModel])
    case repeating([StepModel])
    case exitLoop(Formula)
    case branch(Formula, then: [StepModel], else: [StepModel])
    case performScript(String, parameter: Formula?)
    /// The steps between Open Transaction and Commit Transaction.
    case transaction([StepModel])
    case revertTransaction(Formula?, error: Formula?)
    case setRevertTransactionOnError(Bool)
    case commitRecords
    case goToLayout(Formula)
    case goToListOfRecords(Formula)
    case constrain(Formula)
    case find([[String: Formula]])
    case omitRecord
    case closeWindow
    case showAll
    case newRecord
    case deleteRecord
    case wait(Formula)
}
