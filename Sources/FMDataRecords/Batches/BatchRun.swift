import FMDataCore
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// The single run of a batch, shared by all its viewers.
///
/// The run begins when a viewer first has demand, and goes as fast as the slowest viewer of the rows demands them;
/// viewers of the summary and of the progress do not slow it down. A later viewer receives the rows from then on, and
/// the whole summary. When the last viewer is cancelled, the run is cancelled and over.
final class BatchRun: @unchecked Sendable {
    // @unchecked: `lock` guards every `var`; nothing outside is called with it held. Rows are received one after the
    // other.
    typealias Source = AnyPublisher<DataAPI.BatchRow, FMRest.APIError>

    /// The maximum number of rows requested ahead.
    private static let window = 256

    private let lock = NIOLock()
    private let news: BatchNews
    /// `nil` once the run has begun.
    private var source: Source?
    private var upstream: (any Subscription)?
    private var viewers: [ObjectIdentifier: BatchViewer] = [:]
    /// Rows requested and not received.
    private var askedCount = 0
    private var heldDemand = 0
    private var summary = DataAPI.BatchSummary()
    private var isCancelled = false
    private var completion: Subscribers.Completion<FMRest.APIError>?

    init(_ source: Source, news: BatchNews = BatchNews()) {
        self.source = source
        self.news = news
    }

    // MARK: Views

    fileprivate func joined(_ viewer: BatchViewer) {
        lock.withLock { viewers[ObjectIdentifier(viewer)] = viewer }
    }

    /// Called when a viewer has new demand: delivers the end if the run is over, else requests rows.
    fileprivate func wants(_ viewer: BatchViewer) {
        let end: (DataAPI.BatchSummary, Subscribers.Completion<FMRest.APIError>)? = lock.withLock {
            completion.map { (summary, $0) }
        }
        if let end { return viewer.ended(end.0, end.1) }
        ask()
    }

    fileprivate func left(_ viewer: BatchViewer) {
        let upstream: (any Subscription)? = lock.withLock {
            viewers[ObjectIdentifier(viewer)] = nil
            guard viewers.isEmpty, completion == nil else { return nil }
            // A run that has not begun can still get another viewer.
            guard source == nil else { return nil }
            isCancelled = true
            completion = summary.stopped(by: .cancelledBatch)
            defer { self.upstream = nil }
            return self.upstream
        }
        upstream?.cancel()
        if upstream != nil { news.ended(lock.withLock { summary }) }
        ask()
    }

    /// Requests as many rows as every viewer of the rows can take.
    private func ask() {
        enum Action {
            case begin(Source)
            case ask(any Subscription, Int)
        }
        let action: Action? = lock.withLock {
            guard completion == nil, viewers.values.contains(where: \.hasDemand) else { return nil }
            let room = viewers.values.compactMap(\.room).min() ?? Self.window
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
        let (viewers, summary) = lock.withLock {
            askedCount -= 1
            self.summary.add(row)
            return (Array(self.viewers.values), self.summary)
        }
        for viewer in viewers { viewer.came(row, summary) }
        ask()
    }

    private func receive(_ completion: Subscribers.Completion<FMRest.APIError>) {
        let (viewers, summary): ([BatchViewer], DataAPI.BatchSummary) = lock.withLock {
            guard self.completion == nil else { return ([], self.summary) }
            news.tell(&self.summary)
            if case .failure(let error) = completion {
                self.completion = self.summary.stopped(by: error)
            } else {
                self.completion = completion
            }
            upstream = nil
            defer { self.viewers = [:] }
            return (Array(self.viewers.values), self.summary)
        }
        news.ended(summary)
        for viewer in viewers { wants(viewer) }
    }
}

/// What a run learns besides its rows.
final class BatchNews: Sendable {
    private let known = NIOLockedValueBox((journalBytesCut: 0, journalMayMissRows: false, isInputUnread: false))
    /// Logs the end; `nil` before the run has begun.
    private let logEnd = NIOLockedValueBox<(@Sendable (DataAPI.BatchSummary) -> Void)?>(nil)

    func tell(_ summary: inout DataAPI.BatchSummary) {
        (summary.journalBytesCut, summary.journalMayMissRows, summary.isInputUnread) = known.withLockedValue(\.self)
    }

    func opened(_ journal: EarlierRuns) {
        known.withLockedValue { ($0.journalBytesCut, $0.journalMayMissRows) = (journal.cutBytes, journal.mayMissRows) }
    }
    func inputIsUnread() { known.withLockedValue { $0.isInputUnread = true } }

    /// The run begins; `log` is called when it has ended.
    func begins(endingWith log: @escaping @Sendable (DataAPI.BatchSummary) -> Void) {
        logEnd.withLockedValue { $0 = log }
    }

