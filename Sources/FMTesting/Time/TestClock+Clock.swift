/// For code that is given a clock: `clock.sleep(for: .seconds(5))` ends when a test has moved the clock that far.
extension TestClock: Clock {
    /// A span of time.
    public typealias Duration = Swift.Duration

    /// A point in time of one clock; those of two clocks cannot be compared.
    public struct Instant: InstantProtocol {
        /// The time since the clock was created.
        let time: Duration

        /// The instant that is so much later.
        public func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }

        /// The time from this instant to the other one.
        public func duration(to other: Instant) -> Duration { other.time - time }

        /// Whether the first instant is the earlier one.
        public static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
    }

    /// The present instant.
    public var now: Instant { Instant(time: state.value.now) }

    /// A clock that stands still measures any time exactly.
    public var minimumResolution: Duration { .zero }

    /// Returns when the clock has been moved to the instant, which is one of the ``timers`` until then.
    ///
    /// - Parameters:
    ///   - instant: when it ends.
    ///   - tolerance: has no effect.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until instant: Instant, tolerance: Duration? = nil) async throws {
        let cancel = schedule(at: instant.time) {}
        await state.wait { $0.now >= instant.time }
        cancel()
        try Task.checkCancellation()
    }
}
