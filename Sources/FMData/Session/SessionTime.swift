package import Foundation
package import NIOCore

/// The time that sessions live in, and alarm clocks. Tests bring their own.
package struct SessionTime: Sendable {
    package var now: @Sendable () -> NIODeadline
    /// Calls the closure once at the given instant, on any thread; the closure that comes back calls it off.
    package var schedule: @Sendable (NIODeadline, @escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// What the wall clock will say at an instant, as far as it can be told now.
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
    /// The time of an event loop, on which alarms ring.
    ///
    /// - Parameter wallClock: what a clock on the wall shows.
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
