import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// The sessions of one database under one identity: a locked shell around ``SessionPoolStateMachine``.
///
/// Every entry has the same shape: lock, change the machine, put its orders into the outbox, unlock, empty the outbox. What
/// is done then may come back in (a subscriber that asks for the next session from inside the answer) and finds the pool
/// unlocked. See ``Outbox`` for who does what in which order.
///
/// The pool keeps itself alive while a login or logout is under way or to be repeated, so `close()` may be its owner's last word.
final class SessionPool: @unchecked Sendable {
    // `lock` guards every `var` below, which makes this class Sendable.
    private let lock = NIOLock()
    private var machine: SessionPoolStateMachine
    private var tokens: [TokenEpoch: HeldToken] = [:]
    private var waiting: [LeaseID: LeaseSubscription] = [:]
    private var openings: [SessionID: any Cancellable & Sendable] = [:]
    private var logOuts: [SessionID: any Cancellable & Sendable] = [:]
    private var endings: [EndingID: Ending] = [:]
    /// Itself as long as there are endings: between a logout that failed and its repetition nothing else holds a pool that was
    /// closed, and the alarm may be one that was set before.
    private var ownHold: SessionPool?
    /// Why the last login failed: what those who waited for it are told.
    private var loginError: FMRest.APIError?
    private var store: StoredToken?
    private var callOffAlarm: (@Sendable () -> Void)?
    /// The expiry in both times. It is worked out once, so that the wall clock's drift makes no news.
    private var expiry: (instant: NIODeadline, date: Date)?
    /// Whether anybody watches the status.
    private var isWatched = false
    /// Whether the status is in the outbox. Once is enough: it is read when it is told.
    private var isStatusPosted = false
    private var outbox = Outbox<News, Effect>()

    private let configuration: DataAPI.SessionConfiguration
    private let authenticator: SessionAuthenticator
    private let time: SessionTime
    private let jitter: @Sendable () -> Double
    let observer: SessionObserver
    private let statusSubject: CurrentValueSubject<DataAPI.SessionStatus, Never>

    typealias EndingID = SessionPoolStateMachine.EndingID

    /// - Parameters:
    ///   - storeKey: under which the session is kept in the configuration's store; without it nothing is stored.
    ///   - jitter: a number from `0..<1`, drawn anew with each call.
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
        store = storedToken(under: storeKey)
        machine.settings.hasStore = store != nil
    }
}

// MARK: - Leasing

extension SessionPool {
    enum Answer {
        case granted(SessionLease)
        case waiting(LeaseID)
        case refused(FMRest.APIError)
    }

