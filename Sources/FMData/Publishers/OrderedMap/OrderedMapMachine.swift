import OpenCombine

/// What decides how values become what a piece of work makes of them, several pieces at a time and in the order of the values:
/// events in, steps out, no subscriber, lock or thread. The shell around it is ``OrderedMapPublisher``.
///
/// 1. Values are asked for in whole groups, as long as the values that were asked for here are not all under way, and no more
///    than `window` groups are. A value is taken to make one; what makes none or many changes the sum when that is known.
/// 2. A group is worked on when it is full, when nothing that was asked for is missing, or when nothing more will come. A
///    publisher that brings its values now and then fills no group for a long time: so also when nothing else is worked on and
///    everybody has had a turn since the last value came. No time is measured: while work is under way, the next group grows.
/// 3. What comes of a group waits until all groups before it are handed over.
/// 4. After a failure nothing is begun, and what came before it is handed over first.
struct OrderedMapMachine<Input, Output, Failure: Error> {
    /// One thing to do.
    enum Step {
        case ask(Int)
        case work(group: Int, [Input])
        /// Say ``turnPassed()`` when all others have had a turn.
        case awaitTurn
        case value(Output)
        /// The last step. What still runs is to be cancelled.
        case end(Subscribers.Completion<Failure>)
        case rest
    }

    private struct Group {
        let id: Int
        /// → `done`
        var state: State

        enum State {
            case working(inputCount: Int)
            /// What is to be handed over, and then perhaps the failure.
            case done(ArraySlice<Output>, Failure?)
        }
    }

    private enum Turn {
        case none
        /// With as many values in the next group.
        case awaited(Int)
        case passed
    }

    private let groupSize: Int
    private let concurrency: Int
    private let window: Int

    private var demand = Subscribers.Demand.none
    /// Values that were asked for and have not come.
    private var missing = 0
    /// The next group.
    private var gathered: [Input] = []
    private var turn = Turn.none
    private var groups: [Group] = []
    private var lastID = 0
    /// The end of the values.
    private var completion: Subscribers.Completion<Failure>?
    private var isOver = false

    /// - Parameters:
    ///   - groupSize: how many values are worked on together.
    ///   - concurrency: how many groups are worked on at a time.
    ///   - window: how many groups may be under way in all: asked for, worked on, and waiting for those before them.
    init(groupSize: Int = 1, concurrency: Int, window: Int? = nil) {
        self.groupSize = max(1, groupSize)
        self.concurrency = max(1, concurrency)
        self.window = max(1, window ?? concurrency)
    }

    // MARK: Events

    mutating func requested(_ demand: Subscribers.Demand) {
        self.demand += demand
    }

    mutating func received(_ value: Input) {
        missing = max(0, missing - 1)
        gathered.append(value)
    }

    mutating func finished(_ completion: Subscribers.Completion<Failure>) {
        self.completion = self.completion ?? completion
        missing = 0
    }

    /// A group has been worked on; `failure` comes after `values`.
    mutating func worked(on group: Int, _ values: [Output], _ failure: Failure?) {
        guard let index = groups.firstIndex(where: { $0.id == group }) else { return }
        groups[index].state = .done(values[...], failure)
    }

    mutating func turnPassed() {
        guard case .awaited(let count) = turn else { return }
        turn = count == gathered.count ? .passed : .none
    }

    // MARK: Steps

    /// What to do next. It is asked again and again until it says `rest`.
    mutating func next() -> Step {
        if isOver { return .rest }
        // Work comes before delivery: a subscriber that takes its time does not hold it up.
        return beginning() ?? delivery() ?? .rest
    }

    private mutating func beginning() -> Step? {
        guard !hasFailed else { return nil }
        if !gathered.isEmpty, workingCount < concurrency, isUnderWay < demand {
            if isComplete { return work() }
            if workingCount == 0, case .none = turn {
                turn = .awaited(gathered.count)
                return .awaitTurn
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

    private mutating func work() -> Step {
        let inputs = Array(gathered.prefix(groupSize))
        gathered.removeFirst(inputs.count)
        turn = .none
        lastID += 1
        groups.append(Group(id: lastID, state: .working(inputCount: inputs.count)))
        return .work(group: lastID, inputs)
    }

    private var groupsToAsk: Int {
        let underWay = isUnderWay + gathered.count + missing
        let free = window - groups.count - (gathered.count + missing + groupSize - 1) / groupSize
        guard underWay < demand, free > 0 else { return 0 }
        guard let demand = demand.max else { return free }
        return min(free, (demand - underWay + groupSize - 1) / groupSize)
    }

    private mutating func delivery() -> Step? {
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
            // There is room for a group again.
            if let step = beginning() { return step }
        }
        guard let completion, groups.isEmpty, gathered.isEmpty else { return nil }
        return end(completion)
    }

    private mutating func end(_ completion: Subscribers.Completion<Failure>) -> Step {
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

    /// Values that wait to be handed over, and those that are worked on.
    private var isUnderWay: Int {
        groups.reduce(0) { sum, group in
            switch group.state {
            case .working(let inputCount): sum + inputCount
            case .done(let values, _): sum + values.count
            }
        }
    }
}

extension OrderedMapMachine.Step: Equatable where Input: Equatable, Output: Equatable, Failure: Equatable {}
