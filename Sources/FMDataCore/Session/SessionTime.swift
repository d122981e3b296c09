import FMHTTP
package import Foundation
import NIOConcurrencyHelpers
package import NIOCore

/// The clock, the timers and the tasks of sessions. Tests supply their own.
package struct SessionTime: Sendable {
    package var now: @Sendable () -> NIODeadline
    /// Calls the closure once at the given instant, on any thread. Returns a closure that cancels the timer.
    package var schedule: @Sendable (NIODeadline, @escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// The wall-clock time of an instant, computed from the clocks at the time of the call.
    package var date: @Sendable (NIODeadline) -> Date
    /// Starts a task. A simulation runs it on a thread of its own world.
    package var startTask: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never> = { body in
        Task { await body() }
    }
    /// Runs the closure, which may reach a subscriber, on a thread for that. The default runs it at once.
    package var deliver: @Sendable (@escaping @Sendable () -> Void) -> Void = { body in body() }

    package init(
        now: @escaping @Sendable () -> NIODeadline,
        schedule: @escaping @Sendable (NIODeadline, @escaping @Sendable () -> Void) -> @Sendable () -> Void,
        date: @escaping @Sendable (NIODeadline) -> Date
    ) {
        self.now = now
        self.schedule = schedule
        self.date = date
    }
}

extension SessionTime {
    /// The clock and the timers of an event loop.
    ///
    /// - Parameters:
    ///   - wallClock: returns the current date.
    ///   - delivery: where timers call, since a subscriber may be behind them.
    package static func running(
        on eventLoop: any EventLoop,
        wallClock: @escaping @Sendable () -> Date,
        delivery: HTTPClientConfiguration.Delivery = .eventLoop
    ) -> SessionTime {
        var time = SessionTime(
            now: { eventLoop.now },
            schedule: { instant, ring in
                let scheduled = eventLoop.scheduleTask(deadline: instant) {
                    switch delivery {
                    case .background: DeliveryThread.start(ring)
                    case .eventLoop: ring()
                    }
                }
                return { scheduled.cancel() }
            },
            date: { instant in
                wallClock().addingTimeInterval(Double((instant - eventLoop.now).nanoseconds) / 1_000_000_000)
            }
        )
        if delivery == .background { time.deliver = DeliveryThread.run }
        return time
    }
}

/// The total time of one call. It starts when the call asks for its session and covers everything that follows: a
/// second attempt with a fresh token, and every further step.
package final class CallClock: Sendable {
    /// The configured total time.
    let total: Duration
    private let end = NIOLockedValueBox<NIODeadline?>(nil)

    init(_ total: Duration) {
        self.total = total
    }

    /// The instant at which the call must have ended. The first call of this function starts the clock.
    package func deadline(from now: NIODeadline) -> NIODeadline {
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
