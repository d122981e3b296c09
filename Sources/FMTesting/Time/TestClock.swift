public import Foundation

/// A clock that stands still until a test moves it: for everything that a client waits for, and for what the program
/// waits for itself.
///
/// ```swift
/// let clock = TestClock()
/// let transport = TestTransport(clock: clock)
/// transport.answer(.getRecords, with: .error(301), .records([Person(name: "Ada")]))
/// let patient = transport.database().retrying(.init(firstPause: .seconds(7), jitter: 0)).layout(Person.self)
///
/// async let count = patient.count().firstValue()
/// await clock.untilTimer(in: .seconds(7))                     // the call waits for its second attempt
/// clock.advance(by: .seconds(7))
/// print(try await count)                                      // 1
/// ```
///
/// A client whose server has this clock waits by it: for the next attempt of a call, the deadline of a call or of the
/// wait for a session, the next poll of a live query, the end of an idle session, the age of a cached answer. The
/// random parts of pauses stay random: set the `jitter` of a policy to 0, or use ``advanceToNextTimer()``. A tenth of
/// the pause between two polls is random.
///
/// The program's own code waits by it where it is given a clock or a scheduler: `clock.sleep(for:)`, and
/// `debounce(for: .milliseconds(300), scheduler: clock)`, `delay` in a middleware, `throttle`, `timeout`.
///
/// Timers fire on the thread that calls ``advance(by:)``, in the order of their times, those that are set on the way
/// included.
public final class TestClock: Sendable {
    struct Timer: Sendable {
        let time: Duration
        let fire: @Sendable () -> Void
    }

    struct State: Sendable {
        /// The time since the clock was created.
        var now = Duration.zero
        var timers: [Int: Timer] = [:]
        var lastTimer = 0

        /// The times from now to the timers, the next one first.
        var remaining: [Duration] { timers.values.map { $0.time - now }.sorted() }

        /// Moves on to the first timer until then, and removes it.
        mutating func takeTimer(until end: Duration) -> Timer? {
            let due = timers.filter { $0.value.time <= end }
            guard let (id, timer) = due.min(by: { ($0.value.time, $0.key) < ($1.value.time, $1.key) }) else {
                return nil
            }
            timers[id] = nil
            now = max(now, timer.time)
            return timer
        }
    }

    let state = AwaitedState(State())
    let firstDate: Date

    /// Creates a clock.
    ///
    /// - Parameter date: the date that the clock shows first. The default is the beginning of 2026, in GMT.
    public init(_ date: Date = Date(timeIntervalSince1970: 1_767_225_600)) { firstDate = date }

    /// The date that the clock shows.
    public var date: Date { date(at: state.value.now) }

    /// The times from now to the timers that are set, the next one first.
    public var timers: [Duration] { state.value.remaining }

    /// Moves the clock on, and fires the timers on the way.
    public func advance(by duration: Duration) {
        let end = state.value.now + duration
        while let timer = state.change({ $0.takeTimer(until: end) }) { timer.fire() }
        state.change { $0.now = max($0.now, end) }
    }

    /// Moves the clock on to the next timer, and fires it with those that are due at the same time.
    ///
    /// - Returns: how far the clock was moved; `nil` if no timer is set.
    @discardableResult
    public func advanceToNextTimer() -> Duration? {
        guard let next = timers.first.map({ max($0, .zero) }) else { return nil }
        advance(by: next)
        return next
    }

    /// Returns when a timer is set for exactly this time from now, or when the task is cancelled.
    public func untilTimer(in duration: Duration) async { await untilTimers { $0.contains(duration) } }

    /// Returns when the timers that are set fulfil the condition, or when the task is cancelled.
    ///
    /// - Parameter condition: is given ``timers``. It must not use the clock, which is locked meanwhile.
    public func untilTimers(_ condition: @escaping @Sendable (_ timers: [Duration]) -> Bool) async {
        await state.wait { condition($0.remaining) }
    }

    /// Sets a timer.
    ///
    /// - Parameter time: the time since the clock was created.
    /// - Returns: what removes the timer.
    func schedule(at time: Duration, _ fire: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = state.change { state in
            state.lastTimer += 1
            state.timers[state.lastTimer] = Timer(time: time, fire: fire)
            return state.lastTimer
        }
        return { self.state.change { _ = $0.timers.removeValue(forKey: id) } }
    }

    func date(at time: Duration) -> Date { firstDate.addingTimeInterval(time / .seconds(1)) }
}
