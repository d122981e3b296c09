public import FMDataCore
public import FMDataRecords
import NIOConcurrencyHelpers
public import OpenCombine

extension DataAPI {
    /// The changes of a query's records, for a program that keeps a copy of them itself. Publishes ``CopyEvent``s.
    ///
    ///     people.find { $0(.city) == "Calgary" }.changes(keptBy: keeper)
    ///
    /// Records are passed on one page per event, and only their ids and modIds are stored here, 16 bytes per record, so
    /// it suits any number of records. A page is not requested before the subscriber has received the last one. The
    /// first poll brings what the copy lacks: all records if the keeper has none, otherwise only the records that were
    /// added or changed. If the first poll is interrupted, the next poll, or the next run, continues where it stopped.
    ///
    /// Fails as a ``DataAPI/LiveQuery`` does, and with ``FMRest/APIError/Code/keeper`` when the keeper fails. It shares
    /// its polls with no other query. ``LiveOptions`` apply, except that ``LiveOptions/removeDuplicates`` has no
    /// effect: a record that was committed is published, whatever its contents. When ``LiveOptions/related`` makes it
    /// read all records again, all are published.
    ///
    /// A removal is published when the record was asked for, or when two polls agree. Another file in place of this
    /// one, such as a restored backup, is detected like this: in each run, after a failed poll and after each login (a
    /// file cannot be replaced without ending all sessions), the ten known records with the greatest ids are asked for,
    /// until one is found to be the same. It is another file if one of them has the known version but another value in
    /// a field that changes by a commit alone, if none of them is there any more and the copy has others, or if any
    /// record has an older modId; the copy is then ``CopyEvent/reset(_:)``. A first poll that the end of the program
    /// interrupted leaves no mark: until one is complete, another file is detected by older modIds alone.
    ///
    /// Only one subscriber at a time: a second one fails with ``FMRest/APIError/Code/invalidRequest``.
    ///
    /// - Note: Values until it is cancelled. See <doc:Calls>.
    public struct CopyChanges<R: RecordFields>: Publisher, Sendable {
        /// What to do next with the copy.
        public typealias Output = CopyEvent<R>
        /// Why the publisher has failed.
        public typealias Failure = FMRest.APIError

        fileprivate let run: CopyRun<R>
        /// The actor on which events arrive.
        fileprivate let isolation: (any Actor)?

        /// Attaches the subscriber. Nothing is sent before there is demand.
        public func receive<Downstream: Subscriber<CopyEvent<R>, FMRest.APIError>>(subscriber: Downstream) {
            CopyNews(run: run)
                .delivered(on: isolation, by: run.found.layout.server)
                .asLongAsItHolds()
                .receive(subscriber: subscriber)
        }

        /// Polls now, or once more after the poll under way, even without demand for an event. Has no effect without a
        /// subscriber.
        public func refresh() { run.poller?.wake(.refresh) }

        /// What the query is doing: publishes the status at subscription, then every change. Never finishes.
        /// Subscribing causes no poll. Values arrive on the main actor for subscribers that subscribe there, for others
        /// on the thread that made the change.
        public var status: AnyPublisher<LiveStatus, Never> { run.status.object.whereSubscribed() }
    }
}

extension DataAPI.RecordSource {
    /// The changes of the records, for a copy that the program keeps; see ``DataAPI/CopyChanges``. The order of the
    /// records is ignored.
    ///
    ///     people.find { $0(.city) == "Calgary" }.changes(keptBy: keeper)
    ///
    /// - Note: Values until it is cancelled. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - keeper: reads what the copy has.
    ///   - options: how it polls.
    ///   - isolation: where the values arrive; leave it out.
    public func changes(
        keptBy keeper: DataAPI.CopyKeeper,
        options: DataAPI.LiveOptions = DataAPI.LiveOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.CopyChanges<R> {
        DataAPI.CopyChanges(
            run: CopyRun(found: allRecords.unsorted, keeper: keeper, options: options),
            isolation: isolation
        )
    }
}

/// Holds the poller of the only subscription that may exist at a time.
private final class CopyRun<R: RecordFields>: Sendable {
    let found: DataAPI.FoundSet<R>
    let keeper: DataAPI.CopyKeeper
    let options: DataAPI.LiveOptions
    let status = SelfGuarded(CurrentValueSubject<DataAPI.LiveStatus, Never>(.init(.idle)))
    private let current = NIOLockedValueBox<CopyPoller<R>?>(nil)

