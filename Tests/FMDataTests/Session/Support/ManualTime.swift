import Foundation
import NIOConcurrencyHelpers
import NIOCore

@testable import FMData

/// A clock that stands still until a test advances it.
final class ManualTime: Sendable {
    private struct State {
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        var lastAlarm = 0
        var alarms: [Int: (at: NIODeadline, ring: @Sendable () -> Void)] = [:]
    }

    private let state = NIOLockedValueBox(State())

    var now: NIODeadline { state.withLockedValue(\.now) }
    var alarmCount: Int { state.withLockedValue(\.alarms.count) }
    /// The times from now to the alarms, the next one first.
    var alarms: [TimeAmount] {
        state.withLockedValue { state in state.alarms.values.map { $0.at - state.now }.sorted() }
    }

    var sessionTime: SessionTime {
        SessionTime(
            now: { self.now },
            schedule: { instant, ring in
                let id = self.state.withLockedValue { state in
                    state.lastAlarm += 1
                    state.alarms[state.lastAlarm] = (instant, ring)
                    return state.lastAlarm
                }
                return { self.state.withLockedValue { _ = $0.alarms.removeValue(forKey: id) } }
            },
            date: { Self.date(of: $0) }
        )
    }

    /// The wall clock started together with the monotonic one.
    static func date(of instant: NIODeadline) -> Date {
        Date(timeIntervalSinceReferenceDate: Double(instant.uptimeNanoseconds) / 1_000_000_000)
    }

    /// Fires every alarm on the way, in order, including those that are set meanwhile.
    func advance(by amount: TimeAmount) {
        let end = now + amount
        while let ring = ringNext(until: end) { ring() }
        state.withLockedValue { $0.now = end }
    }

    private func ringNext(until end: NIODeadline) -> (@Sendable () -> Void)? {
        state.withLockedValue { state in
            let next = state.alarms.filter { $0.value.at <= end }.min { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
            guard let next else { return nil }
            state.alarms[next.key] = nil
            state.now = max(state.now, next.value.at)
            return next.value.ring
        }
    }
}
