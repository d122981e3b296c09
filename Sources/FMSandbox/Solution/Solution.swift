/// A hosted FileMaker file as a value: its tables with their records, relationships, layouts, value lists, scripts and
/// accounts. A ``Sandbox`` hosts solutions.
///
/// ```swift
/// var solution = Solution(
///     name: "Shop",
///     tables: [.init(name: "Items", fields: [.init("Name"), .init("Price", .number)])],
///     layouts: [.layout(.init(name: "Items", table: "Items", fields: ["Name", "Price"]))]
/// )
/// solution.addScript("Ping") { context in .result("pong") }
/// let sandbox = try await Sandbox.start([solution])
/// try sandbox.createRecord(["Name": "Tea", "Price": "3"], ofTable: "Items", inDatabase: "Shop")
/// ```
///
/// A solution is `Codable`; ``Solution/load(from:)`` reads one from a JSON file. Scripts written as Swift closures are
/// not encoded.
public struct Solution: Codable, Sendable {
    /// The name of the database: the hosted file's name without `.fmp12`.
    public var name: String
    /// The tables, each with its records.
    public var tables: [Table]
    /// Further table occurrences. Every table also has an occurrence with its own name, which is not listed here.
    package var occurrences: [Occurrence]
    /// The relationships between occurrences.
    package var relationships: [Relationship]
    /// The value lists that layouts and sort orders may name.
    package var valueLists: [ValueList]
    /// Layouts and folders of layouts, in the order the layout list shows them.
    public var layouts: [LayoutItem]
    /// Scripts and folders of scripts, in the order the script list shows them.
    package var scripts: [ScriptItem]
    /// The accounts. If there are none, `admin` with an empty password has full access.
    public var accounts: [Account]
    /// The privilege sets of the accounts. `[Full Access]` and `[Read-Only Access]` always exist.
    package var privilegeSets: [PrivilegeSet]
    /// Other hosted files whose tables this file's occurrences may use.
    package var dataSources: [DataSource]
    /// The date format of the hosted file, for `dateformats=1`. The default is `MM/dd/yyyy`.
    public var dateFormat: String
    /// The settings for the server that hosts it.
    package var server: Server

    /// Scripts written in Swift, by name.
    var handlers: [String: ScriptHandler] = [:]
    /// The name of the table that logs commits; see ``addCommitLog(_:)``.
    var commitLog: String?

    /// Creates a solution. Relationships, portals, value lists, privileges and scripts in steps come from a JSON file:
    /// ``load(from:)``.
    public init(name: String, tables: [Table], layouts: [LayoutItem] = [], accounts: [Account] = []) {
        self.init(name: name, tables: tables, occurrences: [], layouts: layouts, accounts: accounts)
    }

    /// Creates a solution with the given parts.
    @_disfavoredOverload
    package init(
        name: String,
        tables: [Table] = [],
        occurrences: [Occurrence] = [],
        relationships: [Relationship] = [],
        valueLists: [ValueList] = [],
        layouts: [LayoutItem] = [],
        scripts: [ScriptItem] = [],
        accounts: [Account] = [],
        privilegeSets: [PrivilegeSet] = [],
        dataSources: [DataSource] = [],
        dateFormat: String = "MM/dd/yyyy",
        server: Server = Server()
    ) {
        self.name = name
        self.tables = tables
        self.occurrences = occurrences
        self.relationships = relationships
        self.valueLists = valueLists
        self.layouts = layouts
        self.scripts = scripts
        self.accounts = accounts
        self.privilegeSets = privilegeSets
        self.dataSources = dataSources
        self.dateFormat = dateFormat
        self.server = server
    }

    /// Adds a script written in Swift at the end of the script list, or to the listed script of that name.
    ///
    /// The closure runs once per call of the script, on one of the sandbox's threads. The session's other requests wait
    /// meanwhile; those of other sessions do not. See ``ScriptContext`` for what it can use.
    public mutating func addScript(_ name: String, _ handler: @escaping ScriptHandler) {
        handlers[name] = handler
        guard !scripts.contains(where: { $0.contains(name: name) }) else { return }
        scripts.append(.script(Script(name: name)))
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case name, tables, occurrences, relationships, valueLists, layouts, scripts, accounts, privilegeSets,
            dataSources
        case dateFormat, server
    }

    /// Reads the documented JSON form. An unknown key is an error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        self.init(
            name: try container.decode(String.self, forKey: .name),
            tables: try container.decode([Table].self, forKey: .tables, default: []),
            occurrences: try container.decode([Occurrence].self, forKey: .occurrences, default: []),
            relationships: try container.decode([Relationship].self, forKey: .relationships, default: []),
            valueLists: try container.decode([ValueList].self, forKey: .valueLists, default: []),
            layouts: try container.decode([LayoutItem].self, forKey: .layouts, default: []),
            scripts: try container.decode([ScriptItem].self, forKey: .scripts, default: []),
            accounts: try container.decode([Account].self, forKey: .accounts, default: []),
            privilegeSets: try container.decode([PrivilegeSet].self, forKey: .privilegeSets, default: []),
            dataSources: try container.decode([DataSource].self, forKey: .dataSources, default: []),
            dateFormat: try container.decode(String.self, forKey: .dateFormat, default: "MM/dd/yyyy"),
            server: try container.decode(Server.self, forKey: .server, default: Server())
        )
    }
}
