import FMHTTP
import Foundation
import NIOCore

/// What becomes of one call that fails under a policy: failures in, orders out. Time, chance and the budget are given to it.
struct RetryStateMachine {
    enum Action: Hashable {
        case tryAgain(at: NIODeadline)
        case giveUp(Reason)
    }

    enum Reason: Hashable {
        /// It would not be safe, or be of no use.
        case notRepeatable
        /// The policy leaves out failures of this kind.
        case notSelected
        /// All attempts were made.
        case attempts
        /// The next one would begin too late, by the policy or by the limit of the whole call.
        case time
        /// Too many other calls were tried again.
        case budget
    }

    private let policy: DataAPI.RetryPolicy
    /// Those that were ordered, the first one included.
    private(set) var attempts = 0
    private var began: NIODeadline?

    init(_ policy: DataAPI.RetryPolicy) {
        self.policy = policy
    }

    /// The call begins, with its first attempt.
    mutating func began(now: NIODeadline, budget: inout RetryBucket) {
        attempts = 1
        began = now
        budget.called(now: now)
    }

    /// An attempt failed.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether the call may be sent again, as far as the error itself does not say.
    ///   - chance: a number from `0..<1`.
    ///   - end: when the call as a whole has to end.
    mutating func failed(
        _ error: FMRest.APIError,
        isRepeatable: Bool,
        chance: Double,
        end: NIODeadline?,
        now: NIODeadline,
        budget: inout RetryBucket
    ) -> Action {
        guard isRepeatable, error.isRetryable, !error.outcomeIsUnknown else { return .giveUp(.notRepeatable) }
        guard policy.selects(error) else { return .giveUp(.notSelected) }
        guard attempts < policy.maximumAttempts else { return .giveUp(.attempts) }
        let next = now + policy.pause(after: attempts, asked: error.retryAfter, chance: chance)
        let last = policy.deadline.map { (began ?? now) + TimeAmount(clamping: $0) }
        guard next <= last ?? next, next < end ?? .distantFuture else { return .giveUp(.time) }
        // Last, so that nothing is paid for what does not happen.
        guard budget.pay(now: now) else { return .giveUp(.budget) }
        attempts += 1
        return .tryAgain(at: next)
    }
}

extension DataAPI.RetryPolicy {
    fileprivate func selects(_ error: FMRest.APIError) -> Bool {
        guard codes?.contains(error.code) ?? true else { return false }
        guard let code = error.fileMakerCode else { return true }
        return fileMakerCodes?.contains(code) ?? true
    }

    /// The pause after so many attempts. What a user has set may be any number.
    ///
    /// - Parameter asked: for how long the server wants to be left alone. Clients that were asked for the same do not come back
    ///   together either.
    func pause(after attempts: Int, asked: Duration?, chance: Double) -> TimeAmount {
        let first = Double(TimeAmount(clamping: firstPause).nanoseconds)
        let most = Double(TimeAmount(clamping: maximumPause).nanoseconds)
        let growth = pow(multiplier > 1 ? multiplier : 1, Double(attempts - 1))
        // These of IEEE 754 answer with the number when the other is none.
        let whole = Double.minimum(most, first * growth)
        let drawn = whole * Double.minimum(Double.maximum(jitter, 0), 1)
        let own = whole - drawn + drawn * chance
        guard let asked else { return .nanoseconds(Int64(own)) }
        let least = Double(TimeAmount(clamping: asked).nanoseconds)
        return .nanoseconds(Int64(max(own, least + own - (whole - drawn))))
    }
}
