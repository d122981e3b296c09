import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// The one run of a batch, however many look at it.
///
/// It begins when somebody first asks for something, and goes as fast as the slowest of those who want rows asks for
/// them; who wants the summary or the progress does not hold it up. Who comes later sees the rows from then on, and the
/// summary whole. When nobody looks any more it is cancelled, and is over.
final class BatchRun: @unchecked Sendable {
    // @unchecked: `lock` guards every `var`; nobody is called with it held. Rows come one after the other.
    typealias Source = AnyPublisher<DataAPI.BatchRow, FMRest.APIError>

    /// How many rows are asked for ahead of those who do not say how many they want.
    private static let window = 256

    private let lock = NIOLock()
    private let news: BatchNews
    /// Until it begins.
    private var source: Source?
    private var upstream: (any Subscription)?
    private var looks: [ObjectIdentifier: BatchLook] = [:]
    /// Asked for and not come.
    private var askedCount = 0
    private var heldDemand = 0
    private var summary = DataAPI.BatchSummary()
    private var isCancelled = false
    private var completion: Subscribers.Completion<FMRest.APIError>?

    init(_ source: Source, news: BatchNews = BatchNews()) {
        self.source = source
        self.news = news
    }

    // MARK: Looks

    fileprivate func joined(_ look: BatchLook) {
        lock.withLock { looks[ObjectIdentifier(look)] = look }
    }

    /// A look is there for the first time, or wants more.
    fileprivate func wants(_ look: BatchLook) {
        let end: (DataAPI.BatchSummary, Subscribers.Completion<FMRest.APIError>)? = lock.withLock {
            completion.map { (summary, $0) }
        }
        if let end { return look.ended(end.0, end.1) }
        ask()
    }

    fileprivate func left(_ look: BatchLook) {
        let upstream: (any Subscription)? = lock.withLock {
            looks[ObjectIdentifier(look)] = nil
            guard looks.isEmpty, completion == nil else { return nil }
            // One that has not begun may be looked at again.
            guard source == nil else { return nil }
            isCancelled = true
            completion = .failure(.cancelledBatch)
            summary.stop = .init(.cancelledBatch)
            defer { self.upstream = nil }
            return self.upstream
        }
        upstream?.cancel()
        ask()
    }

    /// Asks for as many rows as all who want rows can take.
    private func ask() {
        enum Action {
            case begin(Source)
            case ask(any Subscription, Int)
        }
        let action: Action? = lock.withLock {
            guard completion == nil, looks.values.contains(where: \.hasDemand) else { return nil }
            let room = looks.values.compactMap(\.room).min() ?? Self.window
            let wanted = min(room, Self.window) - askedCount
            guard wanted > 0 else { return nil }
            askedCount += wanted
            if let source {
                self.source = nil
                heldDemand = wanted
                return .begin(source)
            }
            if let upstream { return .ask(upstream, wanted) }
            heldDemand += wanted
            return nil
        }
        switch action {
        case .begin(let source): source.subscribe(Inlet(run: self))
        case .ask(let upstream, let count): upstream.request(.max(count))
        case nil: break
        }
    }

    // MARK: Rows

    private struct Inlet: Subscriber {
        typealias Input = DataAPI.BatchRow
        typealias Failure = FMRest.APIError

        let run: BatchRun
        let combineIdentifier = CombineIdentifier()

        func receive(subscription: any Subscription) { run.receive(subscription) }

        func receive(_ row: DataAPI.BatchRow) -> Subscribers.Demand {
            run.receive(row)
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) { run.receive(completion) }
    }

    private func receive(_ subscription: any Subscription) {
        let demand: Int? = lock.withLock {
            guard !isCancelled else { return nil }
            upstream = subscription
            defer { heldDemand = 0 }
            return heldDemand
        }
        guard let demand else { return subscription.cancel() }
        if demand > 0 { subscription.request(.max(demand)) }
    }

    private func receive(_ row: DataAPI.BatchRow) {
        let (looks, summary) = lock.withLock {
            askedCount -= 1
            self.summary.add(row)
            return (Array(self.looks.values), self.summary)
        }
        for look in looks { look.came(row, summary) }
        ask()
    }

    private func receive(_ completion: Subscribers.Completion<FMRest.APIError>) {
        let (looks, summary): ([BatchLook], DataAPI.BatchSummary) = lock.withLock {
            guard self.completion == nil else { return ([], self.summary) }
            if case .failure(let error) = completion { self.summary.stop = .init(error) }
            self.summary.journalBytesCut = news.journalBytesCut
            self.summary.isInputUnread = news.isInputUnread
            self.completion = completion
            upstream = nil
            defer { self.looks = [:] }
            return (Array(self.looks.values), self.summary)
        }
        for look in looks { look.ended(summary, completion) }
    }
}

/// What a run comes to know besides its rows.
final class BatchNews: Sendable {
    private let known = NIOLockedValueBox((journalBytesCut: 0, isInputUnread: false))

    var journalBytesCut: Int { known.withLockedValue(\.journalBytesCut) }
    var isInputUnread: Bool { known.withLockedValue(\.isInputUnread) }

    func cut(journalBytes: Int) { known.withLockedValue { $0.journalBytesCut = journalBytes } }
    func inputIsUnread() { known.withLockedValue { $0.isInputUnread = true } }
}

