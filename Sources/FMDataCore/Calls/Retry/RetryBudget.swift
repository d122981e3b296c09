import NIOConcurrencyHelpers
package import NIOCore

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

/// A limit of a rate: tokens are added as time passes, up to the burst, and whoever wants to do something takes one.
package struct TokenBucket: Equatable {
    /// Rounding may leave a token a fraction short: the sum of ten tenths is a little less than one.
    private static let tolerance = 1e-6

    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var filledAt: NIODeadline?

    /// A full bucket.
    ///
    /// - Parameters:
    ///   - burst: how many tokens time fills it up to.
    ///   - perSecond: how many tokens are added per second.
    package init(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
        tokens = burst
    }

    /// Adds the tokens of the time since the last call. If there are more than the burst, they stay.
    package mutating func fill(until now: NIODeadline) {
        // Its users may have slightly different clocks; no time counts twice.
        if let filledAt, filledAt < now {
            let seconds = Double((now - filledAt).nanoseconds) / 1e9
            tokens = max(tokens, min(tokens + seconds * perSecond, burst))
        }
        filledAt = filledAt.map { max($0, now) } ?? now
    }

    /// For a bucket with one clock, which may be set back: no tokens are added for that, and time counts from there.
    package mutating func setBack(to now: NIODeadline) { filledAt = filledAt.map { min($0, now) } }

    /// Adds tokens that do not come from time, up to a number of their own.
    mutating func add(_ count: Double, upTo room: Double) { tokens = min(tokens + count, room) }

    /// Takes as many tokens as there are, at most `count`, and returns how many.
    package mutating func take(atMost count: Int) -> Int {
        let taken = Int(min(Double(count), tokens + Self.tolerance))
        tokens = max(0, tokens - Double(taken))
        return taken
    }

    /// When there is a token again.
    package var next: NIODeadline {
        (filledAt ?? .distantPast) + .nanoseconds(Int64(max(0, 1 - tokens) / perSecond * 1e9) + 1)
    }
}
