import NIOConcurrencyHelpers
public import OpenCombine

extension DataAPI {
    /// The changes of a query's records, for a program that keeps a copy of them itself: a publisher of ``CopyEvent``s.
    ///
    ///     people.changes(of: people.find { $0(.city) == "Calgary" }, keptBy: keeper)
    ///
    /// Records pass through, a page for an event, and nothing but their ids and modIds is held here, 16 bytes a record: for any
    /// number of records. Nothing is sent before demand, and no page is asked for before the last one was taken. The first look
    /// brings what the copy lacks: all records where there is none, those alone that have come or changed where the keeper has
    /// one. A first look that is interrupted goes on where it was, in the next look as in the next run.
    ///
    /// Never finishes; fails as a ``DataAPI/LiveQuery`` does, and with ``FMRest/APIError/Code/keeper`` when the keeper fails. It has
    /// looks of its own, on the terms of ``LiveOptions``, of which ``LiveOptions/removeDuplicates`` has no effect: a record that
    /// was committed anew comes, whatever it holds. Where ``LiveOptions/related`` makes it read all records again, all come.
    ///
    /// That a record is gone is told when it was asked for, or two looks agree. In each run, after a look that has failed and after each
    /// login, since no file is replaced without ending all sessions, the ten records with the greatest ids are read again: when one of
    /// them, in the version that is known, has another value in a field that changes by a commit alone, or any record an older modId,
    /// another file is there, such as a backup that was restored, and the copy is ``CopyEvent/reset(_:)``. Of a first look that was killed
    /// there is no mark: until one is complete, another file shows by older modIds alone.
    ///
    /// One subscriber at a time: another one fails with ``FMRest/APIError/Code/invalidRequest``.
    public struct CopyChanges<R: RecordFields>: Publisher, Sendable {
        /// What the copy has to do next.
        public typealias Output = CopyEvent<R>
        /// Why there is no more.
        public typealias Failure = FMRest.APIError

        fileprivate let run: CopyRun<R>
        /// Where events are handed over.
        fileprivate let isolation: (any Actor)?

        /// Attaches the subscriber. Nothing is asked for before it asks.
        public func receive<Downstream: Subscriber<CopyEvent<R>, FMRest.APIError>>(subscriber: Downstream) {
            CopyNews(run: run)
                .handedOver(to: isolation, by: run.found.layout.server)
                .asLongAsItHolds()
                .receive(subscriber: subscriber)
        }

        /// Looks now, or once more after the look that is under way, also when nobody wants an event at the moment. Without effect
        /// when nobody listens.
        public func refresh() { run.poller?.wake(.refresh) }

        /// What it does: the state at subscription, then every change. Never finishes. Subscribing makes no look. Values arrive on
        /// the main actor for those who subscribe there, for all others where the change was made.
        public var status: AnyPublisher<LiveStatus, Never> { run.status.whereSubscribed() }
    }
}

extension DataAPI.TypedLayout {
    /// The changes of a query's records, for a copy that the program keeps; see ``DataAPI/CopyChanges``.
    ///
    ///     people.changes(of: people.find { $0(.city) == "Calgary" }, keptBy: keeper)
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    ///
    /// - Parameters:
    ///   - found: which records; `nil` is all. Their order says nothing.
    ///   - keeper: what the copy has.
    ///   - options: how often it looks, and how.
    ///   - isolation: where the values arrive; leave it out.
    public func changes(
        of found: DataAPI.FoundSet<R>? = nil,
        keptBy keeper: DataAPI.CopyKeeper,
        options: DataAPI.LiveOptions = DataAPI.LiveOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.CopyChanges<R> {
        DataAPI.CopyChanges(
            run: CopyRun(found: (found ?? allRecords).unsorted, keeper: keeper, options: options),
            isolation: isolation
        )
    }
}

/// The one subscription that there is, if there is one.
private final class CopyRun<R: RecordFields>: @unchecked Sendable {
    // @unchecked: all is immutable, and what of it changes has a lock of its own.
    let found: DataAPI.FoundSet<R>
    let keeper: DataAPI.CopyKeeper
    let options: DataAPI.LiveOptions
    let status = CurrentValueSubject<DataAPI.LiveStatus, Never>(.idle)
    private let current = NIOLockedValueBox<CopyPoller<R>?>(nil)

    init(found: DataAPI.FoundSet<R>, keeper: DataAPI.CopyKeeper, options: DataAPI.LiveOptions) {
        self.found = found
        self.keeper = keeper
        self.options = options
    }

    var poller: CopyPoller<R>? { current.withLockedValue(\.self) }

    /// `nil` when there is another subscriber.
    func begin() -> CopyPoller<R>? {
        let poller: CopyPoller<R>? = current.withLockedValue { current in
            guard current?.hasEnded != false else { return nil }
            let poller = CopyPoller(found, keeper, options, status)
            current = poller
            return poller
        }
        if let poller { found.layout.layout.database.live.enter(poller, of: found.layout, options) }
        return poller
    }

    func end(_ poller: CopyPoller<R>) {
        poller.remove()
        current.withLockedValue { if $0 === poller { $0 = nil } }
    }
}

/// The events of a ``CopyRun``, and as which account they were seen.
private struct CopyNews<R: RecordFields>: Publisher {
    typealias Output = TenuredNews<DataAPI.CopyEvent<R>>
    typealias Failure = FMRest.APIError

    let run: CopyRun<R>

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        subscriber.receive(subscription: CopySubscription(run, AnySubscriber(subscriber)))
    }
}

private final class CopySubscription<R: RecordFields>: Subscription, @unchecked Sendable {
    // @unchecked: `state` has a lock of its own.
    private enum State {
        /// Nothing has been asked for.
        case ready(CopyPoller<R>.Downstream)
        case running(CopyPoller<R>)
        case ended
    }

    private let run: CopyRun<R>
    private let state: NIOLockedValueBox<State>

    init(_ run: CopyRun<R>, _ downstream: CopyPoller<R>.Downstream) {
        self.run = run
        state = NIOLockedValueBox(.ready(downstream))
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        let (poller, new): (CopyPoller<R>?, CopyPoller<R>.Downstream?) = state.withLockedValue { state in
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
        let last = state.withLockedValue { state in
            defer { state = .ended }
            return state
        }
        if case .running(let poller) = last { run.end(poller) }
        withExtendedLifetime(last) {}
    }
}
