import NIOConcurrencyHelpers
import NIOCore

extension DataAPI {
    /// Limits the number of further attempts, so that many failing calls, in any number of processes, do not multiply
    /// the load on a server in trouble.
    ///
    /// Further attempts may be a share of the calls, plus a burst per minute. When the budget is used up, calls fail
    /// with their first error. Every ``Server`` object has its own budget for all calls made under a policy. Give
    /// several servers the same budget if they run on one machine:
    ///
    ///     let budget = DataAPI.RetryBudget(share: 0.05)
    ///     let north = DataAPI.Server(host: "north.example.com").retrying(DataAPI.RetryPolicy(budget: budget))
    ///     let south = DataAPI.Server(host: "south.example.com").retrying(DataAPI.RetryPolicy(budget: budget))
    ///
    /// Two budgets are equal when they are the same object.
    public final class RetryBudget: Sendable {
        private let bucket: NIOLockedValueBox<RetryBucket>

        /// A budget with its own count.
        ///
        /// - Parameters:
        ///   - share: how many further attempts each call adds. The default is 0.1: one for every ten calls.
        ///   - burst: how many further attempts are added per minute, regardless of the number of calls. The default is
        ///     10, which is what programs with few calls use.
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

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The tokens of a budget: each call adds a part of one, a minute adds the burst, and each further attempt takes one.
struct RetryBucket: Equatable {
    private let share: Double
    /// Even without a burst there must be room for one whole token.
    private let room: Double
    private var bucket: TokenBucket

    init(share: Double, burst: Int) {
        self.share = share > 0 ? min(share, 1_000_000) : 0
        let burst = Double(max(0, burst))
        room = max(burst, 1, self.share)
        bucket = TokenBucket(burst: burst, perSecond: burst / 60)
    }

    /// A call begins.
    mutating func called(now: NIODeadline) {
        bucket.fill(until: now)
        bucket.add(share, upTo: room)
    }

    /// Takes the token of one more attempt. Returns whether there was one.
    mutating func pay(now: NIODeadline) -> Bool {
        bucket.fill(until: now)
        return bucket.take(atMost: 1) == 1
    }
}
