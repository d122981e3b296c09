import FMDataCore
import FMDataRecords
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Follows the records of a query for one subscriber that keeps a copy of them. Records are passed on one page at a
/// time, on demand; only ids and modIds are stored.
final class CopyPoller<R: RecordFields>: Poller, @unchecked Sendable {
    // @unchecked: as the superclass; the subscriber is called by the delivering thread, outside of the lock.
    typealias Event = DataAPI.CopyEvent<R>
    typealias Attempt = RecordAttempt<R, R.Portals>
    typealias Downstream = AnySubscriber<AccountPeriodNews<Event>, FMRest.APIError>

    /// An event to be delivered, and what to do afterwards.
    private struct PendingEvent {
        let event: Event
        let accountPeriod: AccountPeriod?
        let taken: () -> Void
    }

    private let found: DataAPI.FoundSet<R>
    private let keeper: DataAPI.CopyKeeper
    private let initialStrategy: any PollStrategy
    private let comparesContents: Bool
    private let encoder: FMEncoder

    /// Whether the keeper was asked what it has.
    private var isAsked = false
    /// The versions of the records that were delivered to the subscriber.
    private var versions = CopyVersions()
    /// The ids of those that cannot be decoded.
    private var undecodable: Set<Int> = []
    private var sample = IdentitySample()
    /// Whether a poll was completed, in this run or an earlier one.
    private var hasMark = false
    /// The state in which the last accepted poll left it.
    private var strategy: any PollStrategy
    /// The account period of the last poll.
    private var accountPeriod: AccountPeriod?
    /// How many records the poll under way has passed on.
    private var passed = 0
    private var findings: PollFindings<R>?

    /// Counts the copies: each reset starts another one.
    private var copy = 0

    private var subscriber: Downstream?
    /// Whether the subscription was cancelled.
    private var isOver = false
    private var demand = Subscribers.Demand.none
    private var pending = CircularBuffer<PendingEvent>()
    /// Whether the subscriber is to receive the failure, after what is pending.
    private var hasFailed = false
    private var deliverer = SoleWorker()

    init(
        _ found: DataAPI.FoundSet<R>,
        _ keeper: DataAPI.CopyKeeper,
        _ options: DataAPI.LiveOptions,
        _ status: CurrentValueSubject<DataAPI.LiveStatus, Never>
    ) {
        self.found = found
        self.keeper = keeper
        initialStrategy = options.strategy
        strategy = initialStrategy
        comparesContents = options.related != .ignore
        encoder = found.layout.layout.encoder
        super.init(options, of: found.layout.layout, status)
    }

    // MARK: The subscriber

    /// Adds the subscriber, unless it has cancelled already.
    func add(_ subscriber: Downstream) {
        act { now in
            guard !isOver else { return ((), []) }
            self.subscriber = subscriber
            return ((), machine.subscribed(now) + lockedWishActions())
        }
    }

    func request(_ demand: Subscribers.Demand) {
        lock.withLock { self.demand += demand }
        deliver()
        wishesChanged()
    }

    func remove() {
        let left = act { now in
            isOver = true
            guard subscriber != nil else { return (nil as Any?, []) }
            return (lockedLeave(), machine.unsubscribed(now) + lockedWishActions())
        }
        withExtendedLifetime(left) {}
    }

    /// Returns what must be released outside of the lock.
    private func lockedLeave() -> Any? {
        defer {
            subscriber = nil
            pending = []
            demand = .none
        }
        return (subscriber, pending)
    }

    override func lockedWishes() -> [LiveWish] {
        guard subscriber != nil else { return [] }
        return [demand > .none ? .wanted : pending.isEmpty ? .content : .undelivered]
    }

    // MARK: Polls

