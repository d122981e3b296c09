public import FMDataCore
public import FMDataRecords
public import OpenCombine

extension DataAPI {
    /// A found set that stays current: publishes its records each time they change.
    ///
    /// ```swift
    /// let inLondon = people.find { $0(.city) == "London" }.sorted(by: .name).live()
    /// for try await value in inLondon.values {
    ///     print(value.records.count, "in London now")             // 1 in London now
    ///     break                                                   // or it goes on
    /// }
    /// ```
    ///
    /// The first value has the whole found set. Another value follows whenever a poll finds it changed, with the
    /// changes since the subscriber's previous value. A slow subscriber receives fewer values with larger changes.
    /// Polls with transient failures are repeated; ``status`` shows them. The publisher fails when credentials are
    /// refused; when the host has answered for ``LiveOptions/givesUpAfter`` that the query cannot be answered, for
    /// example because privileges were lost; when polls have failed for ``LiveOptions/retryTimeout``; and when the
    /// server object is shut down.
    ///
    /// Equal queries on the same database object share their polls, one after the other, and their values: a new
    /// subscriber receives the last value at once. Without subscribers nothing is sent. Cancelling the last
    /// subscription ends the poll under way. When the database is switched to another account
    /// (``DataAPI/Database/replaceCredentials(_:dataSources:)``), the next value has no records and is a
    /// ``DataAPI/Freshness/Origin/reset``; then follow the records of the new account.
    ///
    /// FileMaker sends no notifications of changes, so they are found by polling; the options say how. Not detected
    /// are: unstored calculations and related values (except with ``LiveOptions/related``), commits that do not raise a
    /// record's modId, states between two polls, the order of changes to different records, and who made them.
    ///
    /// - Note: Values until it is cancelled. See <doc:Calls>.
    public struct LiveQuery<R: RecordFields>: Publisher, Sendable {
        /// The records, and what has changed.
        public typealias Output = LiveValue<R>
        /// Why the publisher has failed.
        public typealias Failure = FMRest.APIError

        let found: FoundSet<R>
        let options: LiveOptions
        /// The actor on which values arrive.
        let isolation: (any Actor)?

        /// Attaches the subscriber. Nothing is sent before there is demand.
        public func receive<Downstream: Subscriber<LiveValue<R>, FMRest.APIError>>(subscriber: Downstream) {
            values.receive(subscriber: subscriber)
        }

        /// Polls now, or once more after the poll under way, even without demand for a value. Has no effect without
        /// subscribers.
        public func refresh() {
            registry.observer(of: key)?.wake(.refresh)
        }

        /// What the query is doing: publishes the status at subscription, then every change. Never finishes.
        /// Subscribing causes no poll. Values arrive on the main actor for subscribers that subscribe there, for others
        /// on the thread that made the change.
        public var status: AnyPublisher<LiveStatus, Never> {
            Deferred {
                let poller = self.poller
                // Each subscription keeps the poller alive.
                return poller.status.map { status in withExtendedLifetime(poller) { status } }
            }
            .eraseToAnyPublisher()
        }

        /// The values that a transform makes of this query's states, delivered on an actor.
        ///
        /// - Parameters:
        ///   - isolation: the actor on which values arrive.
        ///   - expected: the ids of the records that the subscribers know from an earlier run.
        ///   - makeTransform: makes a transform for each subscriber.
        func told<News>(
            to isolation: (any Actor)?,
            expecting expected: [Int] = [],
            _ makeTransform: @escaping () -> (LiveState<R>) -> [News]
        ) -> AnyPublisher<News, FMRest.APIError> {
            LiveValues(poller: { self.poller }, expected: expected, makeTransform: makeTransform)
                .delivered(on: isolation, by: found.layout.server)
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

        private var registry: LiveRegistry { found.layout.layout.database.liveRegistry }

        private var key: LiveRegistry.Key {
            LiveRegistry.Key(.found(found.find, found.options), of: found.layout, options)
        }

        private var poller: LivePoller<R> {
            registry.poller(for: key, on: found.layout) { Poll(found, options) }
        }
    }
}

extension DataAPI.Freshness {
    init<R>(_ state: LiveState<R>, since before: LiveState<R>, _ time: SessionTime) {
        self.init(
            origin: state.origin,
            asOf: time.date(state.asOf),
            isComplete: state.isComplete,
            polls: state.changeCount - before.changeCount,
            watch: state.watch
        )
    }
}

extension DataAPI.RecordSource {
    /// The records, kept current; see ``DataAPI/LiveQuery``.
    ///
    ///     people.find { $0(.city) == "Calgary" }.live()
    ///
    /// - Note: Values until it is cancelled. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - options: how it polls.
    ///   - isolation: where the values arrive; leave it out.
    public func live(
        _ options: DataAPI.LiveOptions = DataAPI.LiveOptions(),
        isolation: (any Actor)? = #isolation
    ) -> DataAPI.LiveQuery<R> {
        DataAPI.LiveQuery(found: allRecords, options: options, isolation: isolation)
    }
}

extension DataAPI.TypedLayout {
    /// One record, kept current: publishes the record, and again whenever it was committed; `nil` when it was deleted
    /// or did not exist in the first place. Fails as a ``DataAPI/LiveQuery`` does.
    ///
    ///     people.observe(17)
    ///
    /// Subscribers of the same record share the polls.
    ///
    /// - Note: Values until it is cancelled. See <doc:Calls>.
    ///
    /// - Parameters:
    ///   - recordId: the record's id.
    ///   - options: how it polls.
    ///   - isolation: where the values arrive; leave it out.
    public func observe(
        _ recordId: Int,
        _ options: DataAPI.LiveOptions = DataAPI.LiveOptions(),
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Record?, FMRest.APIError> {
        let key = LiveRegistry.Key(.record(recordId), of: self, options)
        return LiveValues {
            layout.database.liveRegistry.poller(for: key, on: self) { Poll(record: recordId, of: self, options) }
        } makeTransform: {
            { state in [state.records.first] }
        }
        .delivered(on: isolation, by: server)
        .asLongAsItHolds()
    }
}
