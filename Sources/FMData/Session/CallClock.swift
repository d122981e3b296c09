import FMHTTP
import NIOConcurrencyHelpers
import NIOCore

/// The total time of one call. It starts when the call asks for its session and covers everything that follows: a
/// second attempt with a fresh token, and every further step.
final class CallClock: Sendable {
    /// The configured total time.
    let total: Duration
    private let end = NIOLockedValueBox<NIODeadline?>(nil)

    init(_ total: Duration) {
        self.total = total
    }

    /// The instant at which the call must have ended. The first call of this function starts the clock.
    func deadline(from now: NIODeadline) -> NIODeadline {
        end.withLockedValue { end in
            let deadline = end ?? now + TimeAmount(clamping: total)
            end = deadline
            return deadline
        }
    }

    /// The time left; zero or less when the call's time is over.
    func remaining(at now: NIODeadline) -> Duration {
        .nanoseconds((deadline(from: now) - now).nanoseconds)
    }
}
