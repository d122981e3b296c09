import Foundation
import NIOCore

/// The time a pool lives in, and its one alarm clock. Tests bring their own.
struct SessionTime: Sendable {
    var now: @Sendable () -> NIODeadline
    /// Calls the closure once at the given instant, on any thread; the closure that comes back calls it off.
    var schedule: @Sendable (NIODeadline, @escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// What the wall clock will say at an instant, as far as it can be told now.
    var date: @Sendable (NIODeadline) -> Date
}

extension SessionTime {
    /// The real time, with alarms that ring on an event loop.
    static func running(on eventLoop: any EventLoop) -> SessionTime {
        SessionTime(
            now: { .now() },
            schedule: { instant, ring in
                let scheduled = eventLoop.scheduleTask(deadline: instant, ring)
                return { scheduled.cancel() }
            },
            date: { instant in
                Date(timeIntervalSinceNow: Double((instant - .now()).nanoseconds) / 1_000_000_000)
            }
        )
    }
}