    /// Asks for a session. A subscription that has to wait gets its answer later, possibly before this call returns.
    func request(_ purpose: LeasePurpose, _ subscription: LeaseSubscription) -> Answer {
        act { now in
            // Under the lock, since under it the account is replaced.
            if subscription.tenure?.isOver == true { return (.refused(.credentialsReplaced()), []) }
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

    /// Leaves the queue. Without effect once the wish was answered.
    func withdraw(_ id: LeaseID) {
        // The subscription leaves the table under the lock, but must not be destroyed there.
        let subscription: LeaseSubscription? = act { now in
            (waiting.removeValue(forKey: id), machine.withdraw(id, now: now))
        }
        withExtendedLifetime(subscription) {}
    }

    /// Gives a lease back. The second time it has no effect.
    func release(_ lease: SessionLease, _ outcome: SessionOutcome) {
        let jitter = outcome == .hostFull || outcome == .refused ? jitter() : 0
        act { now in
            ((), machine.release(lease.id, of: lease.session, outcome, jitter: jitter, now: now))
        }
    }
}

// MARK: - Credentials and ends

extension SessionPool {
    /// Uses a token that was opened elsewhere. With `isOwned` (a login made by the library) its session is trimmed,
    /// renewed and logged out like the others; without, it is used until the server refuses it, and only an explicit
    /// `logOut()` closes it.
    ///
    /// - Parameters:
    ///   - visit: the login that brought it.
    ///   - tenure: of the account that it is a session of.
    /// - Returns: whether it was still wanted.
    @discardableResult
    func adopt(
        _ token: SessionToken,
        isOwned: Bool,
        from visit: SessionID? = nil,
        in tenure: Tenure? = nil
    ) -> Bool {
        act { now in
            let (epoch, isWanted, actions) = machine.adopt(
                isOwned: isOwned,
                from: visit,
                isOutOfDate: tenure?.isOver == true,
                now: now
            )
            tokens[epoch] = HeldToken(token: token, store: store)
            return (isWanted, actions)
        }
    }

    /// Somebody makes a login of his own; he starts the exchange. `nil` after a shutdown.
    func beginVisit(_ visitor: VisitSubscription) -> (SessionID, SessionExchange<SessionToken>)? {
        act { now in
            let (id, actions) = machine.visit(now: now)
            let visit = id.map { id in
                let exchange = SessionExchange<SessionToken> { [self] result in
                    _ = lock.withLock { openings.removeValue(forKey: id) }
                    visitor.loginEnded(id, result ?? .failure(.loginWithoutToken))
                }
                openings[id] = VisitorsLogin(exchange: exchange, visitor: visitor)
                return (id, exchange)
            }
            return (visit, actions)
        }
    }

    /// A visitor's login, which the pool may give up in a shutdown: then he hears of that.
    private struct VisitorsLogin: Cancellable, Sendable {
        let exchange: SessionExchange<SessionToken>
        let visitor: VisitSubscription

        func cancel() {
            exchange.cancel()
            visitor.finish(.failure(.sessionsShutDown))
        }
    }

    /// He does not want the session any more.
    func abandonVisit(_ id: SessionID) {
        act { now in ((), machine.abandonVisit(id, now: now)) }
    }

    /// There is none.
    func visitFailed(_ id: SessionID) {
        act { now in
            openings[id] = nil
            return ((), machine.visitFailed(id, now: now))
        }
    }

    /// Gives requests the session of this token alone from now on, as long as it lives: it holds what the others do not.
    func confine(to token: SessionToken) {
        act { now in
            guard let epoch = tokens.first(where: { $0.value.token == token })?.key else { return ((), []) }
            return ((), machine.confine(to: epoch, now: now))
        }
    }

    /// The authenticator will use other credentials from now on. Sessions of the old ones end when their requests do;
    /// who waits gets a session of the new ones, unless these are another account's.
    ///
    /// - Parameter replace: puts the new credentials in their place. Called with the lock held, so that no session is
    ///   opened or given to somebody in between.
    @discardableResult
    func credentialsChanged(
        storeKey: DataAPI.TokenStore.Key? = nil,
        _ replace: () -> SessionIdentity.Replacement
    ) -> SessionIdentity.Replacement {
        let store = storedToken(under: storeKey)
        return act { now in
            let replacement = replace()
            // What is opened from now on belongs to the new store; what is open knows its own.
            self.store = store
            let actions = machine.credentialsReplaced(
                hasStore: store != nil,
                isAnother: replacement.ended != nil,
                now: now
            )
            return (replacement, actions)
        }
    }

    /// Publishes one value when every session that is open now has been logged out, then finishes. Requests that were
    /// there first are served first. Nothing happens before demand; cancelling stops waiting, not the logout. Fails with
    /// the error of a logout that the server did not take; the tokens are forgotten all the same.
    func logOut() -> AnyPublisher<Void, FMRest.APIError> {
        SessionEndingPublisher(pool: self, kind: .logOut)
            .tryMap { end in if let error = end.error { throw error } }
            .mapError(FMRest.APIError.init(wrapping:))
            .eraseToAnyPublisher()
    }

    /// Publishes how many sessions the server may still have, when all others are closed, then finishes. From the first
    /// demand on requests are refused with code `shutdown`. It takes
    /// ``DataAPI/SessionConfiguration/shutdownDeadline`` at most.
    func shutdown() -> AnyPublisher<Int, Never> {
        SessionEndingPublisher(pool: self, kind: .shutdown)
            .map(\.left)
            .eraseToAnyPublisher()
    }

    /// Shuts down without waiting: for a `deinit`.
    func close() {
        end(.shutdown, nil)
    }

    enum EndingKind {
        case logOut, shutdown
    }

    /// Begins an end; the waiter hears when it is reached.
    func end(_ kind: EndingKind, _ waiter: SessionEndingSubscription?) {
        act { now in
            let (id, actions) =
                switch kind {
                case .logOut: machine.logOut(now: now)
                case .shutdown: machine.shutdown(now: now)
                }
            endings[id] = Ending(waiter: waiter)
            ownHold = self
            return ((), actions)
        }
        if kind == .shutdown { observer.shutDown() }
    }

    private struct Ending {
        var error: FMRest.APIError?
        let waiter: SessionEndingSubscription?
    }
}

// MARK: - Status

extension SessionPool {
    /// What the sessions are doing at this moment.
    var status: DataAPI.SessionStatus {
        lock.withLock { lockedStatus() }
    }

    /// The tokens of the open sessions, the one that was used last first.
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

    /// The status at the time of subscription, then every change as far as the subscriber asks; what it is too slow for
    /// is left out, the latest is not. Finishes never. Values arrive where the change was made.
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

// MARK: - From orders to effects

extension SessionPool {
    /// What it keeps is let go with the pool: operations that are under way keep the pool alive.
    private func storedToken(under key: DataAPI.TokenStore.Key?) -> StoredToken? {
        StoredToken(configuration.tokenStore, key) { [weak self] error in self?.storeFailed(error) }
    }

    private struct HeldToken {
        let token: SessionToken
        /// The store that this token is in, or would be put in.
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
        /// With a store: when everything that was saved or dropped so far is in it.
        case finish(SessionEndingSubscription?, SessionEnd, after: StoredToken?)
    }

    private enum News {
        case transition(SessionTransition)
        case left([NIODeadline])
        case status
    }

    /// Lock, change, put the orders into the outbox, unlock, empty it.
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

    /// Returns whether there is anything to do.
    private func lockedPost(_ actions: [SessionPoolStateMachine.Action]) -> Bool {
        if actions.isEmpty, !isWatched { return false }
        let followNews = actions.contains { action in
            switch action {
            // Whoever waits for an end then finds told what other ends have left.
            case .announce, .finish: true
            default: false
            }
        }
        let effects = actions.compactMap(lockedEffect)
        if isWatched, !isStatusPosted {
            isStatusPosted = true
            outbox.post(.status)
        }
        outbox.post(effects, followNews: followNews)
        return !outbox.isEmpty
    }

    private func tell(_ news: News) {
        switch news {
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
            store.ifReplaced(held.token) { [self] isReplaced in
                // That the store does not keep it may have come out only now.
                let isOwn = lock.withLock { machine.isOwn(id) }
                if isReplaced || isOwn { run(.logOut(exchange, held.token)) } else { logOutEnded(id, nil) }
            }
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
            return .finish(ending.waiter, SessionEnd(left: left, error: error), after: store)
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
        case .refuse(let subscription, let error): subscription.refuse(error)
        case .logIn(let exchange): exchange.start(authenticator.logIn())
        case .logOut(let exchange, let token): exchange.start(authenticator.logOut(token))
        case .cancel(let exchange): exchange.cancel()
        case .setAlarm(let instant): setAlarm(instant)
        case .callOffAlarm(let callOff): callOff()
        case .finish(let waiter, let end, after: nil): waiter?.succeed(with: end)
        case .finish(let waiter, let end, after: let store?):
            // A program may exit as soon as it hears of the end.
            store.afterwards { waiter?.succeed(with: end) }
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
        _ refusal: SessionPoolStateMachine.Refusal,
        _ subscription: LeaseSubscription
    ) -> FMRest.APIError {
        let status = machine.status
        switch refusal {
        case .queueIsFull:
            return .sessionQueueIsFull(machine.settings.maximumWaiting)
        case .deadlinePassed:
            return .noSessionInTime(configuration, status, lastLogin: loginError)
        case .callDeadlinePassed:
            return .noSessionForCall(
                within: subscription.clock?.total ?? .zero,
                status,
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

    /// What the host said when it had no room, as far as that still holds.
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
                return ((), machine.loginFailed(id, .init(error), jitter: jitter, now: now))
            }
        }
    }

    private func logOutEnded(_ id: SessionID, _ result: Result<Void, FMRest.APIError>?) {
        let jitter = jitter()
        act { now in
            logOuts[id] = nil
            // A token that the server does not know is logged out.
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
        // Two threads may come here in either order; the machine knows which alarm it counts on.
        let superseded: (@Sendable () -> Void)? = lock.withLock {
            guard machine.alarm == instant else { return callOff }
            defer { callOffAlarm = callOff }
            return callOffAlarm
        }
        superseded?()
    }
}

extension SessionPool: CustomReflectable {
    /// Shows nothing: a dump of a publisher would read what is changed at that moment.
    var customMirror: Mirror { Mirror(self, children: []) }
}
