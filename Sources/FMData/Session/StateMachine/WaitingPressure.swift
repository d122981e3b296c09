import NIOCore

/// For how long somebody has waited whom one more session would have served, since the last one came.
///
/// What counts is that there is a waiting line, not who is in it: under constant load of short calls each wish is served soon, and
/// another one takes its place. Time without a line takes off a quarter of itself, so that gaps of a moment between two calls matter
/// little, and a burst now and then, over sooner than a login would be, never adds up.
struct WaitingPressure: Equatable {
    /// How much slower it falls than it rises.
    private static let slowness: Int64 = 4

    private var waited = TimeAmount.zero
    private var since = NIODeadline.uptimeNanoseconds(0)
    private var isGrowing = false

    /// Time has passed.
    ///
    /// - Parameters:
    ///   - limit: more is not remembered: a pool that could not grow for a while owes nobody anything.
    ///   - isGrowing: whether there is a line from now on.
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

    /// When there will have been a line for so long, if there is one from the last event on.
    func reaches(_ amount: TimeAmount) -> NIODeadline { since + max(.zero, amount - waited) }
}
