public import FMDataCore
import FMDataRecords
public import Foundation
import NIOConcurrencyHelpers

/// The pollers of a database's live queries. It holds them weakly; equal queries share one.
final class LiveRegistry: DatabaseObserver {
    /// Identifies equal live queries. It does not contain the found set, because the key outlives its poller and would
    /// keep the database alive.
    struct Key: Hashable, Sendable {
        let record: ObjectIdentifier
        /// Which of the database objects that share this registry.
        let database: ObjectIdentifier
        let layout: String
        let query: Query
        let options: DataAPI.LiveOptions

        enum Query: Hashable, Sendable {
            case record(Int)
            /// The poller of a copy, which is not shared.
            case copy(ObjectIdentifier)
            case found(DataAPI.Find?, DataAPI.ReadOptions)
        }

        init<R: RecordFields>(_ query: Query, of layout: DataAPI.TypedLayout<R>, _ options: DataAPI.LiveOptions) {
            record = ObjectIdentifier(R.self)
            database = ObjectIdentifier(layout.layout.database.original)
            self.layout = layout.layout.name
            self.query = query
            self.options = options
        }
    }

    private struct Entry: Sendable {
        weak var observer: (any RegisteredPoller)?
        /// Observers are notified in the order in which they were added.
        let number: Int
    }

    private struct State: Sendable {
        var entries: [Key: Entry] = [:]
        var lastNumber = 0

        mutating func enter(_ observer: any RegisteredPoller, as key: Key) {
            entries = entries.filter { $0.value.observer != nil }
            lastNumber += 1
            entries[key] = Entry(observer: observer, number: lastNumber)
        }

        /// The observers that still exist and their keys, in the order in which they were added.
        var observers: [(observer: any RegisteredPoller, key: Key)] {
            entries.sorted { $0.value.number < $1.value.number }.compactMap { key, entry in
                entry.observer.map { ($0, key) }
            }
        }
    }

    private let state = NIOLockedValueBox(State())
    let identities = NIOLockedValueBox(LiveObjects())

    /// The poller of that key, created if there is none.
    func poller<R: RecordFields>(
        for key: Key,
        on layout: DataAPI.TypedLayout<R>,
        _ poll: () -> Poll<R>
    ) -> LivePoller<R> {
        state.withLockedValue { state in
            if let poller = state.entries[key]?.observer as? LivePoller<R>, !poller.hasEnded { return poller }
            let poller = LivePoller(poll(), key.options, of: layout.layout)
            state.enter(poller, as: key)
            return poller
        }
    }

    /// Adds a poller that is not shared.
    func enter<R: RecordFields>(
        _ poller: CopyPoller<R>,
        of layout: DataAPI.TypedLayout<R>,
        _ options: DataAPI.LiveOptions
    ) {
        state.withLockedValue { state in
            state.enter(poller, as: Key(.copy(ObjectIdentifier(poller)), of: layout, options))
        }
    }

    /// The observers that still exist.
    var observers: [any RegisteredPoller] { state.withLockedValue { $0.observers.map(\.observer) } }

    /// The observer with that key, if it exists.
    func observer(of key: Key) -> (any RegisteredPoller)? { state.withLockedValue { $0.entries[key]?.observer } }

    /// Wakes the queries of the layout, and those of other layouts too, which may show the same table.
    func written(_ recordId: Int?, on layout: String) {
        for entry in state.withLockedValue(\.observers) {
            if entry.key.layout == layout { entry.observer.written(recordId) } else { entry.observer.wake(.ownWrite) }
        }
    }

    /// The queries drop what they know, and poll.
    func beginAnew() {
        let objects = identities.withLockedValue { objects in
            defer { objects = LiveObjects() }
            return objects
        }
        withExtendedLifetime(objects) {}
        for observer in observers { observer.beginAnew() }
    }

    /// Wakes the queries, so that they find out now and not after their pauses.
    func shutDown() {
        for observer in observers { observer.shutDown() }
    }

    /// Something indicates that there may be changes in the database.
    func changed(_ hint: DataAPI.ChangeHint) {
        for entry in state.withLockedValue(\.observers) where entry.key.isConcerned(by: hint) {
            entry.observer.wake(.wake)
        }
    }
}

extension LiveRegistry.Key {
    /// Whether the hint may concern the query.
    fileprivate func isConcerned(by hint: DataAPI.ChangeHint) -> Bool {
        guard case .record(let id) = query, options.related == .ignore, !hint.isSchema, let rows = hint.rowIDs
        else { return true }
        return rows.contains(id)
    }
}

extension DataAPI.Database {
    /// The registry of the live queries.
    var liveRegistry: LiveRegistry { attachments.value { LiveRegistry() } }
}

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
        accountPeriod.reads.wrote()
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
