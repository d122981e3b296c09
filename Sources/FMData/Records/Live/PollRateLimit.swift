import NIOConcurrencyHelpers
import NIOCore

extension DataAPI {
    /// How often the live queries of a server may poll, all of them together.
    ///
    ///     config.pollRateLimit = .init(perMinute: 240, burst: 40)         // a host of one's own, and many queries
    ///
    /// One poll of one query counts once, however many requests it makes. A query that may not poll yet waits, with the
    /// status ``LiveStatus/Kind/throttled``; the query that has waited longest goes first. The program's own calls are
    /// not counted, and neither are subscribers: equal queries share their polls.
    public struct PollRateLimit: Hashable, Sendable {
        /// The most polls per minute, in the long run. The default is 60: one a second. Less than 1 counts as 1.
        public var perMinute: Int
        /// The most polls that may begin at once after a rest. The default is 10. Less than 1 counts as 1.
        public var burst: Int

        /// A poll rate limit: 60 a minute, 10 at once by default; see the properties.
        public init(perMinute: Int = 60, burst: Int = 10) {
            self.perMinute = perMinute
            self.burst = burst
        }
    }
}

/// The token bucket behind ``DataAPI/PollRateLimit``. The query that has waited longest goes first.
struct PollRateLimit {
    typealias ID = Int

    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var filledAt: NIODeadline
    private var waiting: [ID] = []

    init(_ limit: DataAPI.PollRateLimit = DataAPI.PollRateLimit(), now: NIODeadline) {
        burst = Double(max(1, limit.burst))
        perSecond = Double(max(1, limit.perMinute)) / 60
        tokens = burst
        filledAt = now
    }

    /// Queues a query. Returns the ids that may poll now, in the order in which they asked.
    mutating func ask(_ id: ID, _ now: NIODeadline) -> [ID] {
        waiting.append(id)
        return granted(now)
    }

    mutating func giveUp(_ id: ID) {
        waiting.removeAll { $0 == id }
    }

    mutating func granted(_ now: NIODeadline) -> [ID] {
        let passed = Double((now - filledAt).nanoseconds) / 1e9
        // If the clock was set back, no tokens are added.
        tokens = min(burst, tokens + max(0, passed) * perSecond)
        filledAt = now
        // Rounding may leave a token a fraction short; that must not cost another alarm.
        let count = Int(min(Double(waiting.count), tokens + 1e-6))
        tokens = max(0, tokens - Double(count))
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    /// When the next waiting query may poll; `nil` if none waits.
    var next: NIODeadline? {
        waiting.isEmpty ? nil : filledAt + .nanoseconds(Int64(max(0, 1 - tokens) / perSecond * 1e9) + 1)
    }
}

/// The ``PollRateLimit`` of a server, shared by its live queries.
final class PollRateLimiter: Sendable {
    fileprivate struct State {
        var budget: PollRateLimit
        var turns: [PollRateLimit.ID: @Sendable () -> Void] = [:]
        var lastID = 0
        var isAlarmSet = false
    }

    private let state: NIOLockedValueBox<State>
    private let time: SessionTime

    init(_ limit: DataAPI.PollRateLimit, time: SessionTime) {
        self.time = time
        state = NIOLockedValueBox(State(budget: PollRateLimit(limit, now: time.now())))
    }

    /// Calls the closure when the poll may begin, perhaps before this function returns.
    ///
    /// - Returns: the id for ``giveUp(_:)``.
    func ask(_ turn: @escaping @Sendable () -> Void) -> PollRateLimit.ID {
        let now = time.now()
        let (id, turns) = state.withLockedValue { state in
            state.lastID += 1
            state.turns[state.lastID] = turn
            return (state.lastID, state.take(state.budget.ask(state.lastID, now)))
        }
        for turn in turns { turn() }
        setAlarm()
        return id
    }

    func giveUp(_ id: PollRateLimit.ID) {
        let turn = state.withLockedValue { state in
            state.budget.giveUp(id)
            return state.turns.removeValue(forKey: id)
        }
        // The closure may hold the last reference to an object, which must not be deinitialised under the lock.
        withExtendedLifetime(turn) {}
    }

    private func setAlarm() {
        let next: NIODeadline? = state.withLockedValue { state in
            guard !state.isAlarmSet, let next = state.budget.next else { return nil }
            state.isAlarmSet = true
            return next
        }
        guard let next else { return }
        _ = time.schedule(next) { [weak self] in self?.alarmRang() }
    }

    private func alarmRang() {
        let now = time.now()
        let turns = state.withLockedValue { state in
            state.isAlarmSet = false
            return state.take(state.budget.granted(now))
        }
        for turn in turns { turn() }
        setAlarm()
    }
}

extension PollRateLimiter.State {
    fileprivate mutating func take(_ ids: [PollRateLimit.ID]) -> [@Sendable () -> Void] {
        ids.compactMap { turns.removeValue(forKey: $0) }
    }
}
