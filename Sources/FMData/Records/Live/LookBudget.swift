import NIOConcurrencyHelpers
import NIOCore

/// How often the live queries of a server may look, all together: once a second, and ten times at once after a rest. Who has
/// waited longest goes first. Calls of the program are never counted.
struct LookBudget {
    typealias ID = Int

    static let burst = 10.0
    static let perSecond = 1.0

    private var tokens = burst
    private var filledAt: NIODeadline
    private var waiting: [ID] = []

    init(now: NIODeadline) {
        filledAt = now
    }

    /// Those who may look now, in the order in which they asked.
    mutating func ask(_ id: ID, _ now: NIODeadline) -> [ID] {
        waiting.append(id)
        return granted(now)
    }

    mutating func giveUp(_ id: ID) {
        waiting.removeAll { $0 == id }
    }

    mutating func granted(_ now: NIODeadline) -> [ID] {
        let passed = Double((now - filledAt).nanoseconds) / 1e9
        // A clock that was set back brings nothing.
        tokens = min(Self.burst, tokens + max(0, passed) * Self.perSecond)
        filledAt = now
        // What is left of a token by the arithmetic of fractions must not cost another alarm.
        let count = min(waiting.count, Int(tokens + 1e-6))
        tokens = max(0, tokens - Double(count))
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    /// When the next may look, if anybody waits.
    var next: NIODeadline? {
        waiting.isEmpty ? nil : filledAt + .nanoseconds(Int64(max(0, 1 - tokens) / Self.perSecond * 1e9) + 1)
    }
}

/// The ``LookBudget`` of a server, shared by its live queries.
final class LookTurns: Sendable {
    fileprivate struct State {
        var budget: LookBudget
        var turns: [LookBudget.ID: @Sendable () -> Void] = [:]
        var lastID = 0
        var isAlarmSet = false
    }

    private let state: NIOLockedValueBox<State>
    private let time: SessionTime

    init(time: SessionTime) {
        self.time = time
        state = NIOLockedValueBox(State(budget: LookBudget(now: time.now())))
    }

    /// Calls the closure when its turn has come, perhaps before this returns.
    ///
    /// - Returns: by which the wish can be given up.
    func ask(_ turn: @escaping @Sendable () -> Void) -> LookBudget.ID {
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

    func giveUp(_ id: LookBudget.ID) {
        let turn = state.withLockedValue { state in
            state.budget.giveUp(id)
            return state.turns.removeValue(forKey: id)
        }
        // The closure may hold the last reference to something, which is not to be destroyed under the lock.
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

extension LookTurns.State {
    fileprivate mutating func take(_ ids: [LookBudget.ID]) -> [@Sendable () -> Void] {
        ids.compactMap { turns.removeValue(forKey: $0) }
    }
}
