import NIOConcurrencyHelpers
import OpenCombine

extension SessionPool {
    /// Runs one request with a session of this pool, and once more with a fresh token if the server refuses the first.
    ///
    /// Publishes what `attempt` publishes, as far as the subscriber asks. On the first demand a session is leased,
    /// after a login if need be, and `attempt` is called with the lease; completion, failure and cancelling give the
    /// session back. If the server does not know the token (``FMRest/APIError/meansTokenRefused``) and nothing was
    /// delivered yet, `attempt` is called once more with a token that came later, by the one login that all who are in
    /// the same position share. A second refusal is the error.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether the request may be sent again although the server may have carried it out. The session
    ///     is then also renewed under a request that found it broken (112); other requests end with that error.
    ///   - isReplayable: whether the request can be sent again at all. One that cannot ends with the refusal.
    ///   - clock: how long it may wait for its sessions, the second one included; `nil` for as long as the pool says.
    ///   - attempt: one exchange with the lease's token; called at most twice, on the thread that brought the session.
    func authorized<Value>(
        isRepeatable: Bool = false,
        isReplayable: Bool = true,
        clock: CallClock? = nil,
        _ attempt: @escaping (SessionLease) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AuthorizedPublisher<Value> {
        AuthorizedPublisher(
            pool: self,
            policy: .request(isRepeatable: isRepeatable, isReplayable: isReplayable),
            clock: clock,
            attempt: attempt
        )
    }

    /// Runs work that is bound to one session: global fields that are set in it are seen by its finds and scripts, and
    /// by nobody else.
    ///
    /// Publishes what `work` publishes. The session is leased for as long as that takes, and logged out afterwards,
    /// since its globals are nobody else's. A lost session is not replaced: requests inside `work` use the lease that it
    /// is given and fail with code `sessionLost` (they map their errors by ``SessionLease/lostSession(_:)``).
    ///
    /// - Parameter clock: how long it may wait for the session; `nil` for as long as the pool says.
    func pinned<Value>(
        clock: CallClock? = nil,
        _ work: @escaping (SessionLease) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AuthorizedPublisher<Value> {
        AuthorizedPublisher(pool: self, policy: .pinned, clock: clock, attempt: work)
    }
}

extension SessionLease {
    /// What an error means to work that is pinned to this session: a refused token is the end of the session, and of
    /// its global fields.
    func lostSession(_ error: FMRest.APIError) -> FMRest.APIError {
        guard error.code != .sessionLost, error.meansTokenRefused || error.meansSessionBroken(self) else {
            return error
        }
        return FMRest.APIError(
            .sessionLost,
            reason: "The pinned session ended on the server, and its global fields with it.",
            hint: "The work has to start over, with its globals.",
            fileMakerCode: error.fileMakerCode,
            messages: error.messages,
            httpStatus: error.httpStatus,
            contentType: error.contentType,
            request: error.request,
            underlying: error
        )
    }
}

/// See ``SessionPool/authorized(isRepeatable:isReplayable:clock:_:)`` and ``SessionPool/pinned(clock:_:)``.
struct AuthorizedPublisher<Value>: Publisher {
    typealias Output = Value
    typealias Failure = FMRest.APIError

    enum Policy {
        case request(isRepeatable: Bool, isReplayable: Bool)
        case pinned
    }

    let pool: SessionPool
    let policy: Policy
    let clock: CallClock?
    let attempt: (SessionLease) -> AnyPublisher<Value, FMRest.APIError>

    func receive<Downstream: Subscriber<Value, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(
            subscription: Inner(pool: pool, policy: policy, clock: clock, attempt: attempt, downstream: subscriber)
        )
    }
}

/// Outside of the generic class, since it is the same for all of them: the compiler then knows its layout.
private enum AuthorizedState {
    /// → leasing, with the first demand.
    case ready
    /// → running (a lease came), terminal (it was refused).
    case leasing(LeaseTicket, isReplay: Bool)
    /// → leasing (the token was refused), terminal.
    case running(Run)
    /// Finished, failed or cancelled.
    case terminal

    struct Run {
        let lease: SessionLease
        let isReplay: Bool
        var upstream: (any Subscription)?
        var hasDelivered = false
    }
}

extension AuthorizedPublisher {
    private final class Inner<Downstream: Subscriber<Value, FMRest.APIError>>: Subscription, Subscriber, LeaseHolder,
        @unchecked Sendable
    {
        typealias Input = Value
        typealias Failure = FMRest.APIError

        private typealias State = AuthorizedState
        private typealias Run = AuthorizedState.Run

        // `lock` guards every `var` below, which makes this class Sendable.
        private let lock = NIOLock()
        private let pool: SessionPool
        private let policy: Policy
        private let clock: CallClock?
        /// `nil` at the end, with `downstream`: what the caller captured is let go.
        private var attempt: ((SessionLease) -> AnyPublisher<Value, FMRest.APIError>)?
        private var downstream: Downstream?
        private var state = State.ready
        /// What was asked for before the attempt's publisher could be asked, and what a replay asks for again.
        private var demand = Subscribers.Demand.none

        init(
            pool: SessionPool,
            policy: Policy,
            clock: CallClock?,
            attempt: @escaping (SessionLease) -> AnyPublisher<Value, FMRest.APIError>,
            downstream: Downstream
        ) {
            self.pool = pool
            self.policy = policy
            self.clock = clock
            self.attempt = attempt
            self.downstream = downstream
        }

        // MARK: From downstream

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            let (ticket, upstream): (LeaseTicket?, (any Subscription)?) = lock.withLock {
                self.demand += demand
                switch state {
                case .ready:
                    return (lockedTicket(isReplay: false), nil)
                case .running(let run):
                    return (nil, run.upstream)
                case .leasing, .terminal:
                    return (nil, nil)
                }
            }
            ticket?.ask()
            upstream?.request(demand)
        }

