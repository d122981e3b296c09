package import FMData
package import Foundation
package import OpenCombine

/// What has the status of a live query.
package protocol StatusTelling {
    var status: AnyPublisher<DataAPI.LiveStatus, Never> { get }
}

extension DataAPI.LiveQuery: StatusTelling {}
extension DataAPI.LiveChanges: StatusTelling {}
extension DataAPI.CopyChanges: StatusTelling {}

extension StatusTelling {
    /// Whether no poll is under way or due at this moment.
    package var isAtRest: Bool {
        [.waiting, .failing, .paused, .ended].contains(statusNow.kind)
    }

    /// The exact time: a poll that begins while the clock is advanced seems to take the rest of that time, and the
    /// pause after it is ten times as long.
    package func timeToNextLook(at now: Date) -> Duration {
        let status = statusNow
        guard status.kind == .waiting, let until = status.until else { return .seconds(300) }
        // A date of our days is exact to a quarter of a microsecond: two more than the rounding may have lost.
        return .microseconds(Int64(until.timeIntervalSince(now) * 1_000_000) + 2)
    }

    /// The current status.
    package var statusNow: DataAPI.LiveStatus {
        var now = DataAPI.LiveStatus(.idle)
        _ = status.first().sink { now = $0 }
        return now
    }
}
