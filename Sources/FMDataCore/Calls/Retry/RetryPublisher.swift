import NIOCore
import OpenCombine

extension DataAPIRequest {
    /// Whether the request may be sent again, apart from what the error itself says.
    ///
    /// FileMaker has not carried out a request that it refuses, but a script that runs before the request may have run.
    /// That is not so when there was no room for a session.
    func isRepeatable(after error: FMRest.APIError) -> Bool {
        guard body.isReplayable else { return false }
        guard let code = error.fileMakerCode, !code.meansHostFull else { return true }
        // The script after the request may have closed the window, so the request itself may have been carried out.
        if code == .windowMissing, scripts.afterRequest != nil { return false }
        return !runsScriptFirst
    }

    /// Whether a script runs before the request's own work, or is the request's work.
    private var runsScriptFirst: Bool {
        scripts.preRequest != nil || scripts.preSort != nil || path.segments.dropFirst(4).first == "script"
    }
}

/// One attempt after the other, with pauses in between; ``RetryStateMachine`` decides when, and when to stop.
///
/// A published value ends the attempts, since the next attempt could publish other values. Demand and cancelling reach
/// what is under way, an attempt or a pause.
struct RetryPublisher<Output>: RelayPublisher {
    typealias Failure = FMRest.APIError

    let attempt: () -> AnyPublisher<Output, FMRest.APIError>
    let policy: DataAPI.RetryPolicy
    let budget: DataAPI.RetryBudget
    let time: SessionTime
    let random: @Sendable () -> Double
    /// Returns when the call as a whole has to end.
    var end: (NIODeadline) -> NIODeadline? = { _ in nil }
    var isRepeatable: (FMRest.APIError) -> Bool = { _ in true }
    var log: () -> CallLog? = { nil }

    /// The machine is used only when attempts begin and end, one after the other.
    var memory: RetryStateMachine { RetryStateMachine(policy) }

    func begin(_ subscription: ColdSubscription<Self>) {
        let now = time.now()
        budget.withBucket { subscription.memory.began(now: now, budget: &$0) }
        attempt().subscribe(subscription)
    }

    func upstreamEnded(_ completion: Subscribers.Completion<FMRest.APIError>, _ subscription: ColdSubscription<Self>) {
        guard case .failure(let error) = completion else { return subscription.finish(completion) }
        guard let hasPublished = subscription.restart() else { return }
        switch decide(error, hasPublished, &subscription.memory) {
        case .tryAgain(let instant): pause(until: instant, after: error, subscription)
        case .giveUp(let reason): subscription.finish(.failure(error.after(subscription.memory.attempts, reason)))
        }
    }

    private func decide(
        _ error: FMRest.APIError,
        _ hasPublished: Bool,
        _ machine: inout RetryStateMachine
    ) -> RetryStateMachine.Action {
        let isRepeatable = !hasPublished && isRepeatable(error)
        let chance = random()
        let now = time.now()
        let end = end(now)
        return budget.withBucket { budget in
            machine.failed(error, isRepeatable: isRepeatable, chance: chance, end: end, now: now, budget: &budget)
        }
    }

    private func pause(
        until instant: NIODeadline,
        after error: FMRest.APIError,
        _ subscription: ColdSubscription<Self>
    ) {
        log()?.willTryAgain(after: error, attempt: subscription.memory.attempts, pause: instant - time.now())
        let pause = Pause(callOff: time.schedule(instant) { Self.tryAgain(subscription) })
        // If the call was cancelled meanwhile, or the pause is over already, cancelling the timer is harmless.
        if !subscription.proceed(with: pause) { pause.cancel() }
    }

    private static func tryAgain(_ subscription: ColdSubscription<Self>) {
        subscription.unlessEnded { source, _ in source.attempt }?().subscribe(subscription)
    }
}

private struct Pause: Cancellable {
    let callOff: @Sendable () -> Void

    func cancel() { callOff() }
}

extension FMRest.APIError {
    /// The error of the last attempt, with a note about the attempts. There is no note after a single attempt, unless
    /// the time or the budget prevented another.
    fileprivate func after(_ attempts: Int, _ reason: RetryStateMachine.Reason) -> FMRest.APIError {
        let times = attempts == 1 ? "once" : "\(attempts) times"
        let note: String? =
            switch reason {
            case .notRepeatable, .notSelected, .attempts: attempts == 1 ? nil : "The call was tried \(times)."
            case .time: "The call was tried \(times): there is no time for the next attempt."
            case .budget: "The call was tried \(times): the budget of further attempts is used up."
            }
        guard let note else { return self }
        var error = self
        error.hint = [hint, note].compactMap { $0 }.joined(separator: " ")
        return error
    }
}
