public import OpenCombine

extension DataAPI {
    /// What a program that keeps a copy of a query's records has to do next.
    public enum LiveEvent<R: RecordFields>: Sendable {
        /// Records as they are at the beginning, some at a time.
        case snapshot([TypedLayout<R>.Record], isLast: Bool)
        /// Records of the query that cannot be decoded, so that the snapshot before this has gone without them. Later ones come with
        /// the changes: ``ChangeSet/unreadable``.
        case unreadable([UnreadableRecord])
        /// The copy is complete. What follows are changes.
        case ready(LiveCursor)
        /// Records have come, changed or gone.
        case changed(ChangeSet<R>, Freshness, LiveCursor)
        /// The copy is of no use any more, and a snapshot follows.
        case reset(Reset)

        /// Why a copy is of no use.
        public enum Reset: Hashable, Sendable {
            /// The records on the host are older than those of the copy: a backup was restored, or another file has the name.
            case otherFile
            /// The cursor is one of another query.
            case otherQuery
            /// The database became another account's (``DataAPI/Database/replaceCredentials(_:dataSources:)``), which
            /// sees other records. This comes at once, and the snapshot with the first look of that account.
            case otherAccount
        }
    }
}

extension DataAPI.TypedLayout {
    /// The changes of a query's records, for a program that keeps a copy of them elsewhere: a snapshot, then `ready`, then change
    /// sets.
    ///
    ///     people.changes(of: people.find { $0(.city) == "Calgary" }, since: cursor)
    ///
    /// With the cursor of an earlier run there is no snapshot: the first look is compared with what the cursor knows, so that all
    /// that has happened meanwhile comes as one change set, deletions included: a record that is missing was asked for, or two
    /// looks agree that it is gone.
    ///
    /// Nothing is sent before demand. Demand is for events; while there is none, changes are put together. Never finishes; fails as
    /// a ``DataAPI/LiveQuery`` does, whose looks it shares. What a subscriber has dealt with may come again after a restart:
    /// tell records by their ids, and keep the greatest modId.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - found: which records; `nil` is all.
    ///   - cursor: of the last event that an earlier run has dealt with.
    ///   - options: how often it looks, and how.
    ///   - isolation: where the values arrive; leave it out.
    public func changes(
        of found: DataAPI.FoundSet<R>? = nil,
        since cursor: DataAPI.LiveCursor? = nil,
        options: DataAPI.LiveOptions = DataAPI.LiveOptions(),
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.LiveEvent<R>, FMRest.APIError> {
        let found = found ?? allRecords
        let expected = cursor.flatMap { $0.query == found.fingerprint ? $0.versions.map(\.id) : nil }
        return found.live(options, isolation: nil)
            .told(to: isolation, expecting: expected ?? []) {
                var copy = LiveCopy(of: found, since: cursor)
                return { state in copy.events(of: state) }
            }
    }
}

/// What a subscriber of changes has been told.
struct LiveCopy<R: RecordFields> {
    typealias Event = DataAPI.LiveEvent<R>
    typealias Changes = DataAPI.ChangeSet<R>

    /// Records that one event of a snapshot holds.
    private static var chunk: Int { 500 }

    private enum Known {
        case nothing
        case cursor(DataAPI.LiveCursor)
        case state(LiveState<R>)
    }

    private let found: DataAPI.FoundSet<R>
    private var known: Known

    init(of found: DataAPI.FoundSet<R>, since cursor: DataAPI.LiveCursor?) {
        self.found = found
        known = cursor.map(Known.cursor) ?? .nothing
    }

    mutating func events(of state: LiveState<R>) -> [Event] {
        defer { known = state.isBlank ? .nothing : .state(state) }
        if state.isBlank { return [.reset(.otherAccount)] }
        switch known {
        case .nothing: return snapshot(of: state)
        case .cursor(let cursor):
            if cursor.query != found.fingerprint { return [.reset(.otherQuery)] + snapshot(of: state) }
            let versions = state.versions
            // A modId never falls in one and the same file.
            if cursor.versions.contains(where: { version in versions[version.id].map { $0 < version.modId } ?? false })
            {
                return [.reset(.otherFile)] + snapshot(of: state)
            }
            let changes = Changes(from: cursor.versions.map { Changes.Known(id: $0.id, modId: $0.modId) }, to: state)
            let reached = DataAPI.LiveCursor(state, of: found)
            return (changes.isEmpty ? [] : [changed(changes, state, looks: 1, reached)]) + [.ready(reached)]
        case .state(let before):
            if before.epoch != state.epoch { return [.reset(.otherFile)] + snapshot(of: state) }
            let changes = state.changes(since: before)
            // A slow subscriber may have missed something that was undone.
            if changes.isEmpty { return [] }
            let looks = state.version - before.version
            return [changed(changes, state, looks: looks, DataAPI.LiveCursor(state, of: found))]
        }
    }

    private func changed(
        _ changes: Changes,
        _ state: LiveState<R>,
        looks: Int,
        _ cursor: DataAPI.LiveCursor
    ) -> Event {
        let time = found.layout.server.time
        return .changed(
            changes,
            DataAPI.Freshness(
                origin: state.origin,
                asOf: time.date(state.asOf),
                isComplete: state.isComplete,
                looks: looks,
                watch: state.watch
            ),
            cursor
        )
    }

    private func snapshot(of state: LiveState<R>) -> [Event] {
        let starts = stride(from: 0, to: max(1, state.records.count), by: Self.chunk)
        return starts.map { start in
            let end = min(start + Self.chunk, state.records.count)
            return .snapshot(Array(state.records[start..<end]), isLast: end == state.records.count)
        } + (state.unreadable.isEmpty ? [] : [.unreadable(state.unreadable)])
            + [.ready(DataAPI.LiveCursor(state, of: found))]
    }
}
