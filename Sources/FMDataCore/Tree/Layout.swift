extension DataAPI {
    /// A layout of a database: it gives access to the records of its table. The Data API sees everything through a
    /// layout: a field or a portal that is not on it does not exist for the call.
    ///
    /// A layout is a small value. It keeps its database alive, and through it the server.
    public struct Layout: Sendable {
        /// The layout's name in the file.
        public let name: String
        /// The database that the layout belongs to.
        public let database: Database
        /// The table occurrence that the layout is based on, when ``DataAPI/Database/getLayoutNames(isolation:)`` named
        /// it; servers before 19.4 do not.
        public let table: String?

        init(name: String, database: Database, table: String? = nil) {
            self.name = name
            self.database = database
            self.table = table
        }
    }
}

extension DataAPI.Layout: Hashable {
    /// Layouts are equal when they have the same name in the same database object, whatever the options of their calls.
    public static func == (lhs: DataAPI.Layout, rhs: DataAPI.Layout) -> Bool {
        lhs.name == rhs.name && lhs.database.original === rhs.database.original
    }

    /// Hashes the name and the identity of the database object.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(ObjectIdentifier(database.original))
    }
}

extension DataAPI.Layout: CustomStringConvertible, CustomReflectable {
    /// A short text, without secrets and field values.
    public var description: String { "Layout(\"\(name)\" of \(database))" }

    /// The children that a dump shows, without secrets.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "database": database.name, "table": table as Any])
    }
}

/// The names of the layouts that a program uses, as an enum, so that a typo does not compile.
///
/// ```swift
/// enum Layouts: String, LayoutKey {
///     case people = "Contacts"
///     case openOrders = "Orders (open)"
/// }
///
/// let people = database.addLayout(Layouts.people)
/// print(people.name)                                          // Contacts
/// ```
///
/// An enum of `String` needs nothing else: its raw value is the layout's name. Implement ``layoutName`` when the two
/// differ. A text is a key, too, so that a layout can be named by either wherever one is asked for.
public protocol LayoutKey: Sendable {
    /// The layout's name in the file. The default for a type with a raw value is `rawValue`.
    var layoutName: String { get }
}

extension LayoutKey where Self: RawRepresentable<String> {
    /// The default: the raw value.
    public var layoutName: String { rawValue }
}

extension String: LayoutKey {
    /// The text itself.
    public var layoutName: String { self }
}

extension DataAPI.Layout: LayoutAddress {
    package var databaseName: String { database.name }
    package var apiRoot: String { database.server.apiRoot }
    package var dateFormats: String? { database.server.config.dateFormats.wireValue }

    package var encoder: FMEncoder {
        FMEncoder(options: database.server.encoding, recordEncoder: database.server.config.encoder)
    }
}
