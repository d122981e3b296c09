import FMHTTP
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// The session that some work holds: a locked shell around ``HeldSessionMachine``.
package final class HeldSession: Sendable {
    private struct State {
        var machine: HeldSessionMachine
        /// Ends the work that holds the session.
        var interrupt: (@Sendable (FMRest.APIError) -> Void)?
        var question: SessionExchange<Void>?
        var callOffAlarm: (@Sendable () -> Void)?
    }

    let lease: SessionLease
    private let time: SessionTime
    private let validate: @Sendable () -> AnyPublisher<Void, FMRest.APIError>
    private let state: NIOLockedValueBox<State>
    /// Holds the error once the session is lost; finishes with the work.
    private let losses = SelfGuarded(CurrentValueSubject<FMRest.APIError?, Never>(nil))

    /// - Parameter validate: asks the host for the session.
    init(
        _ lease: SessionLease,
        _ settings: HeldSessionMachine.Settings,
        time: SessionTime,
        validate: @escaping @Sendable () -> AnyPublisher<Void, FMRest.APIError>
    ) {
        self.lease = lease
        self.time = time
        self.validate = validate
        state = NIOLockedValueBox(State(machine: HeldSessionMachine(settings: settings, now: time.now())))
    }

    /// Publishes the error when the session is lost, to a subscriber that comes later at once; then finishes. Finishes
    /// without a value when the work ends.
    var loss: AnyPublisher<FMRest.APIError, Never> {
        let losses = losses.object
        return Deferred { () -> AnyPublisher<FMRest.APIError, Never> in
            // A subject that has finished publishes its value no more.
            if let error = losses.value { return Just(error).eraseToAnyPublisher() }
            return losses.compactMap { $0 }.first().eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }

    // MARK: The work

    /// Publishes what the work does, and holds the session for as long. Fails when the host is found to have lost it.
    func lent<Value>(to work: AnyPublisher<Value, FMRest.APIError>) -> AnyPublisher<Value, FMRest.APIError> {
        AnyPublisher(HeldWork(session: self, work: work))
    }

    /// - Parameter interrupt: ends the work; called when the host is found to have lost the session.
    fileprivate func began(_ interrupt: @escaping @Sendable (FMRest.APIError) -> Void) {
        state.withLockedValue { $0.interrupt = interrupt }
        act { machine, now in machine.began(now: now) }
    }

    fileprivate func ended() {
        act { machine, _ in machine.ended() }
        let question = state.withLockedValue { $0.question.take() }
        question?.cancel()
        losses.object.send(completion: .finished)
    }

    /// Makes a call in the session, when there is demand.
    func call<Value>(
        _ attempt: @escaping (SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        OnDemandPublisher { [self] in
            state.withLockedValue { $0.machine.callBegan() }
            return attempt(lease.token)
                .mapError(lease.lostSession)
                .handleEvents(
                    receiveOutput: { [self] _ in
                        let now = time.now()
                        state.withLockedValue { $0.machine.callAnswered(now: now) }
                    },
                    receiveCompletion: { [self] completion in
                        if case .failure(let error) = completion {
                            act(losing: error) { machine, now in machine.callEnded(.init(ofCall: error), now: now) }
                        } else {
                            act { machine, now in machine.callEnded(.answered, now: now) }
                        }
                    },
                    receiveCancel: { [self] in act { machine, now in machine.callEnded(.unanswered, now: now) } }
                )
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }

    // MARK: From events to actions

    /// Lock, change the machine, unlock, act.
    ///
    /// - Parameter error: the error of a session that is lost by this event.
    /// - Returns: whether the session was lost by this event.
    @discardableResult
    private func act(
        losing error: FMRest.APIError? = nil,
        _ event: (inout HeldSessionMachine, NIODeadline) -> [HeldSessionMachine.Action]
    ) -> Bool {
        let now = time.now()
        let actions = state.withLockedValue { event(&$0.machine, now) }
        for action in actions {
            switch action {
            case .setAlarm(let instant): setAlarm(instant)
            case .cancelAlarm: state.withLockedValue { $0.callOffAlarm.take() }?()
            case .validate: ask()
            case .lost: losses.object.send(error)
            }
        }
        return actions.contains(.lost)
    }

    private func ask() {
        let question = SessionExchange<Void> { [weak self] in self?.answered($0) }
        let isWanted = state.withLockedValue { state in
            if !state.machine.isOver { state.question = question }
            return !state.machine.isOver
        }
        if isWanted { question.start(validate()) }
    }

    private func answered(_ result: Result<Void, FMRest.APIError>?) {
        let question = state.withLockedValue { $0.question.take() }
        // It is released outside of the lock.
        withExtendedLifetime(question) {}
        guard case .failure(let failure) = result else {
            act { machine, now in machine.validated(.answered, now: now) }
            return
        }
        let error = lease.lostSession(failure)
        let outcome: HeldSessionMachine.Outcome = error.meansSessionIsOver ? .lost : .unanswered
        guard act(losing: error, { machine, now in machine.validated(outcome, now: now) }) else { return }
        state.withLockedValue { $0.interrupt }?(error)
        ended()
    }

    private func setAlarm(_ instant: NIODeadline) {
        let callOff = time.schedule(instant) { [weak self] in
            self?.act { machine, now in machine.wakeUp(now: now) }
        }
        // Two threads may get here in either order; `machine.alarm` says which alarm is the current one.
        let superseded: (@Sendable () -> Void)? = state.withLockedValue { state in
            guard state.machine.alarm == instant else { return callOff }
            defer { state.callOffAlarm = callOff }
            return state.callOffAlarm
        }
        superseded?()
    }
}

extension HeldSessionMachine.Outcome {
    /// What the failure of a call says of the session.
    fileprivate init(ofCall error: FMRest.APIError) {
        self = error.meansSessionIsOver ? .lost : error.provesToken ? .answered : .unanswered
    }
}

extension FMRest.APIError {
    /// Whether the session is of no use any more: the host has dropped it, or the client was shut down.
    fileprivate var meansSessionIsOver: Bool { code == .sessionLost || code == .shutdown }
}

/// See ``HeldSession/lent(to:)``.
private struct HeldWork<Output>: RelayPublisher {
    typealias Failure = FMRest.APIError

    let session: HeldSession
    let work: AnyPublisher<Output, FMRest.APIError>

    func begin(_ subscription: ColdSubscription<Self>) {
        session.began { [weak subscription] error in subscription?.interrupt(with: .failure(error)) }
        work.subscribe(subscription)
    }

    func cancelled(_ subscription: ColdSubscription<Self>) { session.ended() }

    func upstreamEnded(_ completion: Subscribers.Completion<FMRest.APIError>, _ subscription: ColdSubscription<Self>) {
        session.ended()
        subscription.finish(completion)
    }
}
