import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Looks after the records of a query: a locked shell around ``PollerStateMachine``, which says when. What is looked for, what is
/// held and who is told is for the subclasses to say.
///
/// Every entry has the same shape: lock, change the machine, post its orders, unlock, carry them out, one at a time and in
/// order. Whoever is told keeps it alive, and after the last of them its own alarm does until nobody can come back.
class Poller: LiveObserver, @unchecked Sendable {
    // @unchecked: `lock` guards every `var`, here and in the subclasses.

    private enum Order {
        case act(PollerStateMachine.Action)
        /// In its turn: who hears that it waits finds the alarm set.
        case tell(DataAPI.LiveStatus)
    }

    /// A look that is under way: when it began, why, and on which terms.
    struct Look {
        let began: NIODeadline
        let origin: DataAPI.Freshness.Origin
        let terms: LookTerms
    }

    final let lock = NIOLock()
    final var machine: PollerStateMachine
    /// Why the last look has failed.
    private(set) final var failure: FMRest.APIError?
    private(set) final var look: Look?
    private final var wokenBy: DataAPI.Freshness.Origin?
    /// What was written through the same tree, as long as a look is under way that began before.
    private(set) final var overtaken: Set<Int> = []
    /// What was learnt of records that are gone, until the look is accepted.
    private final var isThere: [Int: Bool] = [:]
    /// How many logins there had been when what is known was compared with what the host has; `nil` when that is to be done.
    private final var loginsWhenCompared: Int?
    private final var turn: LookBudget.ID?
    private final var work: AnyCancellable?
    /// Counts what was begun: what comes of anything but the last is out of date.
    private final var lastWork = 0
    private final var callOffAlarm: (@Sendable () -> Void)?
    private final var outbox = Outbox<Order, Never>()

    final let database: DataAPI.Database
    private final let layoutName: String
    final var server: DataAPI.Server { database.server }
    private final let statusSubject: CurrentValueSubject<DataAPI.LiveStatus, Never>

