import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Looks after the records of one live query for all who subscribe to it: a locked shell around ``PollerStateMachine``.
///
/// Every entry has the same shape: lock, change the machine, post its orders, unlock, carry them out, one at a time and in
/// order. Listeners keep it alive, and after the last of them its own alarm does until nobody can come back for the value.
final class LivePoller<R: RecordFields>: LiveObserver, @unchecked Sendable {
    typealias State = LiveState<R>
    typealias Record = DataAPI.TypedLayout<R>.Record
    typealias ListenerID = Int

    private enum Order {
        case act(PollerStateMachine.Action)
        /// In its turn: who hears that it waits finds the alarm set.
        case tell(DataAPI.LiveStatus)
    }

    // `lock` guards every `var` below, which makes this class Sendable.
    private let lock = NIOLock()
    private var machine: PollerStateMachine
    private var state = State()
    /// As the last poll that was accepted has left it.
    private var strategy: any PollStrategy
    private var findings: PollFindings<R>?
    /// When the look that is under way began, why, and on which terms.
    private var lookBegan: (at: NIODeadline, origin: DataAPI.Freshness.Origin, terms: LookTerms)?
    private var wokenBy: DataAPI.Freshness.Origin?
    /// What was written through the same tree, as long as a look is under way that began before.
    private var overtaken: [Int: NIODeadline] = [:]
    private var failure: FMRest.APIError?
    private var listeners: [ListenerID: any LiveListener] = [:]
    private var lastID = 0
    /// Of listeners that go on where an earlier run has ended, until a look has found all that they know, or is sure that it is gone.
    private var expectations: [ListenerID: Expectation] = [:]
    private var turn: LookBudget.ID?
    private var work: AnyCancellable?
    /// Counts what was begun: what comes of anything but the last is out of date.
    private var lastWork = 0
    private var callOffAlarm: (@Sendable () -> Void)?
    private var outbox = Outbox<Order, Never>()

    private let poll: Poll<R>
    private let policy: ChangePolicy<R>
    private let database: DataAPI.Database
    private let layoutName: String
    private var server: DataAPI.Server { database.server }
    private let statusSubject = CurrentValueSubject<DataAPI.LiveStatus, Never>(.idle)

