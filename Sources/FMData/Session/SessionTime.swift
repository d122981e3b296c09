package import Foundation
package import NIOCore

/// The clock and the timers of sessions. Tests supply their own.
package struct SessionTime: Sendable {
    package var now: @Sendable () -> NIODeadline
    /// Calls the closure once at the given instant, on any thread. Returns a closure that cancels the timer.
    package var schedule: @Sendable (NIODeadline, @escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// The wall-clock time of an instant, computed from the clocks at the time of the call.
    package var date: @Sendable (NIODeadline) -> Date

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
    /// - Parameter wallClock: returns the current date.
    package static func running(on eventLoop: any EventLoop, wallClock: @escaping @Sendable () -> Date) -> SessionTime {
        SessionTime(
            now: { eventLoop.now },
            schedule: { instant, ring in
                let scheduled = eventLoop.scheduleTask(deadline: instant, ring)
                return { scheduled.cancel() }
            },
            date: { instant in
                wallClock().addingTimeInterval(Double((instant - eventLoop.now).nanoseconds) / 1_000_000_000)
            }
        )
    }
}
