import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// The sessions of one database under one identity: a locked shell around ``SessionPoolStateMachine``.
///
/// Every entry point has the same shape: lock, change the machine, put its actions into the outbox, unlock, empty the
/// outbox. A side effect may call the pool again (a subscriber may ask for the next session while it receives a value)
/// and finds it unlocked. See ``Outbox`` for the order of the work.
///
/// The pool keeps itself alive while a login or logout is under way or waits for its repetition, so its owner may
/// release it right after `close()`.
package final class SessionPool: @unchecked Sendable {
    // `lock` guards every `var` below, which makes this class Sendable.
    private let lock = NIOLock()
    private var machine: SessionPoolStateMachine
    private var tokens: [TokenEpoch: HeldToken] = [:]
    private var waiting: [LeaseID: LeaseSubscription] = [:]
    private var openings: [SessionID: any Cancellable & Sendable] = [:]
    private var logOuts: [SessionID: any Cancellable & Sendable] = [:]
    private var endings: [EndingID: EndingWaiter] = [:]
    /// The pool itself while there are endings: between a failed logout and its repetition nothing else keeps a closed
    /// pool alive, since the alarm refers to it weakly.
    private var ownHold: SessionPool?
    /// Why the last login failed, for the errors of the requests that waited for it.
    private var loginError: FMRest.APIError?
    private var store: StoredToken?
    /// Where slots are taken from; `nil` without a budget.
    private var budgetClient: BudgetClient?
    private var slots: [SessionID: HeldSlot] = [:]
    private let member = DataAPI.Member()
    private var callOffAlarm: (@Sendable () -> Void)?
    /// The expiry in both kinds of time. The date is computed once per instant, so that clock drift causes no new
    /// status.
    private var expiry: (instant: NIODeadline, date: Date)?
    /// Whether the status has had a subscriber.
    private var isWatched = false
    /// Whether the status is in the outbox. One entry is enough, since the status is read when it is delivered.
    private var isStatusPosted = false
    /// The size that was reported last, if sizes are reported.
    private var reportedSize: (sessions: Int, limit: Int)?
    private var outbox = Outbox<News, Effect>()

    private let configuration: DataAPI.SessionConfiguration
    private let authenticator: SessionAuthenticator
    private let time: SessionTime
    private let jitter: @Sendable () -> Double
    let observer: SessionObserver
    private let statusSubject: CurrentValueSubject<DataAPI.SessionStatus, Never>

    typealias EndingID = SessionPoolStateMachine.EndingID

    /// - Parameters:
    ///   - storeKey: the key of the session in the configured store; `nil` to store nothing.
    ///   - jitter: returns a new random number in `0..<1` with each call.
    init(
        configuration: DataAPI.SessionConfiguration = .init(),
        storeKey: DataAPI.TokenStore.Key? = nil,
        authenticator: SessionAuthenticator,
        time: SessionTime,
        jitter: @escaping @Sendable () -> Double,
        observer: SessionObserver = SessionObserver()
    ) {
        self.configuration = configuration
        self.authenticator = authenticator
        self.time = time
        self.jitter = jitter
        self.observer = observer
        machine = SessionPoolStateMachine(settings: .init(configuration, hasStore: false))
        statusSubject = CurrentValueSubject(machine.status)
        budgetClient = budgetClient(under: storeKey)
        store = budgetClient == nil ? storedToken(under: storeKey) : nil
        machine.settings.hasStore = store != nil
        machine.settings.hasBudget = budgetClient != nil
    }
}

// MARK: - Leasing

extension SessionPool {
    enum LeaseAnswer {
        case granted(SessionLease)
        case waiting(LeaseID)
        case refused(FMRest.APIError)
    }

    /// Asks for a session. A subscription that has to wait is answered later, possibly before this call returns.
    func request(_ purpose: LeasePurpose, _ subscription: LeaseSubscription) -> LeaseAnswer {
        act { now in
            // The account is replaced under the same lock, so this check cannot miss it.
            if subscription.accountPeriod?.isOver == true { return (.refused(.credentialsReplaced()), []) }
            let (answer, actions) = machine.request(
                purpose,
                until: subscription.clock?.deadline(from: now),
                now: now
            )
            switch answer {
            case .granted(let grant):
                return (.granted(lockedLease(grant)), actions)
            case .waiting(let id):
                waiting[id] = subscription
                return (.waiting(id), actions)
            case .refused(let refusal):
                return (.refused(lockedError(refusal, subscription)), actions)
            }
        }
    }

