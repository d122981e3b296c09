import FMDataCore
import FMDataRecords
import FMHTTP
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Keeps the records of a query current: a locked shell around ``PollerStateMachine``, which decides when to poll. The
/// subclasses define what is polled, what is stored and who is notified.
///
/// Every entry point has the same shape: lock, change the machine, queue its actions, unlock, perform them, one at a
/// time and in order. Subscribers keep the poller alive; after the last one has cancelled, its own alarm does so until
/// the grace period ends.
class Poller: RegisteredPoller, @unchecked Sendable {
    // @unchecked: `lock` guards every `var`, here and in the subclasses.

    private enum QueuedEffect {
        case act(PollerStateMachine.Action)
        /// Queued behind actions, so the alarm is set before subscribers see `.waiting`.
        case tell(DataAPI.LiveStatus)
    }

    /// The poll under way: when it began, why, and on which terms.
    struct RunningPoll {
        let began: NIODeadline
        let origin: DataAPI.Freshness.Origin
        let context: PollContext
    }

    final let lock = NIOLock()
    final var machine: PollerStateMachine
    /// The error of the last poll, if it failed.
    private(set) final var failure: FMRest.APIError?
    private(set) final var running: RunningPoll?
    private final var wokenBy: DataAPI.Freshness.Origin?
    /// The ids of records written through the same database object since the poll under way began.
    private(set) final var overtaken: Set<Int> = []
    /// What ``confirm(_:)`` has found out about missing records, until the poll is accepted.
    private final var isThere: [Int: Bool] = [:]
    /// The number of logins at the last check whether the host still has the same file; `nil` when the check is due.
    private final var loginsWhenCompared: Int?
    private final var turn: PollTokenQueue.ID?
    private final var work: AnyCancellable?
    /// Counts the parts of polls: results of any but the latest are ignored.
    private final var lastWork = 0
    private final var callOffAlarm: (@Sendable () -> Void)?
    private final var effects = CircularBuffer<QueuedEffect>()
    private final var worker = SoleWorker()

    final let database: DataAPI.Database
    private final let layout: DataAPI.Layout
    final var server: DataAPI.Server { database.server }
    private final let statusSubject: CurrentValueSubject<DataAPI.LiveStatus, Never>

    /// - Parameter status: receives what the poller is doing.
    init(
        _ options: DataAPI.LiveOptions,
        of layout: DataAPI.Layout,
        _ status: CurrentValueSubject<DataAPI.LiveStatus, Never> = CurrentValueSubject(.init(.idle))
    ) {
        statusSubject = status
        database = layout.database
        self.layout = layout
        machine = PollerStateMachine(
            PollerStateMachine.Settings(
                shortest: TimeAmount(clamping: options.every.lowerBound),
                longest: TimeAmount(clamping: options.every.upperBound),
                gracePeriod: TimeAmount(clamping: options.gracePeriod),
                retryTimeout: options.retryTimeout.map(TimeAmount.init(clamping:)),
                answersWithin: layout.database.calls.options.timeouts.firstByte.map(TimeAmount.init(clamping:)),
                givesUpAfter: TimeAmount(clamping: options.givesUpAfter),
                restFactor: max(0, options.restFactor),
                longestPause: TimeAmount(clamping: options.longestPause)
            )
        )
    }

    // MARK: Overridden by subclasses

    /// What the subscribers want. Called with the lock held.
    func lockedWishes() -> [LiveWish] { [] }

    /// Whether a poll under way begins by asking the keeper of a copy, and has no answer yet. Read with the lock held.
    var lockedAwaitsKeeper: Bool { false }

    /// Drops what another account has read, and notifies the subscribers that received it.
    func forget(in accountPeriod: AccountPeriod) {}

    /// Begins a poll, which passes its publisher to ``run(_:_:)``.
    func beginPoll(_ context: PollContext) {}

    /// Whether a record that a poll has not found still exists.
    func isThere(_ id: Int, _ context: PollContext) -> AnyPublisher<Bool, FMRest.APIError> {
        Empty().eraseToAnyPublisher()
    }

    /// Accepts the findings of the poll. Returns a closure that notifies the subscribers.
    ///
    /// - Parameter gone: the confirmed removals, with their reasons.
    func accept(_ poll: RunningPoll, gone: [Int: DataAPI.RemovalReason]) -> () -> Void { {} }

    /// Drops the findings of the poll. Called with the lock held; returns what must be released outside of it.
    func lockedLetGo() -> Any? { nil }

    /// The query has failed permanently.
    func fail() {}

    /// Delivers what there is to deliver. For a poller that is a worker of its subscriber.
    func deliverNews() {}

    /// The grace period has ended without a new subscriber: drops what is stored.
    func drop() {}

