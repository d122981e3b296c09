public import OpenCombine

extension DataAPI {
    /// A found set that keeps itself current: a publisher of its records each time they change.
    ///
    /// ```swift
    /// let inLondon = people.find { $0(.city) == "London" }.sorted(by: .name).live()
    /// for try await value in inLondon.values {
    ///     print(value.records.count, "in London now")             // 1 in London now
    ///     break                                                   // or it goes on
    /// }
    /// ```
    ///
    /// Nothing is sent before demand. The first value is the whole found set; another follows whenever a look finds it changed,
    /// with what has changed since the subscriber's value before. A subscriber that is slow gets fewer, larger changes. Never
    /// finishes. Looks that fail in passing are repeated, and ``status`` tells; the publisher fails with credentials that are
    /// refused, privileges that are lost, what the host has said for as long as ``LiveOptions/givesUpAfter``, after
    /// ``LiveOptions/patience``, and when the server object is shut down.
    ///
    /// Equal queries on the same database object share their looks, one after the other, and values: a subscriber that
    /// joins gets the last one at once. When nobody listens nothing is sent. Cancelling ends the subscription; the last
    /// one to go ends the look that is under way. When the database becomes another account's
    /// (``DataAPI/Database/replaceCredentials(_:dataSources:)``), the next value has no records and is a
    /// ``DataAPI/Freshness/Origin/reset``; then comes what the new account sees.
    ///
    /// FileMaker announces no changes, so each look is a question; the options say which. It does not see: unstored calculations and
    /// related values (but for ``LiveOptions/related``), commits that do not move a record's modId, states between two looks, the
    /// order of changes to different records, who made them.
    public struct LiveQuery<R: RecordFields>: Publisher, Sendable {
        /// The records and what has changed.
        public typealias Output = LiveValue<R>
        /// Why there are no more.
        public typealias Failure = FMRest.APIError

        let found: FoundSet<R>
        let options: LiveOptions
        /// Where values are handed over.
        let isolation: (any Actor)?

        /// Attaches the subscriber. Nothing is asked for before it asks.
        public func receive<Downstream: Subscriber<LiveValue<R>, FMRest.APIError>>(subscriber: Downstream) {
            values.receive(subscriber: subscriber)
        }

        /// Looks now, or once more after the look that is under way, also when nobody wants a value at the moment. Without effect
        /// when nobody listens.
        public func refresh() {
            registry.observer(of: key)?.wake(.refresh)
        }

        /// What the query does: the state at subscription, then every change. Never finishes. Subscribing makes no look. Values
        /// arrive on the main actor for those who subscribe there, for all others where the change was made.
        public var status: AnyPublisher<LiveStatus, Never> {
            Deferred {
                let poller = self.poller
                // The poller is kept by whoever watches.
                return poller.status.map { status in withExtendedLifetime(poller) { status } }
            }
            .eraseToAnyPublisher()
        }

        /// What this query's states are to each of its subscribers, handed over.
        ///
        /// - Parameter expected: the ids of the records that the subscribers know from an earlier run.
        func told<News>(
            to isolation: (any Actor)?,
            expecting expected: [Int] = [],
            _ makeTeller: @escaping () -> (LiveState<R>) -> [News]
        ) -> AnyPublisher<News, FMRest.APIError> {
            LiveNews(poller: { self.poller }, expected: expected, makeTeller: makeTeller)
                .handedOver(to: isolation, by: found.layout.server)
                .asLongAsItHolds()
        }

        private var values: AnyPublisher<LiveValue<R>, FMRest.APIError> {
            let time = found.layout.server.time
            return told(to: isolation) {
                var before = LiveState<R>()
                return { state in
                    defer { before = state }
                    return [
                        LiveValue(
                            records: state.records,
                            unreadable: state.unreadable,
                            changes: state.changes(since: before),
                            freshness: Freshness(state, since: before, time)
                        )
                    ]
                }
            }
        }

        private var registry: LiveRegistry { found.layout.layout.database.live }

        private var key: LiveRegistry.Key {
            LiveRegistry.Key(.found(found.find, found.options), of: found.layout, options)
        }

        private var poller: LivePoller<R> {
            registry.poller(for: key, on: found.layout.layout) { Poll(found, options) }
        }
    }
}

extension DataAPI.Freshness {
    init<R>(_ state: LiveState<R>, since before: LiveState<R>, _ time: SessionTime) {
        self.init(
            origin: state.origin,
            asOf: time.date(state.asOf),
            isComplete: state.isComplete,
            looks: state.version - before.version,
            watch: state.watch
        )
    }
}

extension DataAPI.FoundSet {
    /// These records, kept current; see ``DataAPI/LiveQuery``.
    ///
    ///     people.find { $0(.city) == "Calgary" }.live()
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func live(
        _ options: DataAPI.LiveOptions = DataAPI.LiveOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.LiveQuery<R> {
        DataAPI.LiveQuery(found: self, options: options, isolation: isolation)
    }
}

extension DataAPI.TypedLayout {
    /// All records, kept current; see ``DataAPI/LiveQuery``.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func live(
        _ options: DataAPI.LiveOptions = DataAPI.LiveOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.LiveQuery<R> {
        allRecords.live(options, isolation: isolation)
    }

    /// One record, kept current: publishes it, and again whenever it was committed anew; `nil` when it is gone, and when it was
    /// not there in the first place. Never finishes; fails as a ``DataAPI/LiveQuery`` does.
    ///
    ///     people.observe(17)
    ///
    /// Nothing is sent before demand. Subscribers of the same record share the looks.
    ///
    /// Values arrive on the actor in whose code the call is written, else as ``DataAPI/Config/delivery`` says:
    /// <doc:WhereValuesArrive>.
    public func observe(
        _ recordId: Int,
        _ options: DataAPI.LiveOptions = DataAPI.LiveOptions(),
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Record?, FMRest.APIError> {
        let key = LiveRegistry.Key(.record(recordId), of: self, options)
        return LiveNews {
            layout.database.live.poller(for: key, on: layout) { Poll(record: recordId, of: self) }
        } makeTeller: {
            { state in [state.records.first] }
        }
        .handedOver(to: isolation, by: server)
        .asLongAsItHolds()
    }
}