    /// Leaves the queue. Has no effect once the request was answered.
    func withdraw(_ id: LeaseID) {
        // The subscription leaves the table under the lock, but must not be destroyed there.
        let subscription: LeaseSubscription? = act { now in
            (waiting.removeValue(forKey: id), machine.withdraw(id, now: now))
        }
        withExtendedLifetime(subscription) {}
    }

    /// Gives a lease back. Has no effect the second time.
    func release(_ lease: SessionLease, _ outcome: SessionOutcome) {
        let jitter = outcome == .hostFull || outcome == .refused ? jitter() : 0
        act { now in
            ((), machine.release(lease.id, of: lease.session, outcome, jitter: jitter, now: now))
        }
    }
}

// MARK: - Credentials, logout and shutdown

extension SessionPool {
    /// Uses a token that was opened elsewhere. With `isOwned` (a login made by the library) its session is trimmed,
    /// renewed and logged out like the others. Without, it is used until the server refuses it, and only an explicit
    /// `logOut()` closes it.
    ///
    /// - Parameters:
    ///   - externalLogin: the external login that brought the token.
    ///   - accountPeriod: the account period of the token's account.
    /// - Returns: whether the pool uses the session; if not, an owned session is logged out.
    @discardableResult
    func adopt(
        _ token: SessionToken,
        isOwned: Bool,
        from externalLogin: SessionID? = nil,
        in accountPeriod: AccountPeriod? = nil
    ) -> Bool {
        act { now in
            let (epoch, isWanted, actions) = machine.adopt(
                isOwned: isOwned,
                from: externalLogin,
                isOutOfDate: accountPeriod?.isOver == true,
                now: now
            )
            tokens[epoch] = HeldToken(token: token, store: store)
            return (isWanted, actions)
        }
    }

    /// Registers an external login, whose exchange the caller has to start. Returns `nil` after a shutdown.
    func beginVisit(_ visitor: VisitSubscription) -> (SessionID, SessionExchange<SessionToken>)? {
        act { now in
            let (id, actions) = machine.logInExternally(now: now)
            let externalLogin = id.map { id in
                let exchange = SessionExchange<SessionToken> { [self] result in
                    _ = lock.withLock { openings.removeValue(forKey: id) }
                    visitor.loginEnded(id, result ?? .failure(.loginWithoutToken))
                }
                openings[id] = ExternalLogin(exchange: exchange, visitor: visitor)
                return (id, exchange)
            }
            return (externalLogin, actions)
        }
    }

    /// The exchange of an external login. If the pool cancels it in a shutdown, its subscription fails.
    private struct ExternalLogin: Cancellable, Sendable {
        let exchange: SessionExchange<SessionToken>
        let visitor: VisitSubscription

        func cancel() {
            exchange.cancel()
            visitor.finish(.failure(.sessionsShutDown))
        }
    }

    /// The external login was cancelled, so its session is not wanted any more.
    func abandonVisit(_ id: SessionID) {
        act { now in ((), machine.abandonVisit(id, now: now)) }
    }

    /// The external login failed, or was never sent.
    func visitFailed(_ id: SessionID) {
        act { now in
            openings[id] = nil
            return ((), machine.visitFailed(id, now: now))
        }
    }

    /// Gives requests only the session of this token from now on, as long as it lives: it is reserved for them because
    /// it holds global fields that other sessions lack.
    func confine(to token: SessionToken) {
        act { now in
            guard let epoch = tokens.first(where: { $0.value.token == token })?.key else { return ((), []) }
            return ((), machine.confine(to: epoch, now: now))
        }
    }

