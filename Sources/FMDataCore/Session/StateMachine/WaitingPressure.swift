import NIOCore

/// The time that requests have waited which one more session would have served, since the last session came.
///
/// It counts whether requests wait at all, not which: under constant load of short calls each request is served soon,
/// and another one takes its place. Time without a waiting request takes a quarter of its length off the sum. So short
/// gaps between two calls matter little, and occasional bursts that end sooner than a login takes never add up.
struct WaitingPressure: Equatable {
    /// The sum falls this many times more slowly than it rises.
    private static let slowness: Int64 = 4

    private var waited = TimeAmount.zero
    private var since = NIODeadline.uptimeNanoseconds(0)
    private var isGrowing = false

    /// Adds the time since the last call.
    ///
    /// - Parameters:
    ///   - limit: the most that is remembered, so that a pool that could not grow for a while does not catch up later.
    ///   - isGrowing: whether requests wait from now on.
    mutating func pass(_ now: NIODeadline, atMost limit: TimeAmount, isGrowing: Bool) {
        // The clock may have been set back.
        let passed = max(.zero, now - since)
        waited = self.isGrowing ? waited + passed : waited - .nanoseconds(passed.nanoseconds / Self.slowness)
        waited = min(max(.zero, waited), limit)
        since = now
        self.isGrowing = isGrowing
    }

    /// A session has come.
    mutating func relieve(_ now: NIODeadline) {
        waited = .zero
        since = now
    }

    /// When the sum reaches the amount, if requests keep waiting from the last event on.
    func reaches(_ amount: TimeAmount) -> NIODeadline { since + max(.zero, amount - waited) }
}
