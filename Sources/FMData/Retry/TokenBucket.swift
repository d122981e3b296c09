import NIOCore

/// A limit of a rate: tokens are added as time passes, up to the burst, and whoever wants to do something takes one.
struct TokenBucket: Equatable {
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
    init(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
        tokens = burst
    }

    /// Adds the tokens of the time since the last call. If there are more than the burst, they stay.
    mutating func fill(until now: NIODeadline) {
        // Its users may have slightly different clocks; no time counts twice.
        if let filledAt, filledAt < now {
            let seconds = Double((now - filledAt).nanoseconds) / 1e9
            tokens = max(tokens, min(tokens + seconds * perSecond, burst))
        }
        filledAt = filledAt.map { max($0, now) } ?? now
    }

    /// For a bucket with one clock, which may be set back: no tokens are added for that, and time counts from there.
    mutating func setBack(to now: NIODeadline) { filledAt = filledAt.map { min($0, now) } }

    /// Adds tokens that do not come from time, up to a number of their own.
    mutating func add(_ count: Double, upTo room: Double) { tokens = min(tokens + count, room) }

    /// Takes as many tokens as there are, at most `count`, and returns how many.
    mutating func take(atMost count: Int) -> Int {
        let taken = Int(min(Double(count), tokens + Self.tolerance))
        tokens = max(0, tokens - Double(taken))
        return taken
    }

    /// When there is a token again.
    var next: NIODeadline {
        (filledAt ?? .distantPast) + .nanoseconds(Int64(max(0, 1 - tokens) / perSecond * 1e9) + 1)
    }
}
