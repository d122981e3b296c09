import OpenCombine

/// Passes on the values of all publishers in the order in which they arrive. Finishes when all have finished, and fails
/// with the first failure, after the values that came before.
///
/// Each publisher is asked for no more values than the subscriber wants, and for at most `window` values ahead of it.
/// So the number of values that wait for a slow subscriber is bounded, and demand reaches back.
struct MergeMachine<Output, Failure: Error>: JoinMachine {
    typealias Input = Output
    typealias Action = SubscriptionAction<Output, Failure, Never>

    private let window: Int
    private var demand = Subscribers.Demand.none
    /// For each inlet, the number of values requested and not yet delivered; `nil` once it has completed.
    private var outstanding: [Int?]
    private var waiting: [(value: Output, inlet: Int)] = []
    private var failure: Failure?
    private var isOver = false

    init(inletCount: Int, window: Int = 16) {
        self.window = window
        outstanding = Array(repeating: 0, count: inletCount)
    }

    mutating func requested(_ demand: Subscribers.Demand) {
        self.demand += demand
    }

    mutating func received(_ value: Output, from inlet: Int) {
        waiting.append((value, inlet))
    }

    mutating func finished(_ completion: Subscribers.Completion<Failure>, from inlet: Int) {
        outstanding[inlet] = nil
        if case .failure(let error) = completion { failure = failure ?? error }
    }

    mutating func next() -> Action? {
        if isOver { return nil }
        if let ask = ask() { return ask }
        if let first = waiting.first {
            guard demand > .none else { return nil }
            waiting.removeFirst()
            demand -= 1
            outstanding[first.inlet]? -= 1
            return .value(first.value)
        }
        let isFinished = failure != nil || outstanding.allSatisfy { $0 == nil }
        guard isFinished else { return nil }
        isOver = true
        return .end(failure.map { .failure($0) } ?? .finished)
    }

    private mutating func ask() -> Action? {
        // After a failure no more values are requested.
        guard failure == nil else { return nil }
        let wanted = min(window, demand.max ?? window)
        for inlet in outstanding.indices {
            guard let asked = outstanding[inlet], asked < wanted else { continue }
            outstanding[inlet] = wanted
            return .ask(inlet: inlet, .max(wanted - asked))
        }
        return nil
    }
}