    /// Makes the authenticator use other credentials from now on. Sessions of the old ones end when their requests do.
    /// Waiting requests get a session of the new credentials or, if these are another account's, fail.
    ///
    /// - Parameter replace: replaces the credentials. Called with the lock held, so that no session is opened or leased
    ///   in between.
    @discardableResult
    func credentialsChanged(
        storeKey: DataAPI.TokenStore.Key? = nil,
        _ replace: () -> SessionIdentity.Replacement
    ) -> SessionIdentity.Replacement {
        let budgetClient = budgetClient(under: storeKey)
        let store = budgetClient == nil ? storedToken(under: storeKey) : nil
        return act { now in
            let replacement = replace()
            // New tokens belong to the new store; each open session's token knows its own store, and its slot.
            self.store = store
            self.budgetClient = budgetClient
            let actions = machine.credentialsReplaced(
                hasStore: store != nil,
                hasBudget: budgetClient != nil,
                isAnother: replacement.ended != nil,
                now: now
            )
            return (replacement, actions)
        }
    }

    /// Publishes one value when every session that is open now has been logged out, then finishes. Requests made before
    /// are served first. Sends nothing before demand; cancelling ends the wait, not the logout. Fails with the error of
    /// the first logout that failed; the tokens are forgotten even so.
    func logOut() -> AnyPublisher<Void, FMRest.APIError> {
        SessionEndingPublisher(pool: self, kind: .logOut)
            .tryMap { end in if let error = end.error { throw error } }
            .mapError(FMRest.APIError.init(wrapping:))
            .eraseToAnyPublisher()
    }

    /// Publishes the number of sessions that the server may still have, when all others are closed, then finishes. From
    /// the first demand on, requests are refused with code `shutdown`. It takes at most
    /// ``DataAPI/SessionConfiguration/shutdownDeadline``.
    func shutdown() -> AnyPublisher<Int, Never> {
        SessionEndingPublisher(pool: self, kind: .shutdown)
            .map(\.left)
            .eraseToAnyPublisher()
    }

    /// Shuts down without waiting, for use in a `deinit`.
    func close() {
        end(.shutdown, nil)
    }

    enum EndingKind {
        case logOut, shutdown
    }

    /// Begins a logout or shutdown. The waiter, if any, is called when it is complete.
    func end(_ kind: EndingKind, _ waiter: SessionEndingSubscription?) {
        act { now in
            let (id, actions) =
                switch kind {
                case .logOut: machine.logOut(now: now)
                case .shutdown: machine.shutdown(now: now)
                }
            endings[id] = EndingWaiter(waiter: waiter)
            ownHold = self
            return ((), actions)
        }
        if kind == .shutdown { observer.shutDown() }
    }

    private struct EndingWaiter {
        var error: FMRest.APIError?
        let waiter: SessionEndingSubscription?
    }
}

// MARK: - Status

extension SessionPool {
    /// The current status.
    var status: DataAPI.SessionStatus {
        lock.withLock { lockedStatus() }
    }

    /// The time by the pool's clock.
    var now: NIODeadline { time.now() }

    /// Whether the host had no room at the last login, while no session can serve.
    var isShutOut: Bool {
        lock.withLock { machine.isShutOut }
    }

    /// The tokens of the open sessions, the most recently used first.
    var openTokens: [SessionToken] {
        lock.withLock {
            machine.sessions.filter(\.isOpen).sorted { $0.lastUse > $1.lastUse }.compactMap { tokens[$0.token]?.token }
        }
    }

    private func lockedStatus() -> DataAPI.SessionStatus {
        var status = machine.status
        guard let instant = machine.expiry else { return status }
        if expiry?.instant != instant { expiry = (instant, time.date(instant)) }
        status.expires = expiry?.date
        return status
    }

    /// Publishes the status at the time of subscription, then every change as far as there is demand. A slow subscriber
    /// misses intermediate values, never the latest. Never finishes. Values arrive on the thread that made the change.
    var statusPublisher: AnyPublisher<DataAPI.SessionStatus, Never> {
        Deferred { [self] in
            act { _ in
                isWatched = true
                return ((), [SessionPoolStateMachine.Action]())
            }
            return statusSubject
        }
        .eraseToAnyPublisher()
    }
}

// MARK: - From actions to side effects

extension SessionPool {
    /// The weak reference is enough: operations that must report to the pool keep it alive themselves.
    private func storedToken(under key: DataAPI.TokenStore.Key?) -> StoredToken? {
        StoredToken(configuration.tokenStore, key) { [weak self] error in self?.storeFailed(error) }
    }