    init(_ poll: Poll<R>, _ options: DataAPI.LiveOptions, of layout: DataAPI.Layout) {
        self.poll = poll
        strategy = poll.strategy
        database = layout.database
        layoutName = layout.name
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
        machine = PollerStateMachine(
            PollerStateMachine.Settings(
                shortest: TimeAmount(clamping: options.every.lowerBound),
                longest: TimeAmount(clamping: options.every.upperBound),
                linger: TimeAmount(clamping: options.linger),
                patience: options.patience.map(TimeAmount.init(clamping:)),
                answersWithin: layout.database.calls.options.timeouts.firstByte.map(TimeAmount.init(clamping:)),
                givesUpAfter: TimeAmount(clamping: options.givesUpAfter),
                restFactor: max(0, options.restFactor)
            )
        )
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
            var actions = machine.subscribed(now) + lockedWishes()
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
            return (listener, machine.unsubscribed(now) + lockedWishes())
        }
        withExtendedLifetime(listener) {}
    }

    /// What listeners want has changed.
    func wishesChanged() {
        act { _ in ((), lockedWishes()) }
    }

    private func lockedWishes() -> [PollerStateMachine.Action] {
        let wishes = listeners.values.map { $0.wish(at: state.version) }
        return machine.wishes(
            wishes.contains { $0 == .wanted },
            hasUndelivered: wishes.contains { $0 == .undelivered }
        )
    }

    /// Whether it has failed for good.
    var hasEnded: Bool { lock.withLock { machine.phase == .ended } }

    // MARK: Wakes

    /// Something says that there may be news.
    func wake(_ origin: DataAPI.Freshness.Origin) {
        act { _ in
            wokenBy = origin
            return ((), machine.woken(insists: origin == .refresh))
        }
    }

    /// A record was written through the same tree: an answer that was under way by then says nothing of it.
    func written(_ recordId: Int?) {
        act { now in
            wokenBy = .ownWrite
            if let recordId, lookBegan != nil { overtaken[recordId] = now }
            return ((), machine.woken())
        }
    }

    /// The database became another account's.
    func beginAnew() { act { _ in ((), machine.begunAnew()) } }

    var status: AnyPublisher<DataAPI.LiveStatus, Never> { statusSubject.whereSubscribed() }

    // MARK: Orders

    /// Lock, change, post, unlock, carry out.
    @discardableResult
    private func act<Result>(_ change: (NIODeadline) -> (Result, [PollerStateMachine.Action])) -> Result {
        let (result, hasWork) = lock.withLock {
            let before = (machine.phase, machine.awaitsAnswerUntil)
            let (result, actions) = change(server.time.now())
            for action in actions { outbox.post(.act(action)) }
            if (machine.phase, machine.awaitsAnswerUntil) != before { outbox.post(.tell(lockedStatus())) }
            return (result, !outbox.isEmpty)
        }
        if hasWork { emptyOutbox() }
        return result
    }

    private func emptyOutbox() {
        var entry = lock.withLock { outbox.next() }
        while let current = entry {
            switch current {
            case .news(.act(let action)): carryOut(action)
            case .news(.tell(let status)): statusSubject.send(status)
            case .effects: break
            }
            entry = lock.withLock { outbox.next(after: current) }
        }
    }

    private func carryOut(_ action: PollerStateMachine.Action) {
        switch action {
        case .takeTurn: takeTurn()
        case .giveUpTurn:
            if let turn = lock.withLock({ turn.take() }) { server.looks.giveUp(turn) }
        case .look: beginLook()
        case .cancelLook: lock.withLock { lockedEndLook() }.work?.cancel()
        case .confirm(let ids): confirm(ids)
        case .accept(let gone): accept(gone)
        case .dismiss: withExtendedLifetime(lock.withLock { lockedEndLook() }) {}
        case .forget: forget()
        case .setAlarm(let instant):
            // Until the alarm nobody else may hold it.
            let callOff = server.time.schedule(instant) { self.alarmRang() }
            lock.withLock { replace(&callOffAlarm, by: callOff) }?()
        case .callOffAlarm: lock.withLock { callOffAlarm.take() }?()
        case .tellOfRest(let rest): tellOfRest(rest)
        case .fail: fail()
        case .drop:
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

    private func takeTurn() {
        let id = server.looks.ask { [weak self] in self?.turnCame() }
        let isWanted = lock.withLock {
            guard case .queued = machine.phase else { return false }
            turn = id
            return true
        }
        if !isWanted { server.looks.giveUp(id) }
    }

    private func turnCame() {
        act { now in
            turn = nil
            return ((), machine.turnCame(now))
        }
    }

    private func alarmRang() {
        act { now in
            callOffAlarm = nil
            guard let limit = machine.overdue(now) else { return ((), machine.alarmRang(now, jitter: 0)) }
            failure = FMRest.APIError(
                .timeout,
                reason: "The host has not answered a question of a live query's within "
                    + "\(Duration.nanoseconds(limit.nanoseconds))."
            )
            return ((), machine.alarmRang(now, jitter: server.random()))
        }
    }

    // MARK: Looks

    private func beginLook() {
        // What another account has seen is nothing to go on from.
        let tenure = forget()
        let meter = LookMeter(now: server.time.now) { [weak self] in self?.progressed($0) }
        let (state, strategy, terms) = lock.withLock {
            let terms = LookTerms(tenure: tenure, limit: machine.patienceForAnswer.limit, meter: meter)
            lookBegan = (server.time.now(), wokenBy.take() ?? .poll, terms)
            overtaken = [:]
            for id in expectations.keys { expectations[id]?.isLookedFor = true }
            return (self.state, self.strategy, terms)
        }
        run(poll.perform(state, strategy, terms)) { poller, findings, now, jitter in
            poller.lockedLooked(findings, work: meter.work, now, jitter)
        }
    }

    /// A call of the look that is under way has its session, or its answer.
    private func progressed(_ meter: LookMeter) {
        act { now in
            guard lookBegan?.terms.meter === meter else { return ((), []) }
            // Two that come at the same time come in any order.
            return ((), machine.progressed(calls: meter.calls, now))
        }
    }

    private func tellOfRest(_ rest: TimeAmount) {
        let options = database.calls.options
        guard let logger = options.logger ?? server.config.logger else { return }
        logger.warning(
            "looks of a live query take the host so long that its pauses are longer than LiveOptions.every",
            metadata: [
                "database": "\(database.name)", "layout": "\(layoutName)",
                "pause": "\(Duration.nanoseconds(rest.nanoseconds))",
            ]
        )
    }

    /// What was seen as another account is forgotten, and those who were told of it are told so. Returns the tenure of
    /// the present one.
    @discardableResult
    private func forget() -> Tenure {
        let tenure = database.tenure
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
        return tenure
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
            let ids = Set(found.order ?? state.ids + found.read.map(\.version.id))
            var known: Set<Int> = []
            let all = (state.ids + expected).filter { known.insert($0).inserted }
            outcome.held = all.count
            outcome.missing = all.filter { !ids.contains($0) && overtaken[$0] == nil }
        }
        return machine.looked(outcome, now, jitter: jitter)
    }

    /// Asks for records that a look has not found.
    private func confirm(_ ids: [Int]) {
        guard let terms = lock.withLock({ lookBegan?.terms }) else { return }
        let answers = ids.publisher
            .setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 1) { [poll] id in
                poll.isThere(id, terms).map { [(id, $0)] }.eraseToAnyPublisher()
            }
            .collect()
            .eraseToAnyPublisher()
        run(answers) { poller, answers, now, jitter in
            for (id, isThere) in answers { poller.reasons[id] = isThere ? .left : .deleted }
            return poller.machine.confirmed(ids, work: terms.meter.work, now, jitter: jitter)
        }
    }

    /// What was learnt of records that are gone, until the look is accepted.
    private var reasons: [Int: State.Reason] = [:]

    /// - Parameter then: called with the lock held.
    private func run<Value>(
        _ publisher: AnyPublisher<Value, FMRest.APIError>,
        _ then: @escaping (LivePoller, Value, NIODeadline, Double) -> [PollerStateMachine.Action]
    ) {
        let jitter = server.random()
        let number = lock.withLock {
            lastWork += 1
            return lastWork
        }
        let work = publisher.sink { [weak self] completion in
            guard case .failure(let error) = completion else { return }
            self?.act { now in
                guard let self, self.lastWork == number, !self.lockedIsReplaced(error) else { return ((), []) }
                self.failure = error
                return ((), self.machine.failed(.init(error), now, jitter: jitter))
            }
        } receiveValue: { [weak self] value in
            self?.act { now in
                guard let self, self.lastWork == number else { return ((), []) }
                return ((), then(self, value, now, jitter))
            }
        }
        // Outside of the lock: letting go of what was begun before cancels what is left of it, of which its meter tells.
        let (isWanted, old): (Bool, AnyCancellable?) = lock.withLock {
            switch machine.phase {
            case .looking where lastWork == number, .confirming where lastWork == number:
                return (true, replace(&self.work, by: work))
            default: return (false, nil)
            }
        }
        withExtendedLifetime(old) {}
        if !isWanted { work.cancel() }
    }

    /// Whether a look has failed since its account was replaced: the next one looks by itself, unless the query is
    /// bound to the account.
    private func lockedIsReplaced(_ error: FMRest.APIError) -> Bool {
        error.code == .credentialsReplaced && database.calls.options.tenure == nil
    }

    /// What the look has left is let go. Returns what was under way and found, which is to be let go outside of the lock.
    private func lockedEndLook() -> (work: AnyCancellable?, findings: PollFindings<R>?) {
        defer {
            findings = nil
            lookBegan = nil
            overtaken = [:]
            reasons = [:]
            work = nil
            lastWork += 1
        }
        return (work, findings)
    }

    private func accept(_ gone: [Int]) {
        let (old, findings, began, known, overtaken) = lock.withLock {
            failure = nil
            return (state, self.findings, lookBegan, reasons, Set(self.overtaken.keys))
        }
        guard let findings, let began else { return }
        // What another account has seen by now is of no use.
        guard !began.terms.tenure.isOver else { return withExtendedLifetime(lock.withLock { lockedEndLook() }) {} }
        // Outside of the lock: it compares records, which is other people's code. Nobody else changes the state meanwhile, since
        // orders are carried out one at a time.
        let next = old.next(
            findings,
            gone: Dictionary(uniqueKeysWithValues: gone.map { ($0, known[$0] ?? .unknown) }),
            overtaken: overtaken,
            policy,
            origin: began.origin,
            asOf: began.at,
            in: began.terms.tenure
        )
        let (listeners, ended) = lock.withLock {
            state = next.state
            strategy = findings.strategy
            let settled = lockedSettleExpectations(found: findings.order ?? next.state.ids, gone: gone)
            return (lockedListeners { next.isNews || settled.contains($0) }, lockedEndLook())
        }
        withExtendedLifetime((ended, old)) {}
        for listener in listeners { listener.offer() }
        next.state.sharedChanges.allAreTold()
        if !listeners.isEmpty { wishesChanged() }
    }

    /// Returns the listeners of which all that they know was found, or is sure to be gone, in this look or an earlier one: what was
    /// found is held from then on, and what is gone is not asked for again.
    private func lockedSettleExpectations(found: [Int], gone: [Int]) -> Set<ListenerID> {
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

    /// In the order in which they came.
    private func lockedListeners(_ isMeant: (ListenerID) -> Bool = { _ in true }) -> [any LiveListener] {
        listeners.filter { isMeant($0.key) }.sorted { $0.key < $1.key }.map(\.value)
    }

    private func fail() {
        let listeners = lock.withLock {
            defer { self.listeners = [:] }
            return lockedListeners()
        }
        for listener in listeners { listener.offer() }
    }

    private func lockedStatus() -> DataAPI.LiveStatus {
        switch machine.phase {
        case .idle: .idle
        case .queued: .throttled
        case .looking, .confirming:
            .looking(
                since: server.time.date(lookBegan?.at ?? server.time.now()),
                awaiting: machine.awaitsAnswerUntil == nil ? .session : .answer,
                until: machine.awaitsAnswerUntil.map(server.time.date)
            )
        case .waiting(let until): .waiting(until: server.time.date(until))
        case .paused: .paused
        case .failing(let until):
            .failing(
                lockedFailure,
                since: server.time.date(machine.failingSince ?? until),
                until: server.time.date(until)
            )
        case .ended: .ended(lockedFailure)
        }
    }

    private var lockedFailure: FMRest.APIError {
        failure ?? FMRest.APIError(.noValue, reason: "The look came to nothing.")
    }
}

