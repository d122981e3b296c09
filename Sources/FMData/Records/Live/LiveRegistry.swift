import NIOConcurrencyHelpers

/// The pollers of a database's live queries, which it does not keep alive: equal queries share one.
final class LiveRegistry: Sendable {
    /// What makes two live queries one. It outlives their poller, and would keep the database alive if it held the found set.
    struct Key: Hashable, Sendable {
        let record: ObjectIdentifier
        /// Which of the objects that share this registry.
        let database: ObjectIdentifier
        let layout: String
        let query: Query
        let options: DataAPI.LiveOptions

        enum Query: Hashable, Sendable {
            case record(Int)
            /// The poller of a copy, which is shared with nobody.
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
        weak var observer: (any LiveObserver)?
        /// Observers are told of everything in the order in which they came.
        let number: Int
    }

    private struct State: Sendable {
        var entries: [Key: Entry] = [:]
        var lastNumber = 0

        mutating func enter(_ observer: any LiveObserver, as key: Key) {
            entries = entries.filter { $0.value.observer != nil }
            lastNumber += 1
            entries[key] = Entry(observer: observer, number: lastNumber)
        }

        /// Those that there are, with what they are entered as, in their order.
        var observers: [(observer: any LiveObserver, key: Key)] {
            entries.sorted { $0.value.number < $1.value.number }.compactMap { key, entry in
                entry.observer.map { ($0, key) }
            }
        }
    }

    private let state = NIOLockedValueBox(State())
    let identities = NIOLockedValueBox(LiveObjects())

    /// The poller of that key, made if there is none.
    func poller<R: RecordFields>(
        for key: Key,
        on layout: DataAPI.Layout,
        _ poll: () -> Poll<R>
    ) -> LivePoller<R> {
        state.withLockedValue { state in
            if let poller = state.entries[key]?.observer as? LivePoller<R>, !poller.hasEnded { return poller }
            let poller = LivePoller(poll(), key.options, of: layout)
            state.enter(poller, as: key)
            return poller
        }
    }

    /// A poller that is shared with nobody.
    func enter<R: RecordFields>(
        _ poller: CopyPoller<R>,
        of layout: DataAPI.TypedLayout<R>,
        _ options: DataAPI.LiveOptions
    ) {
        state.withLockedValue { state in
            state.enter(poller, as: Key(.copy(ObjectIdentifier(poller)), of: layout, options))
        }
    }

    /// Those that there are.
    var observers: [any LiveObserver] { state.withLockedValue { $0.observers.map(\.observer) } }

    /// The one that there is.
    func observer(of key: Key) -> (any LiveObserver)? { state.withLockedValue { $0.entries[key]?.observer } }

    /// A record was written through a layout of the database. Other layouts may be of the same table, which nobody says here.
    func written(_ recordId: Int?, on layout: String) {
        for entry in state.withLockedValue(\.observers) {
            if entry.key.layout == layout { entry.observer.written(recordId) } else { entry.observer.wake(.ownWrite) }
        }
    }

    /// The database became another account's: its queries forget what they know, and look.
    func beginAnew() {
        let objects = identities.withLockedValue { objects in
            defer { objects = LiveObjects() }
            return objects
        }
        withExtendedLifetime(objects) {}
        for observer in observers { observer.beginAnew() }
    }

    /// The database shuts down, which the next looks find: now, and not after their pauses.
    func shutDown() {
        for observer in observers { observer.wake(.wake) }
    }

    /// Something says that there may be news in the database.
    func changed(_ hint: DataAPI.ChangeHint) {
        for entry in state.withLockedValue(\.observers) where entry.key.isConcerned(by: hint) {
            entry.observer.wake(.wake)
        }
    }
}

extension LiveRegistry.Key {
    /// Whether it cannot be excluded.
    fileprivate func isConcerned(by hint: DataAPI.ChangeHint) -> Bool {
        guard case .record(let id) = query, options.related == .ignore, !hint.isSchema, let rows = hint.rowIDs
        else { return true }
        return rows.contains(id)
    }
}
