import FMHTTP
import Foundation
import NIOCore

/// Decides about one call under a policy: failures in, actions out. Time, random numbers and the budget are passed in.
struct RetryStateMachine {
    enum Action: Hashable {
        case tryAgain(at: NIODeadline)
        case giveUp(Reason)
    }

    enum Reason: Hashable {
        /// Another attempt is unsafe or useless.
        case notRepeatable
        /// The policy excludes failures of this kind.
        case notSelected
        /// All attempts were made.
        case attempts
        /// The next attempt would begin too late for the policy or for the time limit of the whole call.
        case time
        /// The budget is used up by further attempts of other calls.
        case budget
    }

    private let policy: DataAPI.RetryPolicy
    /// The number of attempts, including the first and one that is about to begin.
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
    ///   - isRepeatable: whether the call may be sent again, apart from what the error itself says.
    ///   - chance: a random number in `0..<1`.
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
        // Checked last, so that nothing is taken from the budget for an attempt that is not made.
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

    /// The pause after this number of attempts. The policy's values may be any numbers.
    ///
    /// - Parameter asked: the pause that the server asked for. A random part is added to it, so that clients that were
    ///   asked for the same pause do not return together.
    func pause(after attempts: Int, asked: Duration?, chance: Double) -> TimeAmount {
        let first = Double(TimeAmount(clamping: firstPause).nanoseconds)
        let most = Double(TimeAmount(clamping: maximumPause).nanoseconds)
        let growth = pow(multiplier > 1 ? multiplier : 1, Double(attempts - 1))
        // `Double.minimum` (IEEE 754) returns the number if the other argument is NaN.
        let whole = Double.minimum(most, first * growth)
        let drawn = whole * Double.minimum(Double.maximum(jitter, 0), 1)
        let own = whole - drawn + drawn * chance
        guard let asked else { return .nanoseconds(Int64(own)) }
        let least = Double(TimeAmount(clamping: asked).nanoseconds)
        return .nanoseconds(Int64(max(own, least + own - (whole - drawn))))
    }
}