    // MARK: Wake-ups

    /// Something indicates that there may be changes: polls soon.
    final func wake(_ origin: DataAPI.Freshness.Origin) {
        act { _ in
            wokenBy = origin
            return ((), machine.woken(insists: origin == .refresh))
        }
    }

    /// A record was written through the same database object, so that a poll already under way may return it in an
    /// older version.
    final func written(_ recordId: Int?) {
        act { _ in
            wokenBy = .ownWrite
            if let recordId, running != nil { overtaken.insert(recordId) }
            return ((), machine.woken())
        }
    }

    /// The database was switched to another account.
    final func beginAnew() {
        act { _ in
            loginsWhenCompared = nil
            return ((), machine.begunAnew())
        }
    }

    /// The server was shut down.
    final func shutDown() { wake(.wake) }

    /// Whether it has failed permanently.
    final var hasEnded: Bool { lock.withLock { machine.phase == .ended } }

    final var status: AnyPublisher<DataAPI.LiveStatus, Never> { statusSubject.whereSubscribed() }

    /// What subscribers want has changed.
    final func wishesChanged() {
        act { _ in ((), lockedWishActions()) }
    }

    final func lockedWishActions() -> [PollerStateMachine.Action] {
        let wishes = lockedWishes()
        return machine.wishes(
            wishes.contains { $0 == .wanted },
            hasUndelivered: wishes.contains { $0 == .undelivered }
        )
    }

    // MARK: Actions

    /// Locks, changes the machine, queues its actions, unlocks, performs them.
    @discardableResult
    final func act<Result>(_ change: (NIODeadline) -> (Result, [PollerStateMachine.Action])) -> Result {
        let (result, works) = lock.withLock {
            let before = (machine.phase, machine.awaitsAnswerUntil, lockedAwaitsKeeper)
            let (result, actions) = change(server.time.now())
            for action in actions { effects.append(.act(action)) }
            if (machine.phase, machine.awaitsAnswerUntil, lockedAwaitsKeeper) != before {
                effects.append(.tell(lockedStatus()))
            }
            if effects.isEmpty { return (result, false) }
            worker.noteEvent()
            return (result, worker.start())
        }
        if works { goOn() }
        return result
    }

    private final func goOn() {
        var leaves = false
        while let effect = lock.withLock({ lockedNext(&leaves) }) {
            switch effect {
            case .act(let action): carryOut(action)
            case .tell(let status): statusSubject.send(status)
            }
        }
        if leaves { DeliveryThread.start { self.goOn() } }
    }

    /// `nil` when there is nothing to do, or nothing for this thread.
    private final func lockedNext(_ leaves: inout Bool) -> QueuedEffect? {
        if worker.leaves() {
            leaves = true
            return nil
        }
        if let effect = effects.popFirst() { return effect }
        worker.stop()
        return nil
    }

    private final func carryOut(_ action: PollerStateMachine.Action) {
        switch action {
        case .takeTurn: takeTurn()
        case .giveUpTurn: giveUpTurn()
        case .poll: beginPoll()
        case .cancelPoll: lock.withLock { lockedEndPoll() }.work?.cancel()
        case .confirm(let ids): confirm(ids)
        case .accept(let gone): accept(gone)
        case .dismiss: endPoll()
        case .forget: forget(in: database.accountPeriod)
        case .setAlarm(let instant):
            // The closure holds `self` strongly: until the alarm nothing else may hold the poller.
            let callOff = server.time.schedule(instant) { self.alarmRang() }
            lock.withLock { replace(&callOffAlarm, by: callOff) }?()
        case .callOffAlarm: lock.withLock { callOffAlarm.take() }?()
        case .tellOfRest(let rest): tellOfRest(rest)
        case .fail: fail()
        case .drop: drop()
        }
    }

    /// Waits until the poll rate limit allows a poll.
    private final func takeTurn() {
        let id = server.pollRateLimiter.ask { [weak self] in self?.turnCame() }
        let isWanted = lock.withLock {
            guard case .queued = machine.phase else { return false }
            turn = id
            return true
        }
        if !isWanted { server.pollRateLimiter.giveUp(id) }
    }

    private final func giveUpTurn() {
        if let turn = lock.withLock({ turn.take() }) { server.pollRateLimiter.giveUp(turn) }
    }

    private final func turnCame() {
        act { now in
            turn = nil
            return ((), machine.turnCame(now))
        }
    }