    private func budgetClient(under key: DataAPI.TokenStore.Key?) -> BudgetClient? {
        BudgetClient(configuration.budget, key, member, time) { [weak self] error in self?.budgetFailed(error) }
    }

    private struct HeldSlot {
        let slot: DataAPI.SessionBudget.Slot
        let budgetClient: BudgetClient
    }

    private struct HeldToken {
        let token: SessionToken
        /// The store that holds this token, or that it would be saved in.
        let store: StoredToken?
    }

    private enum Effect {
        case grant(LeaseSubscription, SessionLease)
        case refuse(LeaseSubscription, FMRest.APIError)
        case logIn(SessionExchange<SessionToken>)
        case logOut(SessionExchange<Void>, SessionToken)
        case cancel(any Cancellable)
        case setAlarm(NIODeadline)
        case callOffAlarm(@Sendable () -> Void)
        /// With a store or a budget, waits until everything that was told to it so far is done.
        case finish(SessionEndingSubscription?, SessionEnd, after: StoredToken?, BudgetClient?)
    }

    private enum News {
        case transition(SessionTransition)
        case left([NIODeadline])
        case status
        case size(DataAPI.SessionStatus)
    }

    /// Lock, change the machine, put its actions into the outbox, unlock, empty the outbox.
    private func act<Result>(
        _ change: (NIODeadline) -> (Result, [SessionPoolStateMachine.Action])
    ) -> Result {
        let (result, hasWork) = lock.withLock {
            let (result, actions) = change(time.now())
            return (result, lockedPost(actions))
        }
        if hasWork { emptyOutbox() }
        return result
    }

    private func emptyOutbox() {
        var entry = lock.withLock { outbox.next() }
        while let current = entry {
            switch current {
            case .news(let news): tell(news)
            case .effects(let effects, _): for effect in effects { run(effect) }
            }
            entry = lock.withLock { outbox.next(after: current) }
        }
    }

    /// Returns whether the outbox has entries.
    private func lockedPost(_ actions: [SessionPoolStateMachine.Action]) -> Bool {
        if actions.isEmpty, !isWatched { return false }
        let followNews = actions.contains { action in
            switch action {
            // A waiter of one ending then finds the sessions left by other endings reported already.
            case .announce, .finish: true
            default: false
            }
        }
        let effects = actions.compactMap(lockedEffect)
        lockedReportSize()
        if isWatched, !isStatusPosted {
            isStatusPosted = true
            outbox.post(.status)
        }
        outbox.post(effects, followNews: followNews)
        return !outbox.isEmpty
    }

    private func lockedReportSize() {
        guard observer.changed != nil else { return }
        let size = (sessions: machine.sessions.count, limit: machine.limit)
        if let reportedSize, reportedSize == size { return }
        reportedSize = size
        outbox.post(.size(machine.status))
    }

    private func tell(_ news: News) {
        switch news {
        case .size(let status):
            observer.changed?(status)
        case .transition(let transition):
            observer.transition(transition)
        case .left(let instants):
            observer.left(instants)
        case .status:
            let status = lock.withLock {
                isStatusPosted = false
                return lockedStatus()
            }
            if statusSubject.value != status { statusSubject.send(status) }
        }
    }