    init(found: DataAPI.FoundSet<R>, keeper: DataAPI.CopyKeeper, options: DataAPI.LiveOptions) {
        self.found = found
        self.keeper = keeper
        self.options = options
    }

    var poller: CopyPoller<R>? { current.withLockedValue(\.self) }

    /// Returns `nil` when there is another subscriber.
    func begin() -> CopyPoller<R>? {
        let poller: CopyPoller<R>? = current.withLockedValue { current in
            guard current?.hasEnded != false else { return nil }
            let poller = CopyPoller(found, keeper, options, status.object)
            current = poller
            return poller
        }
        if let poller { found.layout.layout.database.liveRegistry.enter(poller, of: found.layout, options) }
        return poller
    }

    func end(_ poller: CopyPoller<R>) {
        poller.remove()
        current.withLockedValue { if $0 === poller { $0 = nil } }
    }
}

/// The events of a ``CopyRun``, with the account that read them.
private struct CopyNews<R: RecordFields>: Publisher {
    typealias Output = AccountPeriodNews<DataAPI.CopyEvent<R>>
    typealias Failure = FMRest.APIError

    let run: CopyRun<R>

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        subscriber.receive(subscription: CopySubscription(run, AnySubscriber(subscriber)))
    }
}

private final class CopySubscription<R: RecordFields>: Subscription, Sendable {
    private enum State {
        /// There was no demand yet.
        case ready(CopyPoller<R>.Downstream)
        case running(CopyPoller<R>)
        case ended
    }

    private let run: CopyRun<R>
    private let state: Guarded<State>

    init(_ run: CopyRun<R>, _ downstream: CopyPoller<R>.Downstream) {
        self.run = run
        state = Guarded(.ready(downstream))
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        let (poller, new): (CopyPoller<R>?, CopyPoller<R>.Downstream?) = state.withLock { state in
            switch state {
            case .ready(let downstream):
                let poller = run.begin()
                state = poller.map(State.running) ?? .ended
                return (poller, downstream)
            case .running(let poller): return (poller, nil)
            case .ended: return (nil, nil)
            }
        }
        if let new {
            guard let poller else {
                let error = FMRest.APIError(
                    .invalidRequest,
                    reason: "The changes of this copy have a subscriber already."
                )
                return new.receive(completion: .failure(error))
            }
            poller.add(new)
        }
        poller?.request(demand)
    }

    func cancel() {
        let last = state.withLock { state in
            defer { state = .ended }
            return state
        }
        if case .running(let poller) = last { run.end(poller) }
        withExtendedLifetime(last) {}
    }
}

extension DataAPI {
    /// What a program that keeps a copy of a query's records itself has to do next.
    ///
    /// A copy changes only by these events, in their order. After a restart an event may come again, so process each
    /// one in a way that can be repeated. Store the mark in the same transaction as the events before it, or after
    /// them.
    public enum CopyEvent<R: RecordFields>: Sendable {
        /// Records that were added or committed, one page at a time, in any order. They replace those with the same
        /// ids.
        case records([TypedLayout<R>.Record])
        /// Records of the query that cannot be decoded, in versions that were not published yet. The copy may keep what
        /// it has of them, its modIds included: each poll reads these records again, and so does another run, as long
        /// as the keeper does not have the versions that are listed here.
        case unreadable([UnreadableRecord])
        /// Records that the query does not find any more. There may be ids among them that the copy does not have.
        case gone([Gone])
        /// A poll is complete, and the copy equals what the query found. If no event came before it, nothing has
        /// changed.
        case polled(CopyMark, Freshness)
        /// The copy is no longer valid: delete all its records and the mark. The current records follow.
        case reset(ResetReason)

        /// A record that the query does not find any more.
        public struct Gone: Hashable, Sendable {
            /// The record's id.
            public var recordId: Int
            /// Why it was removed.
            public var reason: RemovalReason
        }
    }
}