    private final func alarmRang() {
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

    /// Goes on delivering on a background thread; see ``SoleWorker``.
    final func deliverInBackground() { DeliveryThread.start { self.deliverNews() } }

    // MARK: Polls

    private final func beginPoll() {
        let accountPeriod = database.accountPeriod
        // Findings of another account cannot be continued.
        forget(in: accountPeriod)
        let meter = PollMeter(now: server.time.now) { [weak self] in self?.progressed($0) }
        let context = lock.withLock {
            let context = PollContext(
                accountPeriod: accountPeriod,
                limit: machine.patienceForAnswer.limit,
                meter: meter
            )
            running = RunningPoll(began: server.time.now(), origin: wokenBy.take() ?? .poll, context: context)
            overtaken = []
            if failure != nil { loginsWhenCompared = nil }
            return context
        }
        beginPoll(context)
    }

    /// Asks whether the host has another file than the known one, such as a restored backup, if there was a login since
    /// the last check or a poll has failed. A file cannot be replaced without being closed, which ends all sessions.
    ///
    /// - Parameter ask: makes a publisher of one value.
    final func askedAfterLogin(
        _ ask: () -> AnyPublisher<Bool, FMRest.APIError>
    ) -> AnyPublisher<Bool, FMRest.APIError> {
        let logins = database.sessionStatus.logins
        guard lock.withLock({ loginsWhenCompared != logins }) else { return .of(false) }
        return ask()
            .handleEvents(receiveOutput: { [self] isOther in
                if !isOther { lock.withLock { loginsWhenCompared = logins } }
            })
            .eraseToAnyPublisher()
    }

    /// Records the current number of logins with the first records read: they were read in a session that is open now,
    /// so no check is due for them.
    final func beganToKnow() {
        let logins = database.sessionStatus.logins
        lock.withLock { loginsWhenCompared = loginsWhenCompared ?? logins }
    }

    /// A call of the poll under way has got its session, or has ended.
    private final func progressed(_ meter: PollMeter) {
        act { now in
            guard running?.context.meter === meter else { return ((), []) }
            // Two such events may arrive in any order, so the machine gets the current number.
            return ((), machine.progressed(calls: meter.calls, now))
        }
    }

    private final func tellOfRest(_ rest: TimeAmount) {
        layout.log(.warning)?.warning(
            "polls of a live query take so long that its restFactor asks for longer pauses than LiveOptions.every",
            metadata: [LogKey.pause: rest.logged]
        )
    }

    /// Logs the end of a poll.
    private final func log(_ poll: RunningPoll?, failedBy error: FMRest.APIError? = nil) {
        guard let poll, let logger = layout.log(.debug) else { return }
        var metadata: Logger.Metadata = [
            LogKey.wokenBy: "\(poll.origin)", LogKey.duration: (server.time.now() - poll.began).logged,
            LogKey.hostWork: poll.context.meter.work.logged,
        ]
        if let error { metadata.add(error) }
        logger.debug(error == nil ? "poll finished" : "poll failed", metadata: metadata)
    }

    /// Asks for records that a poll has not found.
    private final func confirm(_ ids: [Int]) {
        guard let context = lock.withLock({ running?.context }) else { return }
        let answers = ids.publisher
            .setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 1) { id in
                self.isThere(id, context).map { [(id, $0)] }.eraseToAnyPublisher()
            }
            .collect()
            .eraseToAnyPublisher()
        run(answers) { [self] answers, now, jitter in
            for (id, isThere) in answers { self.isThere[id] = isThere }
            let isThere = Dictionary(answers, uniquingKeysWith: { first, _ in first })
            return machine.confirmed(
                deleted: ids.filter { isThere[$0] == false },
                left: ids.filter { isThere[$0] != false },
                work: context.meter.work,
                now,
                jitter: jitter
            )
        }
    }

