public import FMDataCore
public import FMDataRecords
public import OpenCombine

extension DataAPI {
    /// What a program that keeps a copy of a query's records has to do next.
    public enum LiveEvent<R: RecordFields>: Sendable {
        /// Records of the initial state, some at a time.
        case snapshot([TypedLayout<R>.Record], isLast: Bool)
        /// Records of the query that cannot be decoded, so that the preceding snapshot lacks them. Later ones come with
        /// the changes: ``ChangeSet/unreadable``.
        case unreadable([UnreadableRecord])
        /// The copy is complete. Changes follow.
        case ready(LiveCursor)
        /// Records were inserted, changed or removed.
        case changed(ChangeSet<R>, Freshness, LiveCursor)
        /// The copy is no longer valid. A snapshot follows.
        case reset(ResetReason)
    }

    /// Why a copy of records is no longer valid. More may be added: a `switch` over it needs a `default`.
    public struct ResetReason: Hashable, Sendable, CustomStringConvertible {
        /// The name of the reason.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The host's records are older than those of the copy, or their ids belong to other records: a backup was
        /// restored, or another file has the name.
        public static let otherFile = ResetReason("otherFile")
        /// The cursor or mark belongs to another query, or to another server, database or layout.
        public static let otherQuery = ResetReason("otherQuery")
        /// The database was switched to another account (``DataAPI/Database/replaceCredentials(_:dataSources:)``),
        /// which sees other records. This event comes at once, the records with that account's first poll.
        public static let otherAccount = ResetReason("otherAccount")
    }
}

extension DataAPI {
    /// The changes of a query's records, for a program that keeps a copy of them elsewhere. Publishes a snapshot, then
    /// `ready`, then change sets.
    ///
    ///     people.find { $0(.city) == "Calgary" }.changes(since: cursor)
    ///
    /// With the cursor of an earlier run there is no snapshot. The first poll is compared with the cursor, so that
    /// everything that has happened meanwhile comes as one change set, deletions included: a missing record was asked
    /// for, or two polls agree that it is missing. That poll reads all records, and all of them are held in memory, as
    /// in any live query. For large tables use ``RecordSource/changes(keptBy:options:isolation:)``.
    ///
    /// Each event is one unit of demand; while there is none, changes are merged. Fails as a ``DataAPI/LiveQuery``
    /// does, and shares its polls with equal queries. After a restart an event that was already processed may come
    /// again: identify records by their ids, and keep the greatest modId.
    ///
    /// - Note: Values until it is cancelled. See <doc:Calls>.
    public struct LiveChanges<R: RecordFields>: Publisher, Sendable {
        /// What to do next with the copy.
        public typealias Output = LiveEvent<R>
        /// Why the publisher has failed.
        public typealias Failure = FMRest.APIError

        fileprivate let query: LiveQuery<R>
        fileprivate let cursor: LiveCursor?

        /// Attaches the subscriber. Nothing is sent before there is demand.
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

        /// Polls now, or once more after the poll under way, even without demand for an event. Has no effect without
        /// subscribers.
        public func refresh() { query.refresh() }

        /// What the query is doing; see ``LiveQuery/status``.
        public var status: AnyPublisher<LiveStatus, Never> { query.status }
    }
}

extension DataAPI.RecordSource {
    /// The changes of the records, for a program that keeps a copy of them elsewhere; see
    /// ``DataAPI/LiveChanges``.
    ///
    ///     people.find { $0(.city) == "Calgary" }.changes(since: cursor)
    ///
    /// - Note: Values until it is cancelled. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - cursor: the cursor of the last event that an earlier run has processed; `nil`, the default, for a snapshot.
    ///   - options: how it polls.
    ///   - isolation: where the values arrive; leave it out.
    public func changes(
        since cursor: DataAPI.LiveCursor? = nil,
        options: DataAPI.LiveOptions = DataAPI.LiveOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.LiveChanges<R> {
        DataAPI.LiveChanges(query: live(options, isolation: isolation), cursor: cursor)
    }
}

/// What one subscriber of changes has received so far.
struct LiveCopy<R: RecordFields> {
    typealias Event = DataAPI.LiveEvent<R>
    typealias Changes = DataAPI.ChangeSet<R>

    /// The number of records in one event of a snapshot.
    private static var chunk: Int { 500 }

    private enum LastReceived {
        case nothing
        case cursor(DataAPI.LiveCursor)
        case state(LiveState<R>)
    }

    private let found: DataAPI.FoundSet<R>
    private let encoder: FMEncoder
    /// Whether contents are compared, because they can change without a commit of their record.
    private let comparesContents: Bool
    private var known: LastReceived

    init(of found: DataAPI.FoundSet<R>, since cursor: DataAPI.LiveCursor?, comparesContents: Bool = false) {
        self.found = found
        self.comparesContents = comparesContents
        encoder = found.layout.layout.encoder
        known = cursor.map(LastReceived.cursor) ?? .nothing
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
                Changes.KnownRecord(id: version.recordId, modId: version.modId, contents: cursor.contents?[place])
            }
            let changes = Changes(from: known, to: state, contents: { $0.digest(encoder) })
            let reached = self.cursor(of: state)
            return (changes.isEmpty ? [] : [changed(changes, state, polls: 1, reached)]) + [.ready(reached)]
        case .state(let before):
            if before.replacementCount != state.replacementCount { return [.reset(.otherFile)] + snapshot(of: state) }
            let changes = state.changes(since: before)
            // A slow subscriber may have missed a change that was then undone.
            if changes.isEmpty { return [] }
            let polls = state.changeCount - before.changeCount
            return [changed(changes, state, polls: polls, cursor(of: state))]
        }
    }

    /// Whether the cursor is of another file. In one and the same file a modId never falls, and a version of a record
    /// keeps its contents. If no sampled record is there any more, other known ones may be those of another file.
    private func isOfOtherFile(_ cursor: DataAPI.LiveCursor, _ state: LiveState<R>) -> Bool {
        let modIds = state.modIds
        let count = cursor.versions.lazy.filter { modIds[$0.recordId] == $0.modId }.count
        if count > 0, cursor.sample.provesNothing(among: cursor.count, { modIds[$0] != nil }) { return true }
        return cursor.versions.contains { version in modIds[version.recordId].map { $0 < version.modId } ?? false }
            || cursor.sample.isContradicted(
                by: state.records,
                encoder,
                in: state.accountPeriod?.layoutMemory.known(found.shownLayout.name)
            )
    }

    private func cursor(of state: LiveState<R>) -> DataAPI.LiveCursor {
        DataAPI.LiveCursor(state, of: found, comparesContents: comparesContents)
    }

    private func changed(
        _ changes: Changes,
        _ state: LiveState<R>,
        polls: Int,
        _ cursor: DataAPI.LiveCursor
    ) -> Event {
        let time = found.layout.server.time
        return .changed(
            changes,
            DataAPI.Freshness(
                origin: state.origin,
                asOf: time.date(state.asOf),
                isComplete: state.isComplete,
                polls: polls,
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
