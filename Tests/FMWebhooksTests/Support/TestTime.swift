import FMData
import FMTestSupport
import Foundation
import NIOCore

/// A clock that stands still until a test moves it, with timers that can be waited for.
final class TestTime: Sendable {
    private struct State: Sendable {
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        var lastAlarm = 0
        var alarms: [Int: Alarm] = [:]
    }

    private struct Alarm: Sendable {
        var at: NIODeadline
        var ring: @Sendable () -> Void
    }

    private let state = Watched(State())

    var now: NIODeadline { state.value.now }

    /// The wall clock runs with the other one.
    var date: Date { Self.date(now) }

    private static func date(_ instant: NIODeadline) -> Date {
        Date(timeIntervalSinceReferenceDate: Double(instant.uptimeNanoseconds) / 1_000_000_000)
    }

    var sessionTime: SessionTime {
        SessionTime(
            now: { self.now },
            schedule: { instant, ring in
                let id = Locked(0)
                self.state.change { state in
                    state.lastAlarm += 1
                    state.alarms[state.lastAlarm] = Alarm(at: instant, ring: ring)
                    let last = state.lastAlarm
                    id.change { $0 = last }
                }
                return { self.state.change { $0.alarms[id.value] = nil } }
            },
            date: Self.date
        )
    }

    /// Returns when a timer is set for exactly this time from now.
    func untilAlarm(in amount: TimeAmount) async {
        await state.wait { state in state.alarms.values.contains { $0.at - state.now == amount } }
    }

    /// Returns when a timer is set for a later time, at most this far from now.
    func untilAlarm(within amount: TimeAmount) async {
        await state.wait { state in
            state.alarms.values.contains { $0.at > state.now && $0.at - state.now <= amount }
        }
    }

    /// Returns when no timer is set.
    func untilNoAlarm() async { await state.wait { $0.alarms.isEmpty } }

    /// Fires every timer on the way, in order.
    func advance(by amount: TimeAmount) {
        let end = now + amount
        while let alarm = nextAlarm(until: end) { alarm.ring() }
        state.change { $0.now = end }
    }

    private func nextAlarm(until end: NIODeadline) -> Alarm? {
        let next = Locked<Alarm?>(nil)
        state.change { state in
            let due = state.alarms.filter { $0.value.at <= end }
            guard let (id, alarm) = due.min(by: { ($0.value.at, $0.key) < ($1.value.at, $1.key) }) else { return }
            state.alarms[id] = nil
            state.now = max(state.now, alarm.at)
            next.change { $0 = alarm }
        }
        return next.value
    }
}
