public import Foundation
import NIOConcurrencyHelpers

/// The sandbox's time. It decides session expiry, latency, waiting scripts, auto-entered dates and `//` in finds.
public protocol SandboxClock: Sendable {
    /// The current date and time on the host.
    var now: Date { get }

    /// Returns once the duration has passed. Throws if the task is cancelled first.
    func wait(for duration: Duration) async throws
}

/// A clock that can be moved forward; see ``Sandbox/advanceClock(by:)``.
public protocol AdvancingClock: SandboxClock {
    /// Moves the clock forward and resumes every wait whose duration has passed.
    func advance(by duration: Duration)
}

/// The clock of the machine.
public struct SystemClock: SandboxClock {
    /// Creates the clock.
    public init() {}

    /// The machine's date and time.
    public var now: Date { Date() }

    /// Waits in real time.
    public func wait(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

/// A clock that stands still until ``advance(by:)`` is called, so that a test can let fifteen minutes pass at once.
///
/// ```swift
/// let clock = ManualClock()
/// var configuration = Sandbox.Configuration()
/// configuration.clock = clock
/// let sandbox = try await Sandbox.start(configuration: configuration)
/// clock.advance(by: .seconds(15 * 60 + 1))    // every idle session has expired
/// print(sandbox.sessions.count, "sessions")   // 0 sessions
/// ```
public final class ManualClock: AdvancingClock {
    private struct Waiter {
        var deadline: Date
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Date
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        /// Waiters that were cancelled before they were registered.
        var cancelled: Set<Int> = []
    }

    private let state: NIOLockedValueBox<State>
    private let waiting = WatchedCount()

    /// Creates a clock that shows `now`. The default is 15 January 2025, 12:00 UTC.
    public init(now: Date = Date(timeIntervalSince1970: 1_736_942_400)) {
        state = NIOLockedValueBox(State(now: now))
    }

    /// The time to which the clock was last set or advanced.
    public var now: Date { state.withLockedValue { $0.now } }

    /// The number of tasks that wait for the clock.
    public var waitingCount: Int { state.withLockedValue { $0.waiters.count } }

    /// Returns once at least `count` tasks wait for the clock, or the task is cancelled. A test then knows that the
    /// work it started does nothing more until the clock advances.
    public func untilWaiting(_ count: Int = 1) async { await waiting.until(count) }

    /// Moves the clock forward and resumes every wait whose duration has passed, in the order of the deadlines.
    public func advance(by duration: Duration) {
        let due = state.withLockedValue { state -> [Waiter] in
            state.now += duration.seconds
            let now = state.now
            let due = state.waiters.filter { $0.value.deadline <= now }
            for id in due.keys { state.waiters[id] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
        }
        waiting.change(by: -due.count)
        for waiter in due { waiter.continuation.resume() }
    }

    /// Returns once the clock has advanced by the duration. Throws `CancellationError` if the task is cancelled first.
    public func wait(for duration: Duration) async throws {
        let id = state.withLockedValue { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLockedValue { state -> Result<Void, any Error>? in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if duration <= .zero { return .success(()) }
                    state.waiters[id] = Waiter(deadline: state.now + duration.seconds, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) } else { waiting.change(by: 1) }
            }
        } onCancel: {
            let waiter = state.withLockedValue { state -> Waiter? in
                let waiter = state.waiters.removeValue(forKey: id)
                if waiter == nil { state.cancelled.insert(id) }
                return waiter
            }
            guard let waiter else { return }
            waiting.change(by: -1)
            waiter.continuation.resume(throwing: CancellationError())
        }
    }
}

extension Duration {
    var seconds: TimeInterval {
        TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18
    }
}

extension CivilTimestamp {
    /// The wall clock time of a date in a time zone.
    init(_ date: Date, in zone: TimeZone) {
        let local = date.timeIntervalSince1970 + TimeInterval(zone.secondsFromGMT(for: date))
        let seconds = Int(max(-6e10, min(local.rounded(.down), 6e10)))
        let day = Int((Double(seconds) / 86_400).rounded(.down))
        // 719,163 is the day number of 1 January 1970. The clamp keeps an absurd date inside FileMaker's calendar.
        let number = min(max(719_163 + day, CivilDate.numbers.lowerBound), CivilDate.numbers.upperBound)
        guard let civil = CivilDate(number: number) else {
            preconditionFailure("\(number) was clamped to the calendar")
        }
        self.init(date: civil, time: CivilTime(microseconds: (seconds - day * 86_400) * CivilTime.second))
    }
}