    /// Performs a part of the poll under way.
    ///
    /// - Parameter then: called with the lock held, unless the poll has ended by then. It is released with the part, so
    ///   it may hold the poller.
    final func run<Value>(
        _ publisher: AnyPublisher<Value, FMRest.APIError>,
        _ then: @escaping (Value, NIODeadline, Double) -> [PollerStateMachine.Action]
    ) {
        let jitter = server.random()
        let number = lock.withLock {
            lastWork += 1
            return lastWork
        }
        let work = publisher.sink { [weak self] completion in
            guard case .failure(let error) = completion, let self else { return }
            let poll = self.lock.withLock { self.lastWork == number ? self.running : nil }
            self.log(poll, failedBy: error)
            self.act { now in
                guard self.lastWork == number, !self.lockedIsReplaced(error) else { return ((), []) }
                self.failure = error
                return ((), self.machine.failed(.init(error), now, jitter: jitter))
            }
        } receiveValue: { [weak self] value in
            self?.act { now in
                guard let self, self.lastWork == number else { return ((), []) }
                return ((), then(value, now, jitter))
            }
        }
        // Outside of the lock: releasing the previous part cancels what is left of it, and its meter calls back.
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

    /// Whether the poll failed because the database was switched to another account: the next poll starts by itself,
    /// unless the query is bound to the account.
    private final func lockedIsReplaced(_ error: FMRest.APIError) -> Bool {
        error.code == .credentialsReplaced && database.calls.options.accountPeriod == nil
    }

    private final func accept(_ gone: [Int]) {
        let (poll, isThere) = lock.withLock {
            failure = nil
            return (running, self.isThere)
        }
        guard let poll else { return }
        // The account was replaced meanwhile: its findings cannot be used.
        guard !poll.context.accountPeriod.isOver else { return endPoll() }
        var reasons: [Int: DataAPI.RemovalReason] = [:]
        for id in gone { reasons[id] = isThere[id].map { $0 ? .left : .deleted } ?? .unknown }
        let tell = accept(poll, gone: reasons)
        log(poll)
        endPoll()
        tell()
    }

    private final func endPoll() { withExtendedLifetime(lock.withLock { lockedEndPoll() }) {} }

    /// Clears the state of the poll. Returns its publisher's subscription and its findings, which must be released
    /// outside of the lock.
    private final func lockedEndPoll() -> (work: AnyCancellable?, found: Any?) {
        defer {
            running = nil
            overtaken = []
            isThere = [:]
            work = nil
            lastWork += 1
        }
        return (work, lockedLetGo())
    }

    // MARK: Status

    private final func lockedStatus() -> DataAPI.LiveStatus {
        typealias Status = DataAPI.LiveStatus
        return switch machine.phase {
        case .idle: Status(.idle)
        case .queued: Status(.throttled)
        case .looking, .confirming:
            Status(
                .polling,
                since: server.time.date(running?.began ?? server.time.now()),
                until: machine.awaitsAnswerUntil.map(server.time.date),
                awaited: lockedAwaitsKeeper ? .keeper : machine.awaitsAnswerUntil == nil ? .session : .answer
            )
        case .waiting(let until): Status(.waiting, until: server.time.date(until))
        case .paused: Status(.paused)
        case .failing(let until):
            Status(
                .failing,
                since: server.time.date(machine.failingSince ?? until),
                until: server.time.date(until),
                error: lockedFailure
            )
        case .ended: Status(.ended, error: lockedFailure)
        }
    }

    private final var lockedFailure: FMRest.APIError {
        failure ?? FMRest.APIError(.noValue, reason: "The poll has no result.")
    }
}

/// What a database notifies the live queries of its layouts of.
protocol RegisteredPoller: AnyObject, Sendable {
    /// Something indicates that there may be changes.
    func wake(_ origin: DataAPI.Freshness.Origin)
    /// A record of the layout was written through the same database object; `nil` when its id is not known.
    func written(_ recordId: Int?)
    /// The database was switched to another account.
    func beginAnew()
    /// The server was shut down, so that the next poll fails.
    func shutDown()
}

extension PollerStateMachine.Failure {
    /// Classifies the error of a poll by what it means for the next polls.
    init(_ error: FMRest.APIError) {
        switch (error.code, error.fileMakerCode) {
        // No answer came. A timeout while waiting for a session is no such case: it says nothing about the host.
        case (.timeout, _) where error.transportError?.code == .firstByteTimeout: self = .silence
        // None of the records can be decoded: the type or the layout is wrong, and a developer may be editing it.
        case (.decoding, _) where (error.underlying as? DecodingFailure)?.recordNumber != nil: self = .refusal
        case _ where error.passing != nil: self = .passing
        // An invalid token is replaced by itself; the next poll uses a fresh one.
        case (_, .invalidToken?): self = .passing
        case (.script, _), (_, .fieldMissing?), (_, .layoutMissing?), (_, .tableMissing?), (_, .scriptMissing?):
            self = .refusal
        // A gateway, not FileMaker, denied access.
        case (_, nil) where error.httpStatus == 401: self = .refusal
        // Caused by the program itself: another poll would fail the same way.
        case (.invalidRequest, _), (.encoding, _), (.shutdown, _), (.credentialsReplaced, _), (.keeper, _):
            self = .final
        // The account or its password is refused: each further attempt may lock the account.
        case (.unauthorized, _), (_, .some(210...214)): self = .final
        // A developer may be changing the privileges, or the layout on which a requested field is missing at the
        // moment.
        case (_, let code?) where [.privileges, .account, .request].contains(code.category): self = .refusal
        case _ where error.meansCredentialsRefused: self = .final
        default: self = .passing
        }
    }
}

/// Sets a new value and returns the old one.
private func replace<Value>(_ value: inout Value, by new: Value) -> Value {
    defer { value = new }
    return value
}