    override func beginPoll(_ context: PollContext) {
        lock.withLock { passed = 0 }
        let found = found.callOptions(context.apply).bound(to: context.accountPeriod)
        let findings = asked().followed { [self] in compared(found) }.followed { [self] in polled(found) }
            // The file may have been replaced during the poll.
            .followed { [self] findings in compared(found).map { findings }.eraseToAnyPublisher() }
            .followed { [self] findings in
                sampled(found, without: findings).map { findings }.eraseToAnyPublisher()
            }
        run(findings.eraseToAnyPublisher()) { [self] findings, now, jitter in
            self.findings = findings
            let missing = findings.order.map { versions.missing(in: $0).filter { !overtaken.contains($0) } } ?? []
            let outcome = PollerStateMachine.Outcome(
                missing: missing,
                held: versions.count,
                hasChanges: passed > 0 || !missing.isEmpty,
                isInconsistent: findings.isInconsistent,
                isShort: findings.isShort,
                work: context.meter.work,
                isFill: !hasMark
            )
            return machine.polled(outcome, now, jitter: jitter)
        }
    }

    override var lockedAwaitsKeeper: Bool { !isAsked }

    override func isThere(_ id: Int, _ context: PollContext) -> AnyPublisher<Bool, FMRest.APIError> {
        found.layout.layout.callOptions(context.apply).bound(to: context.accountPeriod).isThere(id)
    }

    private func polled(_ found: DataAPI.FoundSet<R>) -> AnyPublisher<PollFindings<R>, FMRest.APIError> {
        PollQuestions(found: found).findings { [self] in
            lock.withLock {
                PollRun(
                    strategy,
                    CopyKnowledge(
                        isBlank: versions.isEmpty && !hasMark,
                        count: versions.count,
                        undecodable: undecodable
                    ) { [weak self] id in
                        self?.lock.withLock { self?.versions.modId(of: id) }
                    },
                    isWholeTable: found.isWholeTable,
                    // Copies have no order.
                    isSorted: false,
                    comparesContents: comparesContents
                )
            }
        } keeping: { [self] news in
            pass(news)
        }
    }

    /// Delivers records to the subscriber, and continues when it has received them; they are known from then on.
    private func pass(_ news: [Attempt]) -> AnyPublisher<[Attempt], FMRest.APIError> {
        let (copy, isOlder, news) = lock.withLock {
            // An undecodable record is skipped if this version of it was published before.
            let news = news.filter {
                $0.unreadable == nil || versions.modId(of: $0.version.recordId) != $0.version.modId
            }
            return (self.copy, news.contains { lockedIsOlder($0.version) }, news)
        }
        guard !news.isEmpty else { return .of([]) }
        if isOlder { return becomeOtherFile() }
        database.accountPeriod.reads.wrote()
        let records = news.compactMap(\.record)
        let unreadable = news.compactMap(\.unreadable)
        return Future { [self] promise in
            let taken = { [self] in
                take(news, records, into: copy)
                promise(.success([]))
            }
            if !unreadable.isEmpty { tell(.unreadable(unreadable), taken: records.isEmpty ? taken : {}) }
            if !records.isEmpty { tell(.records(records), taken: taken) }
        }
        .eraseToAnyPublisher()
    }

    /// Records that the subscriber has received these records.
    ///
    /// - Parameter copy: the copy to which they were delivered; there may be another one by now.
    private func take(_ news: [Attempt], _ records: [DataAPI.TypedLayout<R>.Record], into copy: Int) {
        var sample = lock.withLock { self.sample }
        // Outside of the lock: it encodes records, which runs user code.
        sample.insert(records, encoder)
        beganToKnow()
        lock.withLock {
            guard copy == self.copy else { return }
            self.sample = sample
            versions.insert(news.map(\.version))
            undecodable.subtract(records.map(\.recordId))
            undecodable.formUnion(news.lazy.compactMap(\.unreadable).map(\.recordId))
            passed += news.count
        }
    }

    /// In one and the same file a modId never falls.
    private func lockedIsOlder(_ version: DataAPI.RecordVersion) -> Bool {
        versions.modId(of: version.recordId).map { version.modId < $0 } ?? false
    }

    override func lockedLetGo() -> Any? { findings.take() }

