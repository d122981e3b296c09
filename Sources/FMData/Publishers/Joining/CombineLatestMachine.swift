import OpenCombine

/// Publishes the latest values of all publishers whenever one of them publishes a value, once each has published its
/// first.
///
/// It finishes when all have finished, or as soon as one has finished without a value, since there can be no complete
/// set then. It fails with the first failure. A slow subscriber misses outdated values, never the latest.
struct CombineLatestMachine<Element, Failure: Error>: JoinMachine {
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