        func cancel() {
            let (last, remains) = lock.withLock { lockedTerminate() }
            switch last {
            case .ready, .terminal:
                break
            case .leasing(let ticket, _):
                ticket.cancel()
            case .running(let run):
                run.upstream?.cancel()
                // Whoever wants one value cancels as soon as he has it: the server took the token all the same.
                pool.release(run.lease, policy.isPinned ? .retired : run.hasDelivered ? .used : .unused)
            }
            // Destroyed here, outside of the lock.
            withExtendedLifetime(remains) {}
        }

        // MARK: From the pool

        func receive(_ lease: SessionLease) {
            let attempt: ((SessionLease) -> AnyPublisher<Value, FMRest.APIError>)? = lock.withLock {
                guard case .leasing(_, let isReplay) = state else { return nil }
                state = .running(Run(lease: lease, isReplay: isReplay))
                return self.attempt
            }
            guard let attempt else { return pool.release(lease, .unused) }
            attempt(lease).subscribe(self)
        }

        func refuse(_ error: FMRest.APIError) {
            let (_, remains) = lock.withLock { lockedTerminate() }
            remains.downstream?.receive(completion: .failure(error))
        }

        // MARK: From the attempt

        func receive(subscription: any Subscription) {
            let demand: Subscribers.Demand? = lock.withLock {
                guard case .running(var run) = state, run.upstream == nil else { return nil }
                run.upstream = subscription
                state = .running(run)
                return self.demand
            }
            if let demand { subscription.request(demand) } else { subscription.cancel() }
        }

        func receive(_ input: Value) -> Subscribers.Demand {
            let downstream: Downstream? = lock.withLock {
                guard case .running(var run) = state else { return nil }
                if !run.hasDelivered {
                    run.hasDelivered = true
                    state = .running(run)
                }
                return self.downstream
            }
            return downstream?.receive(input) ?? .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            switch completion {
            case .finished:
                finish(.finished) { _ in policy.isPinned ? .retired : .used }
            case .failure(let error):
                fail(error)
            }
        }

        private func fail(_ error: FMRest.APIError) {
            let replay: (LeaseTicket, SessionLease)? = lock.withLock {
                guard case .running(let run) = state, !run.isReplay, !run.hasDelivered,
                    policy.replays(error, of: run.lease)
                else { return nil }
                return (lockedTicket(isReplay: true), run.lease)
            }
            if let (ticket, lease) = replay {
                pool.observer.repeats(error)
                pool.release(lease, policy.outcome(of: error, lease))
                ticket.ask()
                return
            }
            let reported = lock.withLock {
                guard case .running(let run) = state, run.isReplay, !run.lease.hasWorked,
                    error.fileMakerCode?.meansSessionLost == true
                else { return error }
                return error.ofFreshToken
            }
            finish(.failure(reported)) { policy.outcome(of: error, $0) }
        }

        /// Gives the session back before it tells: who hears of the end may want the next session at once.
        private func finish(
            _ completion: Subscribers.Completion<FMRest.APIError>,
            outcome: (SessionLease) -> SessionOutcome
        ) {
            let (last, remains) = lock.withLock { lockedTerminate() }
            guard case .running(let run) = last else { return }
            pool.release(run.lease, outcome(run.lease))
            remains.downstream?.receive(completion: completion)
        }

        private func lockedTicket(isReplay: Bool) -> LeaseTicket {
            let purpose = isReplay ? .replay : policy.purpose
            let ticket = LeaseTicket(pool: pool, purpose: purpose, clock: clock, holder: self)
            state = .leasing(ticket, isReplay: isReplay)
            return ticket
        }

        private struct Remains {
            let downstream: Downstream?
            let attempt: ((SessionLease) -> AnyPublisher<Value, FMRest.APIError>)?
        }

        private func lockedTerminate() -> (last: State, remains: Remains) {
            defer {
                state = .terminal
                downstream = nil
                attempt = nil
            }
            return (state, Remains(downstream: downstream, attempt: attempt))
        }
    }
}

extension AuthorizedPublisher.Policy {
    fileprivate var isPinned: Bool {
        switch self {
        case .pinned: true
        case .request: false
        }
    }

    fileprivate var purpose: LeasePurpose {
        isPinned ? .pinned : .request
    }

    fileprivate func replays(_ error: FMRest.APIError, of lease: SessionLease) -> Bool {
        switch self {
        case .pinned: false
        case .request(let isRepeatable, let isReplayable):
            isReplayable && (error.meansTokenRefused || isRepeatable && error.meansSessionBroken(lease))
        }
    }

    fileprivate func outcome(of error: FMRest.APIError, _ lease: SessionLease) -> SessionOutcome {
        // Whatever happened in pinned work, perhaps with another database, its session ends by a logout.
        if isPinned { return .retired }
        if error.meansTokenRefused { return .refused }
        if error.meansSessionBroken(lease) { return .broken }
        if error.meansHostFull { return .hostFull }
        return error.provesToken ? .used : .unused
    }
}