extension DataAPI {
    /// Reads a program's copy of records for ``RecordSource/changes(keptBy:options:isolation:)``, to continue where
    /// an earlier run has ended.
    ///
    ///     let keeper = DataAPI.CopyKeeper(
    ///         mark: { done in done(Result { try table.mark() }) },
    ///         versions: { after, limit, done in done(Result { try table.versions(after: after, limit: limit) }) }
    ///     )
    ///
    /// **One process at a time** keeps a copy. The keeper is asked once in each run: what another process stores or
    /// deletes after that is not noticed, and stays wrong. Where more than one may run, take a lock in `mark` that ends
    /// with its process, such as an advisory lock of the database's session or one of a file, and answer when you have
    /// it: nothing is read and published before.
    ///
    /// Both closures are called when the first poll begins, one after the other, on a thread that serves other work
    /// too. Do long work, such as a query of a database on disk, on a thread of your own. Each closure must call `done`
    /// once, from any thread. If it passes an error, the publisher fails with ``FMRest/APIError/Code/keeper``.
    public struct CopyKeeper: Sendable {
        let mark: @Sendable (_ done: @escaping @Sendable (Result<CopyMark?, any Error>) -> Void) -> Void
        let versions:
            @Sendable (
                _ after: Int?, _ limit: Int, _ done: @escaping @Sendable (Result<[RecordVersion], any Error>) -> Void
            ) -> Void

        /// Creates a keeper of two closures.
        ///
        /// - Parameters:
        ///   - mark: returns the mark of the last ``CopyEvent/polled(_:_:)`` that was processed; `nil` when there was
        ///     none, or none since a ``CopyEvent/reset(_:)``.
        ///   - versions: returns the ids and modIds of the copy's records with ids greater than `after` (all, if that
        ///     is `nil`), in rising order of the ids; at most `limit`, and fewer only if there are no more.
        public init(
            mark: @escaping @Sendable (_ done: @escaping @Sendable (Result<CopyMark?, any Error>) -> Void) -> Void,
            versions:
                @escaping @Sendable (
                    _ after: Int?,
                    _ limit: Int,
                    _ done: @escaping @Sendable (Result<[RecordVersion], any Error>) -> Void
                ) -> Void
        ) {
            self.mark = mark
            self.versions = versions
        }
    }
}

extension DataAPI {
    /// How far a copy of records has followed its query. Together with the copy's ids and modIds it is all that another
    /// run needs to continue.
    ///
    /// It takes a few hundred bytes as JSON, for any number of records. It contains no field values, only digests of
    /// the fields of ten records, to detect another file after a backup was restored.
    public struct CopyMark: Hashable, Sendable {
        /// A digest of the query, its server, database and layout; it does not reveal what is searched for.
        let query: UInt64
        /// What the poll strategy stores between runs.
        let memory: PollMemory
        let sample: IdentitySample
    }
}

extension DataAPI.CopyMark: Codable {
    private enum CodingKeys: CodingKey {
        case format, query, memory, sample, check
    }

    /// Reads what ``encode(to:)`` wrote. Throws for a format that this version does not know, and for damaged data.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let format = try container.decode(Int.self, forKey: .format)
        guard 1...2 ~= format else {
            throw DecodingError.dataCorruptedError(
                forKey: .format,
                in: container,
                debugDescription: "A mark of format \(format), and 1 and 2 are those that are known here."
            )
        }
        let digits = try container.decode(String.self, forKey: .query)
        query = UInt64(digits, radix: 16) ?? 0
        memory = try container.decode(PollMemory.self, forKey: .memory)
        sample = try container.decode(IdentitySample.self, forKey: .sample)
        // Format 1 has no checksum.
        let check = try container.decodeIfPresent(String.self, forKey: .check)
        guard String(query, radix: 16) == digits, check == (format == 1 ? nil : self.check) else {
            throw DecodingError.dataCorruptedError(
                forKey: .check,
                in: container,
                debugDescription: "The mark is damaged."
            )
        }
    }

    /// Writes the mark.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(2, forKey: .format)
        try container.encode(String(query, radix: 16), forKey: .query)
        try container.encode(memory, forKey: .memory)
        try container.encode(sample, forKey: .sample)
        try container.encode(check, forKey: .check)
    }

    private var check: String {
        let numbers = [memory.unseen, memory.serial].map { $0.map { "\($0)" } ?? "" }
        let parts = [String(query, radix: 16), memory.stamp ?? "", memory.related.map { "\($0)" } ?? ""] + numbers
        return String(sample.bytes.fnv1a(from: parts.joined(separator: "\u{0}").utf8.fnv1a()), radix: 16)
    }
}
