import FMHTTP
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// The session that some work holds: a locked shell around ``HeldSessionMachine``.
final class HeldSession: @unchecked Sendable {
    // @unchecked: `lock` guards every `var`; the subject synchronizes itself.

    /// Work that holds a session, and ends when the host is found to have lost it.
    protocol Holder: AnyObject, Sendable {
        func sessionLost(_ error: FMRest.APIError)
    }

    let lease: SessionLease
    private let time: SessionTime
    private let validate: @Sendable () -> AnyPublisher<Void, FMRest.APIError>
    private let lock = NIOLock()
    private var machine: HeldSessionMachine
    private weak var holder: (any Holder)?
    private var question: SessionExchange<Void>?
    private var callOffAlarm: (@Sendable () -> Void)?
    /// Holds the error once the session is lost; finishes with the work.
    private let losses = CurrentValueSubject<FMRest.APIError?, Never>(nil)

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
        machine = HeldSessionMachine(settings: settings, now: time.now())
    }

    /// Publishes the error when the session is lost, to a subscriber that comes later at once; then finishes. Finishes
    /// without a value when the work ends.
    var loss: AnyPublisher<FMRest.APIError, Never> { losses.compactMap { $0 }.first().eraseToAnyPublisher() }

    // MARK: The work

    /// Publishes what the work does, and holds the session for as long. Fails when the host is found to have lost it.
    func lent<Value>(to work: AnyPublisher<Value, FMRest.APIError>) -> AnyPublisher<Value, FMRest.APIError> {
        AnyPublisher(HeldWork(session: self, work: work))
    }

    fileprivate func began(by holder: any Holder) {
        lock.withLock { self.holder = holder }
        act { machine.began(now: $0) }
    }

    fileprivate func ended() {
        act { _ in machine.ended() }
        let question = lock.withLock { self.question.take() }
        question?.cancel()
        losses.send(completion: .finished)
    }

    /// Makes a call in the session, when there is demand.
    func call<Value>(
        _ attempt: @escaping (SessionToken) -> AnyPublisher<Value, FMRest.APIError>
    ) -> AnyPublisher<Value, FMRest.APIError> {
        OnDemandPublisher { [self] in
            lock.withLock { machine.callBegan() }
            return attempt(lease.token)
                .mapError(lease.lostSession)
                .handleEvents(
                    receiveOutput: { [self] _ in
                        let now = time.now()
                        lock.withLock { machine.callAnswered(now: now) }
                    },
                    receiveCompletion: { [self] completion in
                        if case .failure(let error) = completion {
                            act(losing: error) { machine.callEnded(.init(ofCall: error), now: $0) }
                        } else {
                            act { machine.callEnded(.answered, now: $0) }
                        }
                    },
                    receiveCancel: { [self] in act { machine.callEnded(.unanswered, now: $0) } }
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
        _ event: (NIODeadline) -> [HeldSessionMachine.Action]
    ) -> Bool {
        let now = time.now()
        let actions = lock.withLock { event(now) }
        for action in actions {
            switch action {
            case .setAlarm(let instant): setAlarm(instant)
            case .cancelAlarm: lock.withLock { callOffAlarm.take() }?()
            case .validate: ask()
            case .lost: losses.send(error)
            }
        }
        return actions.contains(.lost)
    }

    private func ask() {
        let question = SessionExchange<Void> { [weak self] in self?.answered($0) }
        let isWanted = lock.withLock {
            if !machine.isOver { self.question = question }
            return !machine.isOver
        }
        if isWanted { question.start(validate()) }
    }

    private func answered(_ result: Result<Void, FMRest.APIError>?) {
        lock.withLock { question = nil }
        guard case .failure(let failure) = result else {
            act { machine.validated(.answered, now: $0) }
            return
        }
        let error = lease.lostSession(failure)
        let outcome: HeldSessionMachine.Outcome = error.meansSessionIsOver ? .lost : .unanswered
        let isLost = act(losing: error) { machine.validated(outcome, now: $0) }
        if isLost { lock.withLock { holder }?.sessionLost(error) }
    }

    private func setAlarm(_ instant: NIODeadline) {
        let callOff = time.schedule(instant) { [weak self] in self?.act { self?.machine.wakeUp(now: $0) ?? [] } }
        // Two threads may get here in either order; `machine.alarm` says which alarm is the current one.
        let superseded: (@Sendable () -> Void)? = lock.withLock {
            guard machine.alarm == instant else { return callOff }
            defer { callOffAlarm = callOff }
            return callOffAlarm
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
private struct HeldWork<Output>: Publisher {
    typealias Failure = FMRest.APIError

    let session: HeldSession
    let work: AnyPublisher<Output, FMRest.APIError>

    func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    private final class Inner: RelaySubscription<HeldWork>, Subscriber, HeldSession.Holder, @unchecked Sendable {
        // @unchecked: as the superclass, to which it adds a constant.
        typealias Input = Output
        typealias Failure = FMRest.APIError

        private let session: HeldSession

        override init(_ source: HeldWork, downstream: Downstream) {
            session = source.session
            super.init(source, downstream: downstream)
        }

        override func begin(_ source: HeldWork) {
            session.began(by: self)
            source.work.subscribe(self)
        }

        override func cancelled() { session.ended() }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            session.ended()
            finish(completion)
        }

        func sessionLost(_ error: FMRest.APIError) {
            interrupt(with: .failure(error))
            session.ended()
        }
    }
}