    private func lockedEffect(_ action: SessionPoolStateMachine.Action) -> Effect? {
        switch action {
        case .announce(let announcement):
            if let transition = lockedTransition(announcement) { outbox.post(.transition(transition)) }
            return nil
        case .grant(let grant):
            return waiting.removeValue(forKey: grant.lease).map { .grant($0, lockedLease(grant)) }
        case .refuse(let id, let refusal):
            return waiting.removeValue(forKey: id).map { .refuse($0, lockedError(refusal, $0)) }
        case .load(let id):
            openings[id] = store?.load { [self] result in loaded(id, result) }
            return nil
        case .logIn(let id):
            let exchange = SessionExchange<SessionToken> { [self] in loginEnded(id, $0) }
            openings[id] = exchange
            return .logIn(exchange)
        case .cancelOpening(let id):
            return openings.removeValue(forKey: id).map { .cancel($0) }
        case .save(let epoch):
            if let held = tokens[epoch] { held.store?.save(held.token) { [self] in saved(epoch, isKept: $0) } }
            return nil
        case .drop(let epoch):
            if let held = tokens[epoch] { held.store?.drop(held.token) }
            return nil
        case .logOut(let id, let epoch):
            return tokens[epoch].map { .logOut(lockedLogOut(id), $0.token) }
        case .leave(let id, let epoch):
            guard let held = tokens[epoch] else { return nil }
            let exchange = lockedLogOut(id)
            guard let store = held.store else { return .logOut(exchange, held.token) }
            // The store may refuse the token only now.
            let isOwn = { @Sendable [self] in lock.withLock { machine.isOwn(id) } }
            store.ifUnshared(held.token, isOwn: isOwn) { [self] isUnshared in
                if isUnshared { run(.logOut(exchange, held.token)) } else { logOutEnded(id, nil) }
            }
            return nil
        case .take(let id):
            lockedTakeSlot(id)
            return nil
        case .put(let id, let epoch, let life):
            guard let held = slots[id], let token = tokens[epoch]?.token else { return nil }
            held.budgetClient.put(token, into: held.slot, life: .nanoseconds(life.nanoseconds)) { [self] isHeld in
                putEnded(id, epoch, isHeld: isHeld)
            }
            return nil
        case .empty(let id, let epoch):
            guard let held = slots[id], let token = tokens[epoch]?.token else { return nil }
            held.budgetClient.drop(token, from: held.slot) { [self] isHeld in emptied(id, isHeld: isHeld) }
            return nil
        case .give(let id, let epoch, let life):
            guard let held = slots.removeValue(forKey: id) else { return nil }
            let token = epoch.flatMap { tokens[$0]?.token }
            held.budgetClient.give(held.slot, without: token, life: life.map { .nanoseconds($0.nanoseconds) })
            return nil
        case .giveToFullHost(let id):
            if let held = slots.removeValue(forKey: id) { held.budgetClient.full(held.slot) }
            return nil
        case .giveAfterRefusal(let id):
            if let held = slots.removeValue(forKey: id) {
                held.budgetClient.refused(held.slot, loginError?.fileMakerCode)
            }
            return nil
        case .giveAfterLostLogin(let id):
            if let held = slots.removeValue(forKey: id) { held.budgetClient.left(held.slot) }
            return nil
        case .cancelLogOut(let id):
            return logOuts.removeValue(forKey: id).map { .cancel($0) }
        case .forget(let epoch):
            tokens.removeValue(forKey: epoch)
            return nil
        case .finish(let id, let left):
            guard let ending = endings.removeValue(forKey: id) else { return nil }
            if endings.isEmpty { ownHold = nil }
            let error = ending.error ?? (left > 0 ? .logOutTimedOut : nil)
            if left > 0, ending.waiter == nil, !endings.values.contains(where: { $0.waiter != nil }) {
                outbox.post(.left(machine.leftUntil))
                machine.leftUntil = []
            }
            return .finish(ending.waiter, SessionEnd(left: left, error: error), after: store, budgetClient)
        case .setAlarm(let instant):
            return .setAlarm(instant)
        case .cancelAlarm:
            defer { callOffAlarm = nil }
            return callOffAlarm.map { .callOffAlarm($0) }
        }
    }

    private func run(_ effect: Effect) {
        switch effect {
        case .grant(let subscription, let lease): subscription.grant(lease)
        case .refuse(let subscription, let error): time.deliver { subscription.refuse(error) }
        case .logIn(let exchange): exchange.start(authenticator.logIn())
        case .logOut(let exchange, let token): exchange.start(authenticator.logOut(token))
        case .cancel(let exchange): exchange.cancel()
        case .setAlarm(let instant): setAlarm(instant)
        case .callOffAlarm(let callOff): callOff()
        case .finish(let waiter, let end, after: let store, let budgetClient):
            guard let waiter else { return }
            let finish = { @Sendable [time] in time.deliver { waiter.succeed(with: end) } }
            guard store != nil || budgetClient != nil else { return finish() }
            // The program may exit as soon as the waiter is called.
            store?.afterwards(finish)
            budgetClient?.afterwards(finish)
        }
    }

