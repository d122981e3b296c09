import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Looks after the records of one live query for all who subscribe to it, and holds them as the last look has left them.
final class LivePoller<R: RecordFields>: Poller, @unchecked Sendable {
    // @unchecked: as the superclass.
    typealias State = LiveState<R>
    typealias Record = DataAPI.TypedLayout<R>.Record
    typealias ListenerID = Int

    private var state = State()
    /// As the last poll that was accepted has left it.
    private var strategy: any PollStrategy
    private var findings: PollFindings<R>?
    private var listeners: [ListenerID: any LiveListener] = [:]
    private var lastID = 0
    /// Of listeners that go on where an earlier run has ended, until a look has found all that they know, or is sure that it is gone.
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
                // Two that cannot be written cannot be compared, so they count as different.
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
        /// Those of which no look has told yet, since it was asked for, whether they are there.
        var open: [Int]
        /// Whether a look has begun since.
        var isLookedFor = false
    }

    /// What two records are compared by.
    private struct RecordText: Equatable {
        let fields: [UInt8]
        let portals: [UInt8]?

        init(_ record: Record, _ encoder: FMEncoder) throws {
            fields = try encoder.encodeFields(record.fieldData)
            portals = try record.portalData.map { try encoder.encodePortals($0) }
        }
    }

    // MARK: Subscribers

    /// What the last look has left, and why there will be no more. To a listener whose expectation nobody has looked for yet,
    /// nothing is known.
    func present(to id: ListenerID) -> (state: State, failure: FMRest.APIError?) {
        lock.withLock {
            (expectations[id] == nil ? state : State(), machine.phase == .ended ? failure : nil)
        }
    }

    /// What the last look has left.
    var lastState: State { lock.withLock { state } }

    /// The listener wants values from now on.
    ///
    /// - Parameter expected: the ids of the records that it knows from an earlier run. That one of them is gone is told as for those
    ///   that are held: when it was asked for, or two looks agree.
    func add(_ listener: any LiveListener, expecting expected: [Int] = []) -> ListenerID {
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
        // The listener leaves the table under the lock, but must not be destroyed there.
        let listener: (any LiveListener)? = act { now in
            guard let listener = listeners.removeValue(forKey: id) else { return (nil, []) }
            expectations[id] = nil
            return (listener, machine.unsubscribed(now) + lockedWishActions())
        }
        withExtendedLifetime(listener) {}
    }

    override func lockedWishes() -> [LiveWish] { listeners.values.map { $0.wish(at: state.version) } }

    /// In the order in which they came.
    private func lockedListeners(_ isMeant: (ListenerID) -> Bool = { _ in true }) -> [any LiveListener] {
        listeners.filter { isMeant($0.key) }.sorted { $0.key < $1.key }.map(\.value)
    }

    // MARK: Looks

    override func beginLook(_ terms: LookTerms) {
        let (state, strategy) = lock.withLock {
            for id in expectations.keys { expectations[id]?.isLookedFor = true }
            return (self.state, self.strategy)
        }
        let findings = poll.perform(state, strategy, terms)
            .followed { [self] findings in
                compared(state, terms).followed { [self] isOther in
                    isOther ? performAnew(terms) : .of(findings)
                }
            }
        run(findings) { [self] findings, now, jitter in
            lockedLooked(findings, work: terms.meter.work, now, jitter)
        }
    }

    /// Whether the host has another file by now than the one that the state is of.
    private func compared(_ state: State, _ terms: LookTerms) -> AnyPublisher<Bool, FMRest.APIError> {
        if state.records.isEmpty, lock.withLock({ expectations.isEmpty }) { return .of(false) }
        return askedAfterLogin { poll.isOfOtherFile(state.records, terms) }
    }

    /// Polls as if nothing were known.
    private func performAnew(_ terms: LookTerms) -> Poll<R>.Publisher {
        poll.perform(State(), poll.strategy, terms)
            .map { findings in
                var findings = findings
                findings.isOfOtherFile = true
                return findings
            }
            .eraseToAnyPublisher()
    }

    override func isThere(_ id: Int, _ terms: LookTerms) -> AnyPublisher<Bool, FMRest.APIError> {
        poll.isThere(id, terms)
    }

    private func lockedLooked(
        _ found: PollFindings<R>,
        work: TimeAmount,
        _ now: NIODeadline,
        _ jitter: Double
    ) -> [PollerStateMachine.Action] {
        findings = found
        var outcome = PollerStateMachine.Outcome(
            held: state.records.count + state.unreadable.count,
            isTorn: found.isTorn,
            isShort: found.isShort,
            work: work
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
        return machine.looked(outcome, now, jitter: jitter)
    }

    override func lockedLetGo() -> Any? { findings.take() }

    override func accept(_ look: Look, gone: [Int: DataAPI.RemovalReason]) -> () -> Void {
        let (old, findings, overtaken) = lock.withLock { (state, self.findings, self.overtaken) }
        guard let findings else { return {} }
        beganToKnow()
        // Outside of the lock: it compares records, which is other people's code. Nobody else changes the state meanwhile, since
        // orders are carried out one at a time.
        let next = old.next(
            findings,
            gone: gone,
            overtaken: overtaken,
            policy,
            origin: look.origin,
            asOf: look.began,
            in: look.terms.tenure
        )
        let listeners = lock.withLock {
            state = next.state
            strategy = findings.strategy
            let settled = lockedSettleExpectations(found: findings.order ?? next.state.ids, gone: gone.keys)
            return lockedListeners { next.isNews || settled.contains($0) }
        }
        if next.isNews { look.terms.tenure.reads.wrote() }
        return { [self] in
            withExtendedLifetime(old) {}
            for listener in listeners { listener.offer() }
            next.state.sharedChanges.allAreTold()
            if !listeners.isEmpty { wishesChanged() }
        }
    }

    /// Returns the listeners of which all that they know was found, or is sure to be gone, in this look or an earlier one: what was
    /// found is held from then on, and what is gone is not asked for again.
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

    // MARK: The end of what is known

    override func forget(in tenure: Tenure) {
        let (old, new, listeners) = lock.withLock { () -> (State, State, [any LiveListener]) in
            let old = state
            guard old.tenure !== tenure else { return (old, old, []) }
            state = old.begunAnew(in: tenure)
            strategy = poll.strategy
            return (old, state, state.version > old.version ? lockedListeners() : [])
        }
        // Records are other people's types, and are let go outside of the lock.
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
