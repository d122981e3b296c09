import NIOConcurrencyHelpers
import NIOCore

extension DataAPI {
    /// What further attempts are paid from, so that calls which all fail do not multiply the load of a server that is in
    /// trouble, however many of them and of the processes that make them there are.
    ///
    /// Attempts after the first are at most a share of the calls, and a burst within a minute besides. When it is used up, calls
    /// fail with their first error. Every ``Server`` object has one of its own, for all calls that are made under a policy.
    /// Give several servers the same when they stand for one machine:
    ///
    ///     let budget = DataAPI.RetryBudget(share: 0.05)
    ///     let north = DataAPI.Server(host: "north.example.com").retrying(DataAPI.RetryPolicy(budget: budget))
    ///     let south = DataAPI.Server(host: "south.example.com").retrying(DataAPI.RetryPolicy(budget: budget))
    ///
    /// Two budgets are equal when they are the same object.
    public final class RetryBudget: Sendable {
        private let bucket: NIOLockedValueBox<RetryBucket>

        /// - Parameters:
        ///   - share: how many further attempts each call pays for. The default is 0.1: a tenth of the calls.
        ///   - burst: how many there may be besides, within a minute. The default is 10. Those who call rarely live on it.
        public init(share: Double = 0.1, burst: Int = 10) {
            bucket = NIOLockedValueBox(RetryBucket(share: share, burst: burst))
        }

        func withBucket<Result>(_ change: (inout RetryBucket) -> Result) -> Result {
            bucket.withLockedValue { change(&$0) }
        }
    }
}

extension DataAPI.RetryBudget: Hashable {
    /// Whether they are the same object.
    public static func == (left: DataAPI.RetryBudget, right: DataAPI.RetryBudget) -> Bool { left === right }

    /// By identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A token bucket: each call puts a part of a token in, a minute puts in the burst, and each further attempt takes one out.
struct RetryBucket: Equatable {
    private static let minute = TimeAmount.minutes(1)

    private let share: Double
    private let burst: Double
    private var tokens: Double
    private var filled: NIODeadline?

    init(share: Double, burst: Int) {
        self.share = share > 0 ? min(share, 1_000_000) : 0
        self.burst = Double(max(0, burst))
        tokens = self.burst
    }

    /// A call begins.
    mutating func called(now: NIODeadline) {
        fill(until: now)
        tokens = min(tokens + share, room)
    }

    /// Whether there is enough for one more attempt, which is then paid.
    mutating func pay(now: NIODeadline) -> Bool {
        fill(until: now)
        // Ten tenths are a little less than one.
        guard tokens > 1 - 1e-6 else { return false }
        tokens = max(0, tokens - 1)
        return true
    }

    /// Without a burst a whole token has to find room all the same.
    private var room: Double { max(burst, 1, share) }

    private mutating func fill(until now: NIODeadline) {
        // Servers that share a budget may differ a little in what time it is.
        if let filled, filled < now {
            let minutes = Double((now - filled).nanoseconds) / Double(Self.minute.nanoseconds)
            // Where the burst is less than one token, what calls have saved stays.
            tokens = max(tokens, min(tokens + burst * minutes, burst))
        }
        filled = filled.map { max($0, now) } ?? now
    }
}