    private func lockedLease(_ grant: SessionPoolStateMachine.Grant) -> SessionLease {
        guard let token = tokens[grant.token]?.token else {
            preconditionFailure(
                "A token enters the table before the machine's orders are read, and leaves by its order"
            )
        }
        return SessionLease(
            id: grant.lease,
            session: grant.session,
            epoch: grant.token,
            token: token,
            hasWorked: grant.hasWorked
        )
    }

    private func lockedError(
        _ refusal: SessionPoolStateMachine.LeaseRefusal,
        _ subscription: LeaseSubscription
    ) -> FMRest.APIError {
        let status = machine.status
        let isWaitingForSlot = machine.sessions.contains(where: \.isTakingSlot)
        switch refusal {
        case .queueIsFull:
            return .sessionQueueIsFull(machine.settings.maximumWaiting)
        case .deadlinePassed:
            return .noSessionInTime(
                configuration,
                status,
                isWaitingForSlot: isWaitingForSlot,
                lastLogin: loginError
            )
        case .callDeadlinePassed:
            return .noSessionForCall(
                within: subscription.clock?.total ?? .zero,
                status,
                isWaitingForSlot: isWaitingForSlot,
                lastLogin: lockedHostFullError
            )
        case .hostStayedFull:
            return (loginError ?? .loginWithoutToken).afterWaitingForFullHost(configuration, status)
        case .loginFailed:
            return (loginError ?? .loginWithoutToken).ofLoginThatOthersAwaited
        case .tokensRefused:
            return .tokensRefused
        case .onlySessionIsKept:
            return .onlySessionHoldsGlobals
        case .credentialsReplaced:
            return .credentialsReplaced()
        case .isShutDown:
            return .sessionsShutDown
        }
    }

    /// The host's error when it was full, as long as it still counts as full.
    private var lockedHostFullError: FMRest.APIError? { machine.hostIsFull ? loginError : nil }

    private func lockedLogOut(_ id: SessionID) -> SessionExchange<Void> {
        let exchange = SessionExchange<Void> { [self] in logOutEnded(id, $0) }
        logOuts[id] = exchange
        return exchange
    }

    private func lockedTransition(_ announcement: SessionPoolStateMachine.Announcement) -> SessionTransition? {
        switch announcement {
        case .loggedIn(let epoch): tokens[epoch].map { .loggedIn($0.token) }
        case .lost: .lost(loginError ?? .loginWithoutToken)
        case .loggedOut: .loggedOut
        case .replaced: .replaced
        }
    }
}

// MARK: - Events from outside

extension SessionPool {
    private func loaded(_ id: SessionID, _ result: Result<SessionToken?, FMRest.APIError>) {
        let jitter = jitter()
        act { now in
            openings[id] = nil
            switch result {
            case .success(let token):
                let (epoch, actions) = machine.loaded(id, found: token != nil, now: now)
                if let epoch, let token { tokens[epoch] = HeldToken(token: token, store: store) }
                return ((), actions)
            case .failure(let error):
                loginError = error
                lockedNoteEndingError(error)
                return ((), machine.loginFailed(id, .other, jitter: jitter, now: now))
            }
        }
    }

    private func saved(_ epoch: TokenEpoch, isKept: Bool) {
        if !isKept { act { now in ((), machine.storeRefused(epoch, now: now)) } }
    }

    private func storeFailed(_ error: any Error) {
        act { _ in
            machine.totals.storeFailures += 1
            return ((), [SessionPoolStateMachine.Action]())
        }
        observer.storeFailed(error)
    }

    private func lockedTakeSlot(_ id: SessionID) {
        guard let budgetClient else { return }
        // The budget keeps what it tells of the slot by, so that must not keep the pool alive.
        openings[id] = budgetClient.take({ [weak self] event in self?.slotChanged(id, event) }) { [self] result in
            slotTaken(id, result, from: budgetClient)
        }
    }

