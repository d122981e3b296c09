import FMDataCore
import FMDataRecords
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Keeps the records of one live query current for all its subscribers, and stores them as the last poll has left them.
final class LivePoller<R: RecordFields>: Poller, @unchecked Sendable {
    // @unchecked: as the superclass.
    typealias State = LiveState<R>
    typealias Record = DataAPI.TypedLayout<R>.Record
    typealias ListenerID = Int

    private var state = State()
    /// The state in which the last accepted poll left it.
    private var strategy: any PollStrategy
    private var findings: PollFindings<R>?
    private var listeners: [ListenerID: any PollerSubscriber] = [:]
    private var lastID = 0
    /// Of listeners that continue an earlier run, until all records they know were found or confirmed as removed.
    private var expectations: [ListenerID: Expectation] = [:]

    private let poll: Poll<R>
    private let policy: ChangePolicy<R>

    init(_ poll: Poll<R>, _ options: DataAPI.LiveOptions, of layout: DataAPI.Layout) {
        self.poll = poll
        strategy = poll.strategy
        let encoder = layout.encoder
        policy = ChangePolicy(
            ignoresEqual: options.removeDuplicates,
            seesUncommitted: options.related != .ignore,
            areEqual: { left, right in
                // Two records that cannot be encoded cannot be compared, so they count as different.
                guard let one = try? RecordText(left, encoder), let other = try? RecordText(right, encoder) else {
                    return false
                }
                return one == other
            }
        )
        super.init(options, of: layout)
    }

    /// What a listener knows from an earlier run.
    private struct Expectation {
        /// The ids of those records that no poll has found or confirmed as removed yet, since the listener was added.
        var open: [Int]
        /// Whether a poll has begun since.
        var isLookedFor = false
    }

    /// The encoded contents by which two records are compared.
    private struct RecordText: Equatable {
        let fields: [UInt8]
        let portals: [UInt8]?

        init(_ record: Record, _ encoder: FMEncoder) throws {
            fields = try encoder.encodeFields(record.fieldData)
            portals = try record.portalData.map { try encoder.encodePortals($0) }
        }
    }

    // MARK: Subscribers

    /// The current state, and why the query has failed, if it has. A listener whose expected records were not all found
    /// or confirmed as removed yet gets a blank state.
    func present(to id: ListenerID) -> (state: State, failure: FMRest.APIError?) {
        lock.withLock {
            (expectations[id] == nil ? state : State(), machine.phase == .ended ? failure : nil)
        }
    }

    /// The current state.
    var lastState: State { lock.withLock { state } }

    /// Adds a listener.
    ///
    /// - Parameter expected: the ids of the records that it knows from an earlier run. A removal among them is
    ///   confirmed like one of stored records: the record was asked for, or two polls agree.
    func add(_ listener: any PollerSubscriber, expecting expected: [Int] = []) -> ListenerID {
        act { now in
            lastID += 1
            listeners[lastID] = listener
            var actions = machine.subscribed(now) + lockedWishActions()
            if !expected.isEmpty {
                expectations[lastID] = Expectation(open: expected)
                actions += machine.woken()
            }
            return (lastID, actions)
        }
    }

    func remove(_ id: ListenerID) {
        // The listener is removed under the lock, but must not be released there.
        let listener: (any PollerSubscriber)? = act { now in
            guard let listener = listeners.removeValue(forKey: id) else { return (nil, []) }
            expectations[id] = nil
            return (listener, machine.unsubscribed(now) + lockedWishActions())
        }
        withExtendedLifetime(listener) {}
    }

    override func lockedWishes() -> [LiveWish] { listeners.values.map { $0.wish(at: state.changeCount) } }

    /// In the order in which they were added.
    private func lockedListeners(_ isMeant: (ListenerID) -> Bool = { _ in true }) -> [any PollerSubscriber] {
        listeners.filter { isMeant($0.key) }.sorted { $0.key < $1.key }.map(\.value)
    }

    // MARK: Polls

    override func beginPoll(_ context: PollContext) {
        let (state, strategy) = lock.withLock {
            for id in expectations.keys { expectations[id]?.isLookedFor = true }
            return (self.state, self.strategy)
        }
        let findings = poll.perform(state, strategy, context)
            .followed { [self] findings in
                compared(state, findings, context).followed { [self] isOther in
                    isOther ? performAnew(context) : .of(findings)
                }
            }
        run(findings) { [self] findings, now, jitter in
            lockedPolled(findings, work: context.meter.work, now, jitter)
        }
    }

    /// Whether the host now has another file than the one of the state. Compares those records that the poll has found
    /// in their known versions: all others are read anew anyway.
    private func compared(
        _ state: State,
        _ findings: PollFindings<R>,
        _ context: PollContext
    ) -> AnyPublisher<Bool, FMRest.APIError> {
        if state.records.isEmpty, lock.withLock({ expectations.isEmpty }) { return .of(false) }
        return askedAfterLogin {
            let found = findings.order.map(Set.init)
            let known = Set(state.records.map(\.version))
            let changed = Set(findings.read.lazy.map(\.version).filter { !known.contains($0) }.map(\.recordId))
            let kept = state.records.filter { record in
                !changed.contains(record.recordId) && found?.contains(record.recordId) != false
            }
            return poll.isOfOtherFile(kept, context)
        }
    }

