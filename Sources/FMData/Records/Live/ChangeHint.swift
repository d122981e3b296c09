public import Foundation

extension DataAPI {
    /// Word from outside that something in a database may have changed: from a webhook, a message queue, another process.
    ///
    /// A hint says no more than "look now". It may come late, twice or never, and says neither all nor in what order; what has
    /// changed the look finds out.
    public struct ChangeHint: Sendable, Hashable {
        /// The name of the database.
        public var database: String
        /// The table or table occurrence; `nil` when that is not known: any of them.
        public var table: String?
        /// The records, by the ids that the Data API gives them; `nil` when it is not known which, or when they are many.
        public var rowIDs: [Int]?
        /// Whether definitions have changed: tables, fields.
        public var isSchema: Bool
        /// When the word came.
        public var receivedAt: Date

        /// A hint of your own making, from a message queue for instance; see the properties.
        public init(database: String, table: String?, rowIDs: [Int]?, isSchema: Bool, receivedAt: Date) {
            self.database = database
            self.table = table
            self.rowIDs = rowIDs
            self.isSchema = isSchema
            self.receivedAt = receivedAt
        }
    }
}

extension DataAPI.Database {
    /// Something may have changed in this database: its live queries look now, or once more after the look that is under way.
    ///
    ///     database.changed(DataAPI.ChangeHint(
    ///         database: "Contacts", table: "People", rowIDs: [17], isSchema: false, receivedAt: Date()))
    ///
    /// Which of its tables shows which records the Data API does not say, so all live queries look, whatever the hint's table, but
    /// for those of single records (``DataAPI/TypedLayout/observe(_:_:isolation:)``) that are not among the hint's. Without effect
    /// when nobody listens, and when the hint is of a database of another name. Looks stay within their budget, however many
    /// hints come. Answers that are kept (``Calling/cached(for:)``) are forgotten.
    public func changed(_ hint: DataAPI.ChangeHint) {
        guard hint.database.fileName == name.fileName else { return }
        tenure.reads.wrote()
        live.changed(hint)
    }
}

extension String {
    /// FileMaker takes the name of a file with and without its ending, in upper and lower case.
    fileprivate var fileName: String {
        let name = lowercased()
        return name.hasSuffix(".fmp12") ? String(name.dropLast(6)) : name
    }
}