    private func slotTaken(
        _ id: SessionID,
        _ result: Result<DataAPI.SessionBudget.Slot, FMRest.APIError>,
        from budgetClient: BudgetClient
    ) {
        let jitter = jitter()
        act { now in
            openings[id] = nil
            switch result {
            case .success(let slot):
                slots[id] = HeldSlot(slot: slot, budgetClient: budgetClient)
                let token = slot.token.flatMap(SessionToken.init(stored:))
                let (epoch, actions) = machine.slotGranted(
                    id,
                    hasToken: token != nil,
                    isPrivate: slot.isPrivate,
                    waiting: slot.waiting,
                    now: now
                )
                if let epoch, let token { tokens[epoch] = HeldToken(token: token, store: nil) }
                return ((), actions)
            case .failure(let error):
                if error.underlying is CancellationError { return ((), []) }
                loginError = error
                lockedNoteEndingError(error)
                return ((), machine.loginFailed(id, .init(error), jitter: jitter, now: now))
            }
        }
    }

    private func slotChanged(_ id: SessionID, _ event: DataAPI.SessionBudget.Event) {
        act { now in
            switch event {
            case .recalled:
                return ((), machine.recalled(id, now: now))
            case .forgotten:
                return ((), machine.slotForgotten(id, now: now))
            case .lost:
                slots[id] = nil
                return ((), machine.slotLost(id, now: now))
            }
        }
    }

    private func putEnded(_ id: SessionID, _ epoch: TokenEpoch, isHeld: Bool) {
        act { now in
            if isHeld { return ((), machine.putDone(id, epoch, now: now)) }
            slots[id] = nil
            return ((), machine.putRefused(id, epoch, now: now))
        }
    }

    private func emptied(_ id: SessionID, isHeld: Bool) {
        act { now in
            if !isHeld { slots[id] = nil }
            return ((), machine.emptied(id, isHeld: isHeld, now: now))
        }
    }

    private func budgetFailed(_ error: any Error) {
        act { _ in
            machine.totals.storeFailures += 1
            return ((), [SessionPoolStateMachine.Action]())
        }
        observer.budgetFailed(error)
    }

    private func loginEnded(_ id: SessionID, _ result: Result<SessionToken, FMRest.APIError>?) {
        let jitter = jitter()
        act { now in
            openings[id] = nil
            switch result ?? .failure(.loginWithoutToken) {
            case .success(let token):
                let (epoch, actions) = machine.loginSucceeded(id, now: now)
                tokens[epoch] = HeldToken(token: token, store: store)
                return ((), actions)
            case .failure(let error):
                loginError = error
                let actions = machine.loginFailed(
                    id,
                    .init(error),
                    mayHaveOpened: error.mayHaveOpenedSession,
                    jitter: jitter,
                    now: now
                )
                return ((), actions)
            }
        }
        if case .failure(let error) = result, error.meansHostFull, isShutOut { observer.shutOut(error) }
    }

    private func logOutEnded(_ id: SessionID, _ result: Result<Void, FMRest.APIError>?) {
        let jitter = jitter()
        act { now in
            logOuts[id] = nil
            // A session whose token the server does not know has ended.
            guard case .failure(let error) = result, !error.meansTokenRefused else {
                return ((), machine.logOutFinished(id, now: now))
            }
            let left = machine.totals.sessionsLeft
            let actions = machine.logOutFailed(id, isPassing: error.isPassingForSession, jitter: jitter, now: now)
            if machine.totals.sessionsLeft > left { lockedNoteEndingError(error) }
            return ((), actions)
        }
    }

    private func lockedNoteEndingError(_ error: FMRest.APIError) {
        for ending in endings.keys where endings[ending]?.error == nil { endings[ending]?.error = error }
    }

    private func wakeUp() {
        act { now in ((), machine.wakeUp(now: now)) }
    }

    private func setAlarm(_ instant: NIODeadline) {
        let callOff = time.schedule(instant) { [weak self] in self?.wakeUp() }
        // Two threads may get here in either order; `machine.alarm` says which alarm is the current one.
        let superseded: (@Sendable () -> Void)? = lock.withLock {
            guard machine.alarm == instant else { return callOff }
            defer { callOffAlarm = callOff }
            return callOffAlarm
        }
        superseded?()
    }
}

extension SessionPool: CustomReflectable {
    /// Shows nothing: dumping a publisher would read state that another thread may be changing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