/// What a database tells the live queries of its layouts.
protocol LiveObserver: AnyObject, Sendable {
    /// Something says that there may be news.
    func wake(_ origin: DataAPI.Freshness.Origin)
    /// A record of the layout was written through the same tree; `nil` when it is not known which.
    func written(_ recordId: Int?)
    /// The database became another account's.
    func beginAnew()
}

extension PollerStateMachine.Failure {
    /// What an error of a look means for the next ones.
    init(_ error: FMRest.APIError) {
        switch (error.code, error.fileMakerCode) {
        // No answer came; that there was no session says nothing of the host's patience.
        case (.timeout, _) where error.transportError?.code == .firstByteTimeout: self = .silence
        // None of the records can be decoded: the type or the layout is wrong, and somebody may be working on it.
        case (.decoding, _) where (error.underlying as? DecodingFailure)?.recordNumber != nil: self = .refusal
        case _ where error.passing != nil: self = .passing
        // Tokens go by themselves, and once more before the next look.
        case (_, .invalidToken?): self = .passing
        case (.script, _), (_, .fieldMissing?), (_, .layoutMissing?), (_, .tableMissing?), (_, .scriptMissing?):
            self = .refusal
        // A gateway, and not FileMaker, says that access is denied.
        case (_, nil) where error.httpStatus == 401: self = .refusal
        // The program's own doing: another look asks nothing else.
        case (.invalidRequest, _), (.encoding, _), (.shutdown, _), (.credentialsReplaced, _): self = .final
        // The account or its password: each try more may lock it.
        case (.unauthorized, _), (_, .some(210...214)): self = .final
        // Somebody may be changing the privileges, or a layout on which what is asked for has no place at the moment.
        case (_, let code?) where [.privileges, .account, .request].contains(code.category): self = .refusal
        case _ where error.meansCredentialsRefused: self = .final
        default: self = .passing
        }
    }
}

/// Puts a value in the place of another one, which it returns.
private func replace<Value>(_ value: inout Value, by new: Value) -> Value {
    defer { value = new }
    return value
}