extension FMRest.APIError {
    fileprivate static let cancelledBatch = FMRest.APIError(
        .cancelled,
        reason: "Nobody looked at the batch any more, which ended it.",
        hint: "A batch is one run. Make another one to go on, with the same journal."
    )
}

// MARK: - Looks

/// What can be seen of a run.
enum BatchSight<Output> {
    /// Each row.
    case rows((DataAPI.BatchRow) -> Output)
    /// What it has come to so far, the newest as often as it is asked for.
    case progress((DataAPI.BatchSummary) -> Output)
    /// What it has come to in the end.
    case summary((DataAPI.BatchSummary) -> Output)

    fileprivate func map<Other>(_ transform: @escaping (Output) -> Other) -> BatchSight<Other> {
        switch self {
        case .rows(let see): .rows { transform(see($0)) }
        case .progress(let see): .progress { transform(see($0)) }
        case .summary(let see): .summary { transform(see($0)) }
        }
    }
}

/// One view of a run, for one subscriber.
struct BatchView<Output>: Publisher {
    typealias Failure = FMRest.APIError

    let run: BatchRun
    let sight: BatchSight<Output>

    func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
        let look = BatchLook(run, sight.map(subscriber.receive)) { subscriber.receive(completion: $0) }
        run.joined(look)
        subscriber.receive(subscription: look)
    }
}

/// What one subscriber has asked for, and has yet to be told. It holds closures and not the subscriber, so that it is no
/// generic class, whose types would be looked up anew for each row.
private final class BatchLook: Subscription, @unchecked Sendable {
    // @unchecked: `lock` guards every `var`; the subscriber is called by the one who delivers, so one call at a time.
    private struct Outlet {
        /// Returns how many more he asks for.
        let sees: BatchSight<Subscribers.Demand>
        let ends: (Subscribers.Completion<FMRest.APIError>) -> Void
    }

    private enum Delivery {
        case row(DataAPI.BatchRow, (DataAPI.BatchRow) -> Subscribers.Demand)
        case summary(DataAPI.BatchSummary, (DataAPI.BatchSummary) -> Subscribers.Demand)
        case end(Subscribers.Completion<FMRest.APIError>, (Subscribers.Completion<FMRest.APIError>) -> Void)
    }

    private let lock = NIOLock()
    private let run: BatchRun
    private var outlet: Outlet?
    private var demand = Subscribers.Demand.none
    private var rows = CircularBuffer<DataAPI.BatchRow>()
    private var summary: DataAPI.BatchSummary?
    private var completion: Subscribers.Completion<FMRest.APIError>?
    private var worker = SoleWorker()

    init(
        _ run: BatchRun,
        _ sees: BatchSight<Subscribers.Demand>,
        ends: @escaping (Subscribers.Completion<FMRest.APIError>) -> Void
    ) {
        self.run = run
        outlet = Outlet(sees: sees, ends: ends)
    }

    /// Whether it has asked for something.
    var hasDemand: Bool { lock.withLock { demand > .none } }

    /// How many more rows it can take; `nil` for one that does not hold up the others.
    var room: Int? {
        lock.withLock {
            guard case .rows = outlet?.sees else { return nil }
            return (demand.max ?? .max) - rows.count
        }
    }

    func request(_ demand: Subscribers.Demand) {
        precondition(demand > .none, "A subscriber asks for at least one value")
        let isRunning = lock.withLock {
            self.demand += demand
            return outlet != nil
        }
        guard isRunning else { return }
        deliver()
        run.wants(self)
    }

    func cancel() {
        let outlet = lock.withLock {
            defer {
                self.outlet = nil
                rows.removeAll()
            }
            return self.outlet
        }
        if outlet != nil { run.left(self) }
    }

    func came(_ row: DataAPI.BatchRow, _ summary: DataAPI.BatchSummary) {
        lock.withLock {
            switch outlet?.sees {
            case .rows: rows.append(row)
            case .progress: self.summary = summary
            case .summary, nil: break
            }
        }
        deliver()
    }

    func ended(_ summary: DataAPI.BatchSummary, _ completion: Subscribers.Completion<FMRest.APIError>) {
        lock.withLock {
            guard self.completion == nil else { return }
            switch outlet?.sees {
            case .rows: self.completion = completion
            case .progress, .summary:
                // What stopped it is in the summary.
                self.summary = summary
                self.completion = .finished
            case nil: break
            }
        }
        deliver()
    }

    private func deliver() {
        guard lock.withLock({ worker.start() }) else { return }
        while let delivery = next() {
            let more: Subscribers.Demand
            switch delivery {
            case .row(let row, let see): more = see(row)
            case .summary(let summary, let see): more = see(summary)
            case .end(let completion, let end): return end(completion)
            }
            if more > .none {
                lock.withLock { demand += more }
                run.wants(self)
            }
        }
    }

    private func next() -> Delivery? {
        lock.withLock {
            guard let outlet else {
                worker.stop()
                return nil
            }
            if demand > .none, let delivery = lockedNextValue(outlet) {
                demand -= 1
                return delivery
            }
            guard let completion, rows.isEmpty, summary == nil else {
                worker.stop()
                return nil
            }
            self.outlet = nil
            return .end(completion, outlet.ends)
        }
    }

    private func lockedNextValue(_ outlet: Outlet) -> Delivery? {
        switch outlet.sees {
        case .rows(let see):
            return rows.popFirst().map { .row($0, see) }
        case .progress(let see), .summary(let see):
            defer { summary = nil }
            return summary.map { .summary($0, see) }
        }
    }
}
