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
    /// file cannot be replaced without ending all sessions), the ten records with the greatest ids are read again. It
    /// is another file if one of them has the known version but another value in a field that changes by a commit
    /// alone, or if any record has an older modId; the copy is then ``CopyEvent/reset(_:)``. A first poll that the end
    /// of the program interrupted leaves no mark: until one is complete, another file is detected by older modIds
    /// alone.
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
    typealias Output = TenuredNews<DataAPI.CopyEvent<R>>
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