    override func accept(_ poll: RunningPoll, gone: [Int: DataAPI.RemovalReason]) -> () -> Void {
        let removals = gone.sorted { $0.key < $1.key }.map { Event.Gone(recordId: $0.key, reason: $0.value) }
        let query = found.fingerprint
        guard
            let (mark, findings, isFirst) = lock.withLock({ () -> (DataAPI.CopyMark, PollFindings<R>, Bool)? in
                guard let findings else { return nil }
                defer { hasMark = true }
                versions.remove(Set(gone.keys))
                undecodable.subtract(gone.keys)
                sample.remove(Set(gone.keys))
                strategy = findings.strategy
                return (DataAPI.CopyMark(query: query, memory: strategy.memory, sample: sample), findings, !hasMark)
            })
        else { return {} }
        let freshness = DataAPI.Freshness(
            origin: isFirst ? .snapshot : poll.origin,
            asOf: server.time.date(poll.began),
            isComplete: !findings.isInconsistent,
            polls: 1,
            watch: findings.strategy.watch
        )
        return { [self] in
            if !removals.isEmpty {
                database.accountPeriod.reads.wrote()
                tell(.gone(removals))
            }
            tell(.polled(mark, freshness))
            wishesChanged()
        }
    }

    // MARK: State of the copy

    /// Asks the keeper, once, what it has.
    private func asked() -> AnyPublisher<Void, FMRest.APIError> {
        let (isNew, copy) = lock.withLock { (!isAsked, self.copy) }
        guard isNew else { return .of(()) }
        return answer(of: keeper.mark)
            .followed { [self] mark -> AnyPublisher<Void, FMRest.APIError> in
                if let mark, mark.query != found.fingerprint {
                    act { _ in
                        isAsked = true
                        return ((), [])
                    }
                    tell(.reset(.otherQuery))
                    return .of(())
                }
                return versions(after: nil).map { [self] versions in
                    act { _ in
                        // The account may have been replaced meanwhile.
                        guard copy == self.copy else { return ((), []) }
                        self.versions = versions
                        isAsked = true
                        hasMark = mark != nil
                        sample = mark?.sample ?? sample
                        if let mark { strategy.resume(mark.memory) }
                        return ((), [])
                    }
                }
                .eraseToAnyPublisher()
            }
            .eraseToAnyPublisher()
    }

    private func versions(
        after last: Int?,
        behind known: CopyVersions = CopyVersions()
    ) -> AnyPublisher<CopyVersions, FMRest.APIError> {
        let limit = 10_000
        return answer { [keeper] done in keeper.versions(last, limit, done) }
            .followed { [self] new -> AnyPublisher<CopyVersions, FMRest.APIError> in
                let ids = [last].compactMap(\.self) + new.map(\.recordId)
                guard zip(ids, ids.dropFirst()).allSatisfy({ $0 < $1 }) else {
                    return .failing(
                        FMRest.APIError(.keeper, reason: "The ids that the keeper answers with do not rise.")
                    )
                }
                var versions = known
                versions.insert(new)
                return new.count < limit ? .of(versions) : self.versions(after: ids.last, behind: versions)
            }
            .eraseToAnyPublisher()
    }

    private func answer<Value>(
        of ask: @escaping (_ done: @escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) -> AnyPublisher<Value, FMRest.APIError> {
        Future { promise in
            // A promise may be fulfilled on any thread.
            nonisolated(unsafe) let promise = promise
            ask { result in
                promise(
                    result.mapError { error in
                        FMRest.APIError(
                            .keeper,
                            reason: "What the copy has could not be read from its keeper.",
                            underlying: error
                        )
                    }
                )
            }
        }
        .eraseToAnyPublisher()
    }

    /// Checks whether the records with the greatest ids are still those of the copy.
    private func compared(_ found: DataAPI.FoundSet<R>) -> AnyPublisher<Void, FMRest.APIError> {
        let (sample, count) = lock.withLock { (self.sample, versions.count - undecodable.count) }
        guard !sample.entries.isEmpty else { return .of(()) }
        return askedAfterLogin { found.isOfOtherFile(than: sample, among: count) }
            .followed { [self] isOther in isOther ? becomeOtherFile() : .of(()) }
            .eraseToAnyPublisher()
    }

    /// Samples further records in place of those that the poll has not found, which may be about to be removed.
    private func sampled(
        _ found: DataAPI.FoundSet<R>,
        without findings: PollFindings<R>
    ) -> AnyPublisher<Void, FMRest.APIError> {
        let (ids, size, copy): ([Int], Int, Int) = lock.withLock {
            let known = Set(sample.entries.map(\.version.recordId))
            let lost = findings.order.map { known.subtracting($0) } ?? []
            guard known.isEmpty || !lost.isEmpty else { return ([], 0, self.copy) }
            let missing = findings.order.map { versions.missing(in: $0) } ?? []
            let rest = versions.greatest(IdentitySample.size, except: undecodable.union(missing))
            return (rest.filter { !known.contains($0) }, IdentitySample.size + lost.count, self.copy)
        }
        guard !ids.isEmpty else { return .of(()) }
        return ids.publisher.setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 1) { id in
                found.attempt(id).map { $0.attempts.compactMap(\.record) }.eraseToAnyPublisher()
            }
            .collect()
            .map { [self] records in
                var sample = lock.withLock { self.sample }
                // Outside of the lock: it encodes records, which runs user code.
                sample.insert(records, encoder, keeping: size)
                lock.withLock { if copy == self.copy { self.sample = sample } }
            }
            .eraseToAnyPublisher()
    }