    /// The run has ended.
    func ended(_ summary: DataAPI.BatchSummary) { logEnd.withLockedValue { $0.take() }?(summary) }
}

extension DataAPI.BatchSummary {
    /// Notes what has stopped the batch; returns the end of its run, whose error has these totals.
    fileprivate mutating func stopped(by error: FMRest.APIError) -> Subscribers.Completion<FMRest.APIError> {
        stop = .init(error)
        var error = error
        error.detail = self
        return .failure(error)
    }
}

extension FMRest.APIError {
    fileprivate static let rowsAreGone = FMRest.APIError(
        .noValue,
        reason: "The batch has ended, and its rows were published while it ran: they are not kept.",
        hint: "Its summary has the totals. Attach all subscribers before the first one has demand."
    )

    fileprivate static let cancelledBatch = FMRest.APIError(
        .cancelled,
        reason: "Nobody looked at the batch any more, which ended it.",
        hint: "A batch is one run. Make another one to go on, with the same journal."
    )
}

// MARK: - Views

/// What a view shows of a run.
enum BatchSight<Output> {
    /// Each row.
    case rows((DataAPI.BatchRow) -> Output)
    /// The totals so far: the newest whenever there is demand.
    case progress((DataAPI.BatchSummary) -> Output)
    /// The totals at the end.
    case summary((DataAPI.BatchSummary) -> Output)

    fileprivate func map<Other>(_ transform: @escaping (Output) -> Other) -> BatchSight<Other> {
        switch self {
        case .rows(let see): .rows { transform(see($0)) }
        case .progress(let see): .progress { transform(see($0)) }
        case .summary(let see): .summary { transform(see($0)) }
        }
    }
}

/// A viewer of a run, for one subscriber.
struct BatchView<Output>: Publisher {
    typealias Failure = FMRest.APIError

    let run: BatchRun
    let sight: BatchSight<Output>

    func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
        let viewer = BatchViewer(run, sight.map(subscriber.receive)) { subscriber.receive(completion: $0) }
        run.joined(viewer)
        subscriber.receive(subscription: viewer)
    }
}

/// The subscription of a view: its demand and what it has not delivered yet. It holds closures instead of the
/// subscriber, so that it is no generic class, whose metadata would be looked up for each row.
private final class BatchViewer: Subscription, DeferredWorker, @unchecked Sendable {
    // @unchecked: `lock` guards every `var`; `worker` lets one thread at a time call the subscriber.
    private struct Outlet {
        /// Returns the additional demand.
        let sees: BatchSight<Subscribers.Demand>
        let ends: (Subscribers.Completion<FMRest.APIError>) -> Void
    }

    private enum Delivery {
        case row(DataAPI.BatchRow, (DataAPI.BatchRow) -> Subscribers.Demand)
        case summary(DataAPI.BatchSummary, (DataAPI.BatchSummary) -> Subscribers.Demand)
        case end(Subscribers.Completion<FMRest.APIError>, (Subscribers.Completion<FMRest.APIError>) -> Void)
        /// Go on in the background.
        case leave
    }

    private let lock = NIOLock()
    private let run: BatchRun
    private var outlet: Outlet?
    private var demand = Subscribers.Demand.none
    private var rows = CircularBuffer<DataAPI.BatchRow>()
    /// Whether a row has come.
    private var hasSeenRows = false
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

    /// Whether there is demand.
    var hasDemand: Bool { lock.withLock { demand > .none } }

    /// How many more rows it can take; `nil` for a viewer that does not slow down the others.
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
            worker.noteEvent()
            switch outlet?.sees {
            case .rows:
                hasSeenRows = true
                rows.append(row)
            case .progress: self.summary = summary
            case .summary, nil: break
            }
        }
        deliver()
    }

    func ended(_ summary: DataAPI.BatchSummary, _ completion: Subscribers.Completion<FMRest.APIError>) {
        lock.withLock {
            guard self.completion == nil else { return }
            worker.noteEvent()
            switch (outlet?.sees, completion) {
            case (.rows, .finished) where !hasSeenRows && summary.rowCount > 0:
                self.completion = .failure(.rowsAreGone)
            case (.rows, _), (.summary, .failure): self.completion = completion
            case (.progress, _), (.summary, .finished):
                self.summary = summary
                self.completion = .finished
            case (nil, _): break
            }
        }
        deliver()
    }

    private func deliver() {
        if lock.withLock({ worker.start() }) { goOn() }
    }

    func goOn() {
        while let delivery = next() {
            let more: Subscribers.Demand
            switch delivery {
            case .leave: return goOnInBackground()
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
            if worker.leaves() { return .leave }
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
