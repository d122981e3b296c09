import NIOConcurrencyHelpers

/// The pollers of a database's live queries, which it does not keep alive: equal queries share one.
final class LiveRegistry: Sendable {
    /// What makes two live queries one.
    struct Key: Hashable, Sendable {
        let record: ObjectIdentifier
        let query: Query
        let options: DataAPI.LiveOptions

        enum Query: Hashable, @unchecked Sendable {
            // @unchecked: what is erased is a found set, which is Sendable.
            case record(Int, layout: String)
            case found(AnyHashable)
        }
    }

    private struct Entry: Sendable {
        weak var observer: (any LiveObserver)?
        let layout: String
    }

    private let entries = NIOLockedValueBox<[Key: Entry]>([:])
    let identities = NIOLockedValueBox(LiveObjects())

    /// The poller of that key, made if there is none.
    func poller<R: RecordFields>(
        for key: Key,
        on layout: DataAPI.Layout,
        _ look: () -> Look<R>
    ) -> LivePoller<R> {
        entries.withLockedValue { entries in
            if let poller = entries[key]?.observer as? LivePoller<R>, !poller.hasEnded { return poller }
            entries = entries.filter { $0.value.observer != nil }
            let poller = LivePoller(look(), key.options, of: layout)
            entries[key] = Entry(observer: poller, layout: layout.name)
            return poller
        }
    }

    /// How many there are.
    var count: Int { entries.withLockedValue { entries in entries.values.count { $0.observer != nil } } }

    /// The one that there is.
    func observer(of key: Key) -> (any LiveObserver)? { entries.withLockedValue { $0[key]?.observer } }

    /// A record was written through a layout of the database. Other layouts may be of the same table, which nobody says here.
    func written(_ recordId: Int?, on layout: String) {
        let observers = entries.withLockedValue { entries in
            entries.values.compactMap { entry in entry.observer.map { ($0, entry.layout == layout) } }
        }
        for (observer, isSameLayout) in observers {
            if isSameLayout { observer.written(recordId) } else { observer.wake(.ownWrite) }
        }
    }

    /// Something says that there may be news in the database.
    func changed(_ hint: DataAPI.ChangeHint) {
        let observers = entries.withLockedValue { entries in
            entries.filter { $0.key.isConcerned(by: hint) }.compactMap(\.value.observer)
        }
        for observer in observers { observer.wake(.wake) }
    }
}

extension LiveRegistry.Key {
    /// Whether it cannot be excluded.
    fileprivate func isConcerned(by hint: DataAPI.ChangeHint) -> Bool {
        guard case .record(let id, _) = query, options.related == .ignore, !hint.isSchema, let rows = hint.rowIDs
        else { return true }
        return rows.contains(id)
    }
}
