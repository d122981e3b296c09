public import Foundation

extension DataAPI {
    /// A hint from outside that something in a database may have changed: from a webhook, a message queue, another
    /// process.
    ///
    /// A hint only means "poll now". It may come late, twice or never, and may be incomplete or out of order; the poll
    /// finds out what has changed.
    public struct ChangeHint: Sendable, Hashable {
        /// The name of the database.
        public var database: String
        /// The table or table occurrence; `nil` when it is not known, which means any.
        public var table: String?
        /// The records, by the ids that the Data API gives them; `nil` when they are not known, or when they are many.
        public var rowIDs: [Int]?
        /// Whether definitions have changed: tables, fields.
        public var isSchema: Bool
        /// When the hint was received.
        public var receivedAt: Date

        /// Creates a hint, for example from a message of a queue; see the properties.
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
    /// Something may have changed in this database: its live queries poll now, or once more after the poll under way.
    ///
    ///     database.changed(DataAPI.ChangeHint(
    ///         database: "Contacts", table: "People", rowIDs: [17], isSchema: false, receivedAt: Date()))
    ///
    /// The Data API does not tell which table a layout shows, so all live queries poll, whatever the hint's table;
    /// excepted are those of single records (``DataAPI/TypedLayout/observe(_:_:isolation:)``) that are not among the
    /// hint's records. Has no effect without subscribers, or if the hint names another database. Polls keep to their
    /// rate limit, however many hints come. Cached answers (``Calling/cached(for:)``) are dropped.
    public func changed(_ hint: DataAPI.ChangeHint) {
        guard hint.database.fileName == name.fileName else { return }
        tenure.reads.wrote()
        liveRegistry.changed(hint)
    }
}

extension String {
    /// FileMaker accepts a file name with and without its extension, and ignores case.
    fileprivate var fileName: String {
        let name = lowercased()
        return name.hasSuffix(".fmp12") ? String(name.dropLast(6)) : name
    }
}