    /// - Parameter status: gets what it does.
    init(
        _ options: DataAPI.LiveOptions,
        of layout: DataAPI.Layout,
        _ status: CurrentValueSubject<DataAPI.LiveStatus, Never> = CurrentValueSubject(.idle)
    ) {
        statusSubject = status
        database = layout.database
        layoutName = layout.name
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

    // MARK: What a subclass says

    /// What its listeners want. Called with the lock held.
    func lockedWishes() -> [LiveWish] { [] }

    /// What was seen as another account is forgotten, and those who were told of it are told so.
    func forget(in tenure: Tenure) {}

    /// Begins to look, and hands over what it will have found by ``run(_:_:)``.
    func beginLook(_ terms: LookTerms) {}

    /// Whether a record that a look has not found is still there.
    func isThere(_ id: Int, _ terms: LookTerms) -> AnyPublisher<Bool, FMRest.APIError> {
        Empty().eraseToAnyPublisher()
    }

    /// What the look has found holds. Returns what tells the listeners.
    ///
    /// - Parameter gone: those that are sure to be gone, with why.
    func accept(_ look: Look, gone: [Int: DataAPI.RemovalReason]) -> () -> Void { {} }

    /// What the look has found is let go. Called with the lock held; what is returned is let go outside of it.
    func lockedLetGo() -> Any? { nil }

    /// The query has failed for good.
    func fail() {}

    /// Nobody has come back: what is held goes.
    func drop() {}

    // MARK: Wakes

    /// Something says that there may be news.
    final func wake(_ origin: DataAPI.Freshness.Origin) {
        act { _ in
            wokenBy = origin
            return ((), machine.woken(insists: origin == .refresh))
        }
    }

    /// A record was written through the same tree: an answer that was under way by then says nothing of it.
    final func written(_ recordId: Int?) {
        act { _ in
            wokenBy = .ownWrite
            if let recordId, look != nil { overtaken.insert(recordId) }
            return ((), machine.woken())
        }
    }

    /// The database became another account's.
    final func beginAnew() {
        act { _ in
            loginsWhenCompared = nil
            return ((), machine.begunAnew())
        }
    }

    /// Whether it has failed for good.
    final var hasEnded: Bool { lock.withLock { machine.phase == .ended } }

    final var status: AnyPublisher<DataAPI.LiveStatus, Never> { statusSubject.whereSubscribed() }

    /// What listeners want has changed.
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

    // MARK: Orders

    /// Lock, change, post, unlock, carry out.
    @discardableResult
    final func act<Result>(_ change: (NIODeadline) -> (Result, [PollerStateMachine.Action])) -> Result {
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

    private final func emptyOutbox() {
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

    private final func carryOut(_ action: PollerStateMachine.Action) {
        switch action {
        case .takeTurn: takeTurn()
        case .giveUpTurn:
            if let turn = lock.withLock({ turn.take() }) { server.looks.giveUp(turn) }
        case .look: beginLook()
        case .cancelLook: lock.withLock { lockedEndLook() }.work?.cancel()
        case .confirm(let ids): confirm(ids)
        case .accept(let gone): accept(gone)
        case .dismiss: endLook()
        case .forget: forget(in: database.tenure)
        case .setAlarm(let instant):
            // Until the alarm nobody else may hold it.
            let callOff = server.time.schedule(instant) { self.alarmRang() }
            lock.withLock { replace(&callOffAlarm, by: callOff) }?()
        case .callOffAlarm: lock.withLock { callOffAlarm.take() }?()
        case .tellOfRest(let rest): tellOfRest(rest)
        case .fail: fail()
        case .drop: drop()
        }
    }

    private final func takeTurn() {
        let id = server.looks.ask { [weak self] in self?.turnCame() }
        let isWanted = lock.withLock {
            guard case .queued = machine.phase else { return false }
            turn = id
            return true
        }
        if !isWanted { server.looks.giveUp(id) }
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

    // MARK: Looks

    private final func beginLook() {
        let tenure = database.tenure
        // What another account has seen is nothing to go on from.
        forget(in: tenure)
        let meter = LookMeter(now: server.time.now) { [weak self] in self?.progressed($0) }
        let terms = lock.withLock {
            let terms = LookTerms(tenure: tenure, limit: machine.patienceForAnswer.limit, meter: meter)
            look = Look(began: server.time.now(), origin: wokenBy.take() ?? .poll, terms: terms)
            overtaken = []
            if failure != nil { loginsWhenCompared = nil }
            return terms
        }
        beginLook(terms)
    }

    /// Asks whether the host has another file than the one that is known, such as a backup that was restored: where there was a login
    /// since that was asked last, or a look has failed. No file is replaced without being closed, which ends all sessions.
    ///
    /// - Parameter ask: publishes one value.
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

    /// What is known from now on was read in a session that is open at this moment.
    final func beganToKnow() {
        let logins = database.sessionStatus.logins
        lock.withLock { loginsWhenCompared = loginsWhenCompared ?? logins }
    }

    /// A call of the look that is under way has its session, or its answer.
    private final func progressed(_ meter: LookMeter) {
        act { now in
            guard look?.terms.meter === meter else { return ((), []) }
            // Two that come at the same time come in any order.
            return ((), machine.progressed(calls: meter.calls, now))
        }
    }

    private final func tellOfRest(_ rest: TimeAmount) {
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

    /// Asks for records that a look has not found.
    private final func confirm(_ ids: [Int]) {
        guard let terms = lock.withLock({ look?.terms }) else { return }
        let answers = ids.publisher
            .setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 1) { id in
                self.isThere(id, terms).map { [(id, $0)] }.eraseToAnyPublisher()
            }
            .collect()
            .eraseToAnyPublisher()
        run(answers) { [self] answers, now, jitter in
            for (id, isThere) in answers { self.isThere[id] = isThere }
            let isThere = Dictionary(answers, uniquingKeysWith: { first, _ in first })
            return machine.confirmed(
                deleted: ids.filter { isThere[$0] == false },
                left: ids.filter { isThere[$0] != false },
                work: terms.meter.work,
                now,
                jitter: jitter
            )
        }
    }

    /// Does a part of the look that is under way.
    ///
    /// - Parameter then: called with the lock held, unless the look has ended by then. It is let go with the part, so that it may
    ///   hold the poller.
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
            guard case .failure(let error) = completion else { return }
            self?.act { now in
                guard let self, self.lastWork == number, !self.lockedIsReplaced(error) else { return ((), []) }
                self.failure = error
                return ((), self.machine.failed(.init(error), now, jitter: jitter))
            }
        } receiveValue: { [weak self] value in
            self?.act { now in
                guard let self, self.lastWork == number else { return ((), []) }
                return ((), then(value, now, jitter))
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
    private final func lockedIsReplaced(_ error: FMRest.APIError) -> Bool {
        error.code == .credentialsReplaced && database.calls.options.tenure == nil
    }

    private final func accept(_ gone: [Int]) {
        let (look, isThere) = lock.withLock {
            failure = nil
            return (self.look, self.isThere)
        }
        guard let look else { return }
        // What another account has seen by now is of no use.
        guard !look.terms.tenure.isOver else { return endLook() }
        var reasons: [Int: DataAPI.RemovalReason] = [:]
        for id in gone { reasons[id] = isThere[id].map { $0 ? .left : .deleted } ?? .unknown }
        let tell = accept(look, gone: reasons)
        endLook()
        tell()
    }

    private final func endLook() { withExtendedLifetime(lock.withLock { lockedEndLook() }) {} }

    /// What the look has left is let go. Returns what was under way and found, which is to be let go outside of the lock.
    private final func lockedEndLook() -> (work: AnyCancellable?, found: Any?) {
        defer {
            look = nil
            overtaken = []
            isThere = [:]
            work = nil
            lastWork += 1
        }
        return (work, lockedLetGo())
    }

    // MARK: Status

    private final func lockedStatus() -> DataAPI.LiveStatus {
        switch machine.phase {
        case .idle: .idle
        case .queued: .throttled
        case .looking, .confirming:
            .looking(
                since: server.time.date(look?.began ?? server.time.now()),
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

    private final var lockedFailure: FMRest.APIError {
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
        case (.invalidRequest, _), (.encoding, _), (.shutdown, _), (.credentialsReplaced, _), (.keeper, _):
            self = .final
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
