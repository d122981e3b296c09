import FMHTTP
import NIOConcurrencyHelpers
import NIOCore

/// The time that one call may take as a whole: begins when the call asks for its session, and holds for everything that
/// follows, a second attempt with a fresh token and every further step included.
final class CallClock: Sendable {
    /// As it was set.
    let total: Duration
    private let end = NIOLockedValueBox<NIODeadline?>(nil)

    init(_ total: Duration) {
        self.total = total
    }

    /// When the call must have ended. The first to ask starts the clock.
    func deadline(from now: NIODeadline) -> NIODeadline {
        end.withLockedValue { end in
            let deadline = end ?? now + TimeAmount(clamping: total)
            end = deadline
            return deadline
        }
    }

    /// What is left of it.
    func remaining(at now: NIODeadline) -> Duration {
        .nanoseconds((deadline(from: now) - now).nanoseconds)
    }
}
