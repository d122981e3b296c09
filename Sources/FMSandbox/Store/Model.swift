/// The schema of everything a sandbox hosts, resolved once at start: every name has become an index, every formula is
/// parsed, every path through the relationship graph is known. Requests never search the graph.
struct Model: Sendable {
    var databases: [DatabaseModel] = []
    /// The tables of all databases; a table is named by its place here, so that a relationship may cross files.
    var tables: [TableModel] = []

    func database(named name: String) -> DatabaseModel? {
        // FileMaker opens a file whatever the case of its name; the session then belongs to the spelling used.
        databases.first { $0.name.lowercased() == name.lowercased() }
    }

    /// A table by its name, and whose it is. Throws 802 or 106.
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
    /// Of each privilege set the conditions of the records that it shows, by table.
    var visibleRecords: [String: [Int: Formula]] = [:]
    var fileDateFormat: FileDateFormat
    /// The table in which commits are logged.
    var commitLog: Int?

    /// The table behind an occurrence; nil when there is no such occurrence, or its file is not hosted.
    func table(ofOccurrence name: String) -> Int? { occurrenceIndexes[name].flatMap { occurrences[$0].table } }

    /// An account by its name, in any case; with a password if it is one that is proven by it.
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
    /// How many values a record holds: one for each repetition of each stored field.
    var slotCount = 0
    /// How many values its global fields hold together.
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
    /// The place of the first repetition among the values of a record (or among the global values of the table).
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
    /// nil when the file that holds the table is not hosted.
    var table: Int?
    /// The database that holds the table, as the answers name it.
    var database: String
}

struct RelationshipModel: Sendable {
    struct Match: Sendable {
        var left: Int
        var right: Int
        var comparison: Solution.Relationship.Comparison
    }

    /// What one side allows, and the order in which its records appear.
    struct Side: Sendable {
        var occurrence: Int
        var allowsCreation: Bool
        var deletesWithOther: Bool
        var sort: [SortModel] = []
    }

    var left: Side
    var right: Side
    var matches: [Match]

    /// The side a hop starts from.
    func near(_ hop: Hop) -> Side { hop.isForward ? left : right }
    /// The side a hop leads to.
    func far(_ hop: Hop) -> Side { hop.isForward ? right : left }
}

/// One step through the graph: along a relationship, left to right or back.
struct Hop: Sendable, Equatable {
    var relationship: Int
    var isForward: Bool
}

/// A field as seen from a table occurrence: the way to its occurrence and the field there.
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
    /// Databases of data sources this layout shows, to be opened with the session's credentials.
    var foreignDatabases: Set<Int> = []
    /// The objects whose field was deleted: each by the number of fields that stand before it.
    var deletedFields: [Int] = []
    /// Whether it shows a table of a file that is not hosted (100 on use).
    var needsMissingFile = false

    func field(named name: String) -> LayoutFieldModel? { fieldIndexes[name].map { fields[$0] } }
    func portal(named name: String) -> PortalModel? { portalIndexes[name].map { portals[$0] } }

    /// Of several portals of one occurrence, which go by one name, the first that shows a field.
    func portal(named name: String, showing fields: [String]) -> PortalModel? {
        guard let first = portal(named: name) else { return nil }
        return portals.first { portal in
            portal.key == first.key && fields.allSatisfy { portal.field(named: $0) != nil }
        } ?? first
    }
}

struct LayoutFieldModel: Sendable {
    /// The name on the wire: bare for the layout's own table, otherwise `Occurrence::Field`.
    var name: String
    var reference: FieldReference
    var display: Solution.LayoutField.Display
    var valueList: String?
    /// The repetitions shown, from 1.
    var repetitions: ClosedRange<Int>
}

struct PortalModel: Sendable {
    /// What requests and answers call it: its object name, else the name of its table occurrence.
    var key: String
    var objectName: String?
    var occurrence: Int
    var table: Int
    var path: [Hop]
    /// References start at the portal's occurrence, not at the layout's.
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
        /// The order of a value list; values that are not in it come last.
        case valueList(ValueListModel)
    }

    var reference: FieldReference
    var order: Order
}

struct ValueListModel: Sendable {
    enum Source: Sendable {
        case custom([String])
        case field(FieldReference, display: FieldReference?)
        /// Only values of records related to the one at hand.
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
    /// Without a code the last error stays what it is.
    case exit(Formula, error: Formula?)
    case error(Formula)
    case setByName(Formula, Formula)
    case loop([StepModel])
    case repeating([StepModel])
    case exitLoop(Formula)
    case branch(Formula, then: [StepModel], else: [StepModel])
    case performScript(String, parameter: Formula?)
    /// What stands between Open Transaction and Commit Transaction.
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
