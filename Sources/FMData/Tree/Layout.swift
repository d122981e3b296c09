extension DataAPI {
    /// One layout of a database: the door to the records of its table. Everything is seen through a layout: a field or a
    /// portal that is not on it does not exist for the Data API.
    ///
    /// A layout is a small value. It keeps its database, and through it the server, alive.
    public struct Layout: Sendable {
        /// The layout's name in the file.
        public let name: String
        /// The database that the layout belongs to.
        public let database: Database
        /// The table occurrence the layout is based on, where ``DataAPI/Database/getLayoutNames(isolation:)`` said so; servers
        /// before 19.4 do not.
        public let table: String?

        init(name: String, database: Database, table: String? = nil) {
            self.name = name
            self.database = database
            self.table = table
        }
    }
}

extension DataAPI.Layout: Hashable {
    /// Two layouts are the same when they have the same name in the same database object, whatever the options of
    /// their calls.
    public static func == (lhs: DataAPI.Layout, rhs: DataAPI.Layout) -> Bool {
        lhs.name == rhs.name && lhs.database.original === rhs.database.original
    }

    /// By database and name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(ObjectIdentifier(database.original))
    }
}

extension DataAPI.Layout: CustomStringConvertible, CustomReflectable {
    /// What it is, in a few words that hold no secret and no field value.
    public var description: String { "Layout(\"\(name)\" of \(database))" }

    /// What a dump may show: no secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "database": database.name, "table": table as Any])
    }
}
