package import FMData
package import Foundation
package import NIOCore

extension TestClock {
    /// The instant of the client's clock at which this one was created. Not zero: a client may look at times before.
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    /// The clock as a client sees it.
    package var sessionTime: SessionTime {
        SessionTime(
            now: { self.deadline },
            schedule: { instant, fire in self.schedule(at: Self.time(of: instant), fire) },
            date: { self.date(of: $0) }
        )
    }

    /// The present instant.
    package var deadline: NIODeadline { Self.start + TimeAmount(state.value.now) }

    /// The date of an instant.
    package func date(of instant: NIODeadline) -> Date { date(at: Self.time(of: instant)) }

    private static func time(of instant: NIODeadline) -> Duration { .nanoseconds((instant - start).nanoseconds) }
}
