package import OpenCombine

/// What an ``OrderedMapMachine`` orders besides asking and delivering.
package enum OrderedMapWork<Input> {
    case begin(group: Int, [Input])
    /// Call ``OrderedMapMachine/turnPassed()`` when all others have had a turn.
    case awaitTurn
}

extension OrderedMapWork: Equatable where Input: Equatable {}

/// Decides how values are turned into the results of work on them, several pieces of work at a time and in the order of
/// the values: events in, actions out; no subscribers, locks or threads. Its publisher is ``OrderedMapPublisher``.
///
/// 1. Values are requested in whole groups, as long as fewer values are under way than the subscriber has asked for and
///    at most `window` groups are. Each value is expected to give one result; if it gives none or several, the count is
///    corrected when that is known.
/// 2. Work on a group begins when the group is full, when no requested value is missing, or when no more values will
///    come. A publisher of occasional values fills no group for a long time, so work also begins when no other group is
///    worked on and all other tasks have had a turn since the last value came. No time is measured: while work is under
///    way, the next group grows.
/// 3. The results of a group wait until those of all groups before it are delivered.
/// 4. After a failed piece of work no more work begins, and the results before it are delivered first.
package struct OrderedMapMachine<Input, Output, Failure: Error>: InletMachine, YieldingMachine {
    package typealias Work = OrderedMapWork<Input>
    package typealias Action = SubscriptionAction<Output, Failure, Work>

    private struct Group {
        let id: Int
        /// → `done`
        var state: State

        enum State {
            case working(inputCount: Int)
            /// The results that are not delivered yet, followed by the failure, if any.
            case done(ArraySlice<Output>, Failure?)
        }
    }

    private enum TurnState {
        case none
        /// The associated value is the number of values in the next group.
        case awaited(Int)
        case passed
    }

    private let groupSize: Int
    private let concurrency: Int
    private let window: Int

    private var demand = Subscribers.Demand.none
    /// The number of values that were requested and have not come.
    private var missing = 0
    /// The values of the next group.
    private var gathered: [Input] = []
    private var turn = TurnState.none
    private var groups: [Group] = []
    private var lastID = 0
    /// The completion of the publisher.
    private var completion: Subscribers.Completion<Failure>?
    private var isOver = false

    /// - Parameters:
    ///   - groupSize: the number of values that are worked on together.
    ///   - concurrency: the number of groups that are worked on at a time.
    ///   - window: the number of groups that may be under way in total: requested, worked on, or waiting for those
    ///     before them.
    package init(groupSize: Int = 1, concurrency: Int, window: Int? = nil) {
        self.groupSize = max(1, groupSize)
        self.concurrency = max(1, concurrency)
        self.window = max(1, window ?? concurrency)
    }

    // MARK: Events

    package mutating func requested(_ demand: Subscribers.Demand) {
        self.demand += demand
    }

    package mutating func received(_ value: Input) {
        missing = max(0, missing - 1)
        gathered.append(value)
    }

    package mutating func finished(_ completion: Subscribers.Completion<Failure>) {
        self.completion = self.completion ?? completion
        missing = 0
    }

    /// The work on a group has ended; `failure` comes after `values`.
    mutating func worked(on group: Int, _ values: [Output], _ failure: Failure?) {
        guard let index = groups.firstIndex(where: { $0.id == group }) else { return }
        groups[index].state = .done(values[...], failure)
    }

    package mutating func turnPassed() {
        guard case .awaited(let count) = turn else { return }
        turn = count == gathered.count ? .passed : .none
    }

    // MARK: Actions

    package mutating func next() -> Action? {
        if isOver { return nil }
        // Work is begun before results are delivered, so that a slow subscriber does not delay it.
        return beginning() ?? delivery()
    }

    private mutating func beginning() -> Action? {
        guard !hasFailed else { return nil }
        if !gathered.isEmpty, workingCount < concurrency, isUnderWay < demand {
            if isComplete { return work() }
            if workingCount == 0, case .none = turn {
                turn = .awaited(gathered.count)
                return .work(.awaitTurn)
            }
        }
        guard completion == nil else { return nil }
        let wanted = groupsToAsk
        guard wanted > 0 else { return nil }
        missing += wanted * groupSize
        return .ask(wanted * groupSize)
    }

    private var isComplete: Bool {
        if gathered.count >= groupSize || completion != nil || missing == 0 { return true }
        if workingCount == 0, case .passed = turn { return true }
        return false
    }

    private mutating func work() -> Action {
        let inputs = Array(gathered.prefix(groupSize))
        gathered.removeFirst(inputs.count)
        turn = .none
        lastID += 1
        groups.append(Group(id: lastID, state: .working(inputCount: inputs.count)))
        return .work(.begin(group: lastID, inputs))
    }

    private var groupsToAsk: Int {
        let underWay = isUnderWay + gathered.count + missing
        let free = window - groups.count - (gathered.count + missing + groupSize - 1) / groupSize
        guard underWay < demand, free > 0 else { return 0 }
        guard let demand = demand.max else { return free }
        return min(free, (demand - underWay + groupSize - 1) / groupSize)
    }

    private mutating func delivery() -> Action? {
        while let first = groups.first, case .done(var values, let failure) = first.state {
            if let value = values.first {
                guard demand > .none else { return nil }
                demand -= 1
                values.removeFirst()
                groups[0].state = .done(values, failure)
                return .value(value)
            }
            if let failure { return end(.failure(failure)) }
            groups.removeFirst()
            // There is room for another group now.
            if let action = beginning() { return action }
        }
        guard let completion, groups.isEmpty, gathered.isEmpty else { return nil }
        return end(completion)
    }

    private mutating func end(_ completion: Subscribers.Completion<Failure>) -> Action {
        isOver = true
        return .end(completion)
    }

    // MARK: Counts

    private var hasFailed: Bool {
        groups.contains { if case .done(_, _?) = $0.state { true } else { false } }
    }

    private var workingCount: Int {
        groups.count { if case .working = $0.state { true } else { false } }
    }

    /// The number of values that are worked on, and of results that wait to be delivered.
    private var isUnderWay: Int {
        groups.reduce(0) { sum, group in
            switch group.state {
            case .working(let inputCount): sum + inputCount
            case .done(let values, _): sum + values.count
            }
        }
    }
}
