import NIOConcurrencyHelpers
import NIOCore
public import OpenCombine

/// For operators of pipelines that wait: `debounce(for: .milliseconds(300), scheduler: clock)`.
///
/// All that is scheduled waits for the clock to be moved, also what is due now: `receive(on: clock)` delivers with the
/// next ``advance(by:)``, of zero too.
extension TestClock: Scheduler {
    /// There are no options.
    public typealias SchedulerOptions = Never

    /// An interval has to be longer than this.
    public var minimumTolerance: Instant.Stride { .zero }

    /// Sets a timer that is due now.
    ///
    /// - Parameters:
    ///   - options: there are none.
    ///   - action: is called on the thread that moves the clock next.
    public func schedule(options: Never?, _ action: @escaping () -> Void) {
        schedule(after: now, tolerance: .zero, options: options, action)
    }

    /// Sets a timer.
    ///
    /// - Parameters:
    ///   - instant: when it is due.
    ///   - tolerance: has no effect, since the clock is exact.
    ///   - options: there are none.
    ///   - action: is called on the thread that moves the clock.
    public func schedule(
        after instant: Instant,
        tolerance: Instant.Stride,
        options: Never?,
        _ action: @escaping () -> Void
    ) {
        // It is called once, by whoever moves the clock.
        nonisolated(unsafe) let action = action
        _ = schedule(at: instant.time) { action() }
    }

    /// Sets a timer that is set again after each interval, until the returned object is cancelled or released.
    ///
    /// - Parameters:
    ///   - instant: when it is due first.
    ///   - interval: the time between two calls.
    ///   - tolerance: has no effect, since the clock is exact.
    ///   - options: there are none.
    ///   - action: is called on the thread that moves the clock.
    public func schedule(
        after instant: Instant,
        interval: Instant.Stride,
        tolerance: Instant.Stride,
        options: Never?,
        _ action: @escaping () -> Void
    ) -> any Cancellable {
        let repetition = Repetition(self, every: interval.duration, action)
        repetition.set(at: instant.time)
        return AnyCancellable { repetition.cancel() }
    }
}

extension TestClock {
    /// An action that is called after each interval.
    private final class Repetition: @unchecked Sendable {
        // @unchecked: `action` is called by whoever moves the clock, once at a time, and `cancelTimer` is in a lock.
        private let clock: TestClock
        private let interval: Duration
        private let action: () -> Void
        private let cancelTimer = NIOLockedValueBox<(@Sendable () -> Void)?>({})

        init(_ clock: TestClock, every interval: Duration, _ action: @escaping () -> Void) {
            self.clock = clock
            // Without an interval the clock could not be moved past it.
            self.interval = max(interval, .nanoseconds(1))
            self.action = action
        }

        func set(at time: Duration) {
            let cancel = clock.schedule(at: time) {
                guard self.cancelTimer.withLockedValue({ $0 != nil }) else { return }
                self.action()
                self.set(at: time + self.interval)
            }
            let isCancelled = cancelTimer.withLockedValue { cancelTimer in
                if cancelTimer != nil { cancelTimer = cancel }
                return cancelTimer == nil
            }
            if isCancelled { cancel() }
        }

        func cancel() {
            let cancel = cancelTimer.withLockedValue { cancelTimer in
                defer { cancelTimer = nil }
                return cancelTimer
            }
            cancel?()
        }
    }
}

extension TestClock.Instant: Strideable {
    /// The time from this instant to the other one.
    public func distance(to other: TestClock.Instant) -> Stride { Stride(duration(to: other)) }

    /// The instant that is so much later.
    @_disfavoredOverload
    public func advanced(by stride: Stride) -> TestClock.Instant { advanced(by: stride.duration) }

    /// A span of time, as operators take it: `.milliseconds(300)`.
    public struct Stride: SignedNumeric, Comparable, Hashable, Sendable, SchedulerTimeIntervalConvertible {
        /// The span.
        public var duration: Duration

        /// Creates a span.
        public init(_ duration: Duration) { self.duration = duration }

        /// Creates a span of nanoseconds; `nil` for a number that is too large.
        public init?(exactly nanoseconds: some BinaryInteger) {
            guard let nanoseconds = Int64(exactly: nanoseconds) else { return nil }
            self.init(.nanoseconds(nanoseconds))
        }

        /// Creates a span of nanoseconds.
        public init(integerLiteral nanoseconds: Int64) { self.init(.nanoseconds(nanoseconds)) }

        private var nanoseconds: Int64 { TimeAmount(duration).nanoseconds }

        /// The length of the span, in nanoseconds.
        public var magnitude: UInt64 { nanoseconds.magnitude }

        /// The sum.
        public static func + (left: Stride, right: Stride) -> Stride { Stride(left.duration + right.duration) }
        /// The difference.
        public static func - (left: Stride, right: Stride) -> Stride { Stride(left.duration - right.duration) }
        /// The product of nanoseconds.
        public static func * (left: Stride, right: Stride) -> Stride { Stride(left.duration * right.nanoseconds) }
        /// Multiplies by nanoseconds.
        public static func *= (left: inout Stride, right: Stride) { left = left * right }
        /// Whether the first span is the shorter one.
        public static func < (left: Stride, right: Stride) -> Bool { left.duration < right.duration }

        /// A span of seconds.
        public static func seconds(_ seconds: Int) -> Stride { Stride(.seconds(seconds)) }
        /// A span of seconds.
        public static func seconds(_ seconds: Double) -> Stride { Stride(.seconds(seconds)) }
        /// A span of milliseconds.
        public static func milliseconds(_ milliseconds: Int) -> Stride { Stride(.milliseconds(milliseconds)) }
        /// A span of microseconds.
        public static func microseconds(_ microseconds: Int) -> Stride { Stride(.microseconds(microseconds)) }
        /// A span of nanoseconds.
        public static func nanoseconds(_ nanoseconds: Int) -> Stride { Stride(.nanoseconds(nanoseconds)) }
    }
}
