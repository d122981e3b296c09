import FMDataCore
import FMDataRecords
import NIOConcurrencyHelpers
import NIOCore

/// The tokens of a ``DataAPI/PollRateLimit``. The query that has waited longest goes first.
struct PollTokenQueue {
    typealias ID = Int

    private var bucket: TokenBucket
    private var waiting: [ID] = []

    init(_ limit: DataAPI.PollRateLimit = DataAPI.PollRateLimit(), now: NIODeadline) {
        bucket = TokenBucket(burst: Double(max(1, limit.burst)), perSecond: Double(max(1, limit.perMinute)) / 60)
        bucket.fill(until: now)
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
        bucket.setBack(to: now)
        bucket.fill(until: now)
        let count = bucket.take(atMost: waiting.count)
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    /// When the next waiting query may poll; `nil` if none waits.
    var next: NIODeadline? { waiting.isEmpty ? nil : bucket.next }
}

/// The ``PollRateLimit`` of a server, shared by its live queries.
final class PollRateLimiter: Sendable {
    fileprivate struct State {
        var budget: PollTokenQueue
        var turns: [PollTokenQueue.ID: @Sendable () -> Void] = [:]
        /// Those that wait at the gate.
        var atGate: [PollTokenQueue.ID: Task<Void, Never>] = [:]
        var lastID = 0
        var isAlarmSet = false
    }

    private let state: NIOLockedValueBox<State>
    private let time: SessionTime
    /// Returns when a poll may begin as far as other processes are concerned; `nil` where there are none.
    private let gate: (@Sendable () async throws -> Void)?

    init(_ limit: DataAPI.PollRateLimit, time: SessionTime, gate: (@Sendable () async throws -> Void)? = nil) {
        self.time = time
        self.gate = gate
        state = NIOLockedValueBox(State(budget: PollTokenQueue(limit, now: time.now())))
    }

    /// Calls the closure when the poll may begin, perhaps before this function returns.
    ///
    /// - Returns: the id for ``giveUp(_:)``.
    func ask(_ turn: @escaping @Sendable () -> Void) -> PollTokenQueue.ID {
        let now = time.now()
        let (id, turns) = state.withLockedValue { state in
            state.lastID += 1
            let id = state.lastID
            state.turns[id] = gate == nil ? turn : { [weak self] in self?.pass(id, turn) }
            return (id, state.take(state.budget.ask(id, now)))
        }
        for turn in turns { turn() }
        setAlarm()
        return id
    }

    func giveUp(_ id: PollTokenQueue.ID) {
        let (turn, waiting) = state.withLockedValue { state in
            state.budget.giveUp(id)
            return (state.turns.removeValue(forKey: id), state.atGate.removeValue(forKey: id))
        }
        waiting?.cancel()
        // The closure may hold the last reference to an object, which must not be deinitialised under the lock.
        withExtendedLifetime(turn) {}
    }

    /// Waits for a turn at the gate. A gate that fails stops nobody: this limit holds without it.
    private func pass(_ id: PollTokenQueue.ID, _ turn: @escaping @Sendable () -> Void) {
        state.withLockedValue { state in
            state.atGate[id] = Task { [weak self, gate] in
                try? await gate?()
                guard !Task.isCancelled else { return }
                self?.state.withLockedValue { $0.atGate[id] = nil }
                turn()
            }
        }
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
    fileprivate mutating func take(_ ids: [PollTokenQueue.ID]) -> [@Sendable () -> Void] {
        ids.compactMap { turns.removeValue(forKey: $0) }
    }
}

extension DataAPI.Server {
    /// The rate limiter of the server's live queries.
    var pollRateLimiter: PollRateLimiter {
        attachments.value {
            let place = (try? origin.get()).map { "\($0)" } ?? ""
            let gate = config.pollGate.map { gate in { @Sendable in try await gate.turn(place) } }
            return PollRateLimiter(config.pollRateLimit, time: time, gate: gate)
        }
    }
}
