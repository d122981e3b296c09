import OpenCombine

/// Decides how the values of several publishers become those of one.
protocol CombiningMachine<Input>: SubscriptionMachine where Work == Never {
    associatedtype Input

    mutating func received(_ value: Input, from inlet: Int)
    mutating func finished(_ completion: Subscribers.Completion<Failure>, from inlet: Int)
}

/// Publishes the latest values of all publishers whenever one of them publishes a value, once each has published its
/// first.
///
/// It finishes when all have finished, or as soon as one has finished without a value, since there can be no complete
/// set then. It fails with the first failure. A slow subscriber misses outdated values, never the latest.
struct CombineLatestMachine<Element, Failure: Error>: CombiningMachine {
    typealias Output = [Element]
    typealias Action = SubscriptionAction<Output, Failure, Never>

    private enum Inlet {
        case asleep
        case running
        case ended
    }

    private var inlets: [Inlet]
    private var latest: [Element?]
    private var demand = Subscribers.Demand.none
    /// Whether a value has come since the last set was delivered.
    private var hasNews = false
    private var completion: Subscribers.Completion<Failure>?
    private var isOver = false

    init(inletCount: Int) {
        inlets = Array(repeating: .asleep, count: inletCount)
        latest = Array(repeating: nil, count: inletCount)
        if inletCount == 0 { completion = .finished }
    }

    mutating func requested(_ demand: Subscribers.Demand) {
        self.demand += demand
    }

    mutating func received(_ value: Element, from inlet: Int) {
        latest[inlet] = value
        hasNews = true
    }

    mutating func finished(_ completion: Subscribers.Completion<Failure>, from inlet: Int) {
        inlets[inlet] = .ended
        switch completion {
        case .failure: self.completion = self.completion ?? completion
        case .finished:
            if latest[inlet] == nil || inlets.allSatisfy({ $0 == .ended }) {
                self.completion = self.completion ?? .finished
            }
        }
    }

    mutating func next() -> Action? {
        if isOver { return nil }
        if demand > .none, completion == nil, let inlet = inlets.firstIndex(of: .asleep) {
            inlets[inlet] = .running
            // Unlimited demand: only the latest value is kept, so nothing piles up.
            return .ask(inlet: inlet, .unlimited)
        }
        if hasNews, !isFailed {
            let whole = latest.compactMap { $0 }
            if whole.count == inlets.count {
                guard demand > .none else { return nil }
                hasNews = false
                demand -= 1
                return .value(whole)
            }
        }
        guard let completion else { return nil }
        isOver = true
        return .end(completion)
    }

    private var isFailed: Bool {
        if case .failure = completion { true } else { false }
    }
}

/// Passes on the values of all publishers in the order in which they arrive. Finishes when all have finished, and fails
/// with the first failure, after the values that came before.
///
/// Each publisher is asked for no more values than the subscriber wants, and for at most `window` values ahead of it.
/// So the number of values that wait for a slow subscriber is bounded, and demand reaches back.
struct MergeMachine<Output, Failure: Error>: CombiningMachine {
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