    /// Handles the discovery that the host has another file: the copy is reset, and the poll under way ends.
    private func becomeOtherFile<Value>() -> AnyPublisher<Value, FMRest.APIError> {
        let old = lock.withLock { lockedBeginAnew() }
        withExtendedLifetime(old) {}
        tell(.reset(.otherFile))
        beginAnew()
        return Empty(completeImmediately: false).eraseToAnyPublisher()
    }

    /// Returns what must be released outside of the lock.
    private func lockedBeginAnew() -> Any {
        defer {
            copy += 1
            versions = CopyVersions()
            undecodable = []
            sample = IdentitySample()
            strategy = initialStrategy
            hasMark = false
            isAsked = true
            pending = []
        }
        return pending
    }

    override func forget(in accountPeriod: AccountPeriod) {
        let old: Any? = lock.withLock {
            defer { self.accountPeriod = accountPeriod }
            guard let before = self.accountPeriod, before !== accountPeriod else { return nil }
            return lockedBeginAnew()
        }
        if old != nil { tell(.reset(.otherAccount)) }
    }

    // MARK: Delivery

    /// - Parameter taken: called when the subscriber has received the event.
    private func tell(_ event: Event, taken: @escaping () -> Void = {}) {
        let old = lock.withLock { () -> PendingEvent? in
            guard subscriber != nil else { return nil }
            deliverer.noteEvent()
            // Of two consecutive `polled` events, the later one suffices.
            var old: PendingEvent?
            if case .polled? = pending.last?.event, case .polled = event { old = pending.removeLast() }
            pending.append(PendingEvent(event: event, accountPeriod: accountPeriod, taken: taken))
            return old
        }
        withExtendedLifetime(old) {}
        deliver()
    }

    override func fail() {
        lock.withLock {
            deliverer.noteEvent()
            hasFailed = true
        }
        deliver()
    }

    private enum Action {
        case news(Downstream, PendingEvent)
        case failure(Downstream, FMRest.APIError, left: Any?)
        /// Go on in the background.
        case leave
        case rest
    }

    /// One thread delivers at a time. If another one is delivering, the work is left to that one.
    private func deliver() {
        if lock.withLock({ deliverer.start() }) { deliverNews() }
    }

    override func deliverNews() {
        while true {
            switch lock.withLock({ lockedAction() }) {
            case .news(let subscriber, let news):
                let more = subscriber.receive(AccountPeriodNews(news: news.event, accountPeriod: news.accountPeriod))
                if more > .none { lock.withLock { demand += more } }
                news.taken()
            case .failure(let subscriber, let error, let left):
                subscriber.receive(completion: .failure(error))
                return withExtendedLifetime(left) {}
            case .leave: return deliverInBackground()
            case .rest: return
            }
        }
    }

    private func lockedAction() -> Action {
        if deliverer.leaves() { return .leave }
        if let subscriber, demand > .none, let news = pending.popFirst() {
            demand -= 1
            return .news(subscriber, news)
        }
        if let subscriber, hasFailed, let failure {
            return .failure(subscriber, failure, left: lockedLeave())
        }
        deliverer.stop()
        return .rest
    }
}