    /// Polls as if nothing were known, because the host has another file.
    private func performAnew(_ context: PollContext) -> Poll<R>.Publisher {
        poll.perform(State(), poll.strategy, context)
            .map { findings in
                var findings = findings
                findings.isOfOtherFile = true
                return findings
            }
            .eraseToAnyPublisher()
    }

    override func isThere(_ id: Int, _ context: PollContext) -> AnyPublisher<Bool, FMRest.APIError> {
        poll.isThere(id, context)
    }

    private func lockedPolled(
        _ found: PollFindings<R>,
        work: TimeAmount,
        _ now: NIODeadline,
        _ jitter: Double
    ) -> [PollerStateMachine.Action] {
        findings = found
        var outcome = PollerStateMachine.Outcome(
            held: state.records.count + state.unreadable.count,
            isInconsistent: found.isInconsistent,
            isShort: found.isShort,
            work: work,
            isFill: state.isBlank || found.isOfOtherFile
        )
        let expected = expectations.values.filter(\.isLookedFor).flatMap(\.open)
        outcome.hasChanges = !state.isConfirmed(by: found)
        if outcome.hasChanges || !expected.isEmpty {
            let ids = Set(found.order ?? state.ids + found.read.map(\.version.recordId))
            var known: Set<Int> = []
            let all = (state.ids + expected).filter { known.insert($0).inserted }
            outcome.held = all.count
            outcome.missing = all.filter { !ids.contains($0) && !overtaken.contains($0) }
        }
        return machine.polled(outcome, now, jitter: jitter)
    }

    override func lockedLetGo() -> Any? { findings.take() }

    override func accept(_ poll: RunningPoll, gone: [Int: DataAPI.RemovalReason]) -> () -> Void {
        let (old, findings, overtaken) = lock.withLock { (state, self.findings, self.overtaken) }
        guard let findings else { return {} }
        beganToKnow()
        // Outside of the lock, because it compares records, which runs user code. Nothing else changes the state
        // meanwhile, since actions are performed one at a time.
        let next = old.next(
            findings,
            gone: gone,
            overtaken: overtaken,
            policy,
            origin: poll.origin,
            asOf: poll.began,
            in: poll.context.accountPeriod
        )
        let listeners = lock.withLock {
            state = next.state
            strategy = findings.strategy
            let settled = lockedSettleExpectations(found: findings.order ?? next.state.ids, gone: gone.keys)
            return lockedListeners { next.isNews || settled.contains($0) }
        }
        if next.isNews { poll.context.accountPeriod.reads.wrote() }
        return { [self] in
            withExtendedLifetime(old) {}
            for listener in listeners { listener.offer() }
            next.state.sharedChanges.allAreTold()
            if !listeners.isEmpty { wishesChanged() }
        }
    }

    /// Returns the listeners whose expected records were all found or confirmed as removed, by this poll or earlier
    /// ones. Records that were found are stored from then on, and removed ones are not asked for again.
    private func lockedSettleExpectations(found: [Int], gone: some Sequence<Int>) -> Set<ListenerID> {
        guard expectations.contains(where: \.value.isLookedFor) else { return [] }
        let settled = Set(found).union(gone)
        var ids: Set<ListenerID> = []
        for id in expectations.keys where expectations[id]?.isLookedFor == true {
            expectations[id]?.open.removeAll(where: settled.contains)
            if expectations[id]?.open.isEmpty == true { ids.insert(id) }
        }
        for id in ids { expectations[id] = nil }
        return ids
    }

    // MARK: Dropping the state

    override func forget(in accountPeriod: AccountPeriod) {
        let (old, new, listeners) = lock.withLock { () -> (State, State, [any PollerSubscriber]) in
            let old = state
            guard old.accountPeriod !== accountPeriod else { return (old, old, []) }
            state = old.begunAnew(in: accountPeriod)
            strategy = poll.strategy
            return (old, state, state.changeCount > old.changeCount ? lockedListeners() : [])
        }
        // Records are of the user's types, whose code may run when they are released: release them outside of the lock.
        withExtendedLifetime(old) {}
        for listener in listeners { listener.offer() }
        if !listeners.isEmpty {
            new.sharedChanges.allAreTold()
            wishesChanged()
        }
    }

    override func fail() {
        let listeners = lock.withLock {
            defer { self.listeners = [:] }
            return lockedListeners()
        }
        for listener in listeners { listener.offer() }
    }

    override func drop() {
        let old = lock.withLock {
            defer {
                state = State()
                strategy = poll.strategy
            }
            return state
        }
        withExtendedLifetime(old) {}
    }
}
