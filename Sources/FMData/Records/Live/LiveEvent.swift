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
        case reset(ResetReason)
    }

    /// Why a copy of records is of no use any more.
    public enum ResetReason: Hashable, Sendable {
        /// The records on the host are older than those of the copy, or others have their ids: a backup was restored, or another file
        /// has the name.
        case otherFile
        /// What the copy goes on from is of another query, or of another server, database or layout.
        case otherQuery
        /// The database became another account's (``DataAPI/Database/replaceCredentials(_:dataSources:)``), which
        /// sees other records. This comes at once, and the records with the first look of that account.
        case otherAccount
    }
}

extension DataAPI {
    /// The changes of a query's records, for a program that keeps a copy of them elsewhere: a publisher of a snapshot, then `ready`,
    /// then change sets.
    ///
    ///     people.changes(of: people.find { $0(.city) == "Calgary" }, since: cursor)
    ///
    /// With the cursor of an earlier run there is no snapshot: the first look is compared with what the cursor knows, so that all
    /// that has happened meanwhile comes as one change set, deletions included: a record that is missing was asked for, or two
    /// looks agree that it is gone. That look reads all records, and all are held as in any live query; for large tables there is
    /// ``TypedLayout/changes(of:keptBy:options:isolation:)``.
    ///
    /// Nothing is sent before demand. Demand is for events; while there is none, changes are put together. Never finishes; fails as
    /// a ``DataAPI/LiveQuery`` does, whose looks it shares. What a subscriber has dealt with may come again after a restart:
    /// tell records by their ids, and keep the greatest modId.
    public struct LiveChanges<R: RecordFields>: Publisher, Sendable {
        /// What the copy has to do next.
        public typealias Output = LiveEvent<R>
        /// Why there is no more.
        public typealias Failure = FMRest.APIError

        fileprivate let query: LiveQuery<R>
        fileprivate let cursor: LiveCursor?

        /// Attaches the subscriber. Nothing is asked for before it asks.
        public func receive<Downstream: Subscriber<LiveEvent<R>, FMRest.APIError>>(subscriber: Downstream) {
            let found = query.found
            let isKnown = cursor?.query == found.fingerprint
            let comparesContents = query.options.related != .ignore
            query.told(to: query.isolation, expecting: isKnown ? cursor?.versions.map(\.recordId) ?? [] : []) {
                [cursor] in
                var copy = LiveCopy(of: found, since: cursor, comparesContents: comparesContents)
                return { state in copy.events(of: state) }
            }
            .receive(subscriber: subscriber)
        }

        /// Looks now, or once more after the look that is under way, also when nobody wants an event at the moment. Without effect
        /// when nobody listens.
        public func refresh() { query.refresh() }

        /// What the query does; see ``LiveQuery/status``.
        public var status: AnyPublisher<LiveStatus, Never> { query.status }
    }
}

extension DataAPI.TypedLayout {
    /// The changes of a query's records, for a program that keeps a copy of them elsewhere; see ``DataAPI/LiveChanges``.
    ///
    ///     people.changes(of: people.find { $0(.city) == "Calgary" }, since: cursor)
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
    ) -> DataAPI.LiveChanges<R> {
        DataAPI.LiveChanges(query: (found ?? allRecords).live(options, isolation: isolation), cursor: cursor)
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
    private let encoder: FMEncoder
    /// Whether contents can change without a commit of their record.
    private let comparesContents: Bool
    private var known: Known

    init(of found: DataAPI.FoundSet<R>, since cursor: DataAPI.LiveCursor?, comparesContents: Bool = false) {
        self.found = found
        self.comparesContents = comparesContents
        encoder = found.layout.layout.encoder
        known = cursor.map(Known.cursor) ?? .nothing
    }

    mutating func events(of state: LiveState<R>) -> [Event] {
        defer { known = state.isBlank ? .nothing : .state(state) }
        if state.isBlank { return [.reset(.otherAccount)] }
        switch known {
        case .nothing: return snapshot(of: state)
        case .cursor(let cursor):
            if cursor.query != found.fingerprint { return [.reset(.otherQuery)] + snapshot(of: state) }
            if isOfOtherFile(cursor, state) { return [.reset(.otherFile)] + snapshot(of: state) }
            let known = cursor.versions.enumerated().map { place, version in
                Changes.Known(id: version.recordId, modId: version.modId, contents: cursor.contents?[place])
            }
            let changes = Changes(from: known, to: state, contents: { $0.digest(encoder) })
            let reached = self.cursor(of: state)
            return (changes.isEmpty ? [] : [changed(changes, state, looks: 1, reached)]) + [.ready(reached)]
        case .state(let before):
            if before.epoch != state.epoch { return [.reset(.otherFile)] + snapshot(of: state) }
            let changes = state.changes(since: before)
            // A slow subscriber may have missed something that was undone.
            if changes.isEmpty { return [] }
            let looks = state.version - before.version
            return [changed(changes, state, looks: looks, cursor(of: state))]
        }
    }

    /// A modId never falls in one and the same file, and a version of a record holds what it held.
    private func isOfOtherFile(_ cursor: DataAPI.LiveCursor, _ state: LiveState<R>) -> Bool {
        let versions = state.versions
        return cursor.versions.contains { version in versions[version.recordId].map { $0 < version.modId } ?? false }
            || cursor.sample.isContradicted(
                by: state.records,
                encoder,
                in: state.tenure?.layouts.known(found.shownLayout.name)
            )
    }

    private func cursor(of state: LiveState<R>) -> DataAPI.LiveCursor {
        DataAPI.LiveCursor(state, of: found, comparesContents: comparesContents)
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
            + [.ready(cursor(of: state))]
    }
}
