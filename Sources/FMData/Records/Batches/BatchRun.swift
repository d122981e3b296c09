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
    private var looks: [ObjectIdentifier: any BatchLook] = [:]
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

    fileprivate func joined(_ look: any BatchLook) {
        lock.withLock { looks[ObjectIdentifier(look)] = look }
    }

    /// A look is there for the first time, or wants more.
    fileprivate func wants(_ look: any BatchLook) {
        let end: (DataAPI.BatchSummary, Subscribers.Completion<FMRest.APIError>)? = lock.withLock {
            completion.map { (summary, $0) }
        }
        if let end { return look.ended(end.0, end.1) }
        ask()
    }

    fileprivate func left(_ look: any BatchLook) {
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
        let (looks, summary): ([any BatchLook], DataAPI.BatchSummary) = lock.withLock {
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
}

/// One view of a run, for one subscriber.
struct BatchView<Output>: Publisher {
    typealias Failure = FMRest.APIError

    let run: BatchRun
    let sight: BatchSight<Output>

    func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
        let look = BatchLookSubscription(run, sight, subscriber)
        run.joined(look)
        subscriber.receive(subscription: look)
    }
}

private protocol BatchLook: AnyObject {
    /// Whether it has asked for something.
    var hasDemand: Bool { get }
    /// How many more rows it can take; `nil` for one that does not hold up the others.
    var room: Int? { get }
    func came(_ row: DataAPI.BatchRow, _ summary: DataAPI.BatchSummary)
    func ended(_ summary: DataAPI.BatchSummary, _ completion: Subscribers.Completion<FMRest.APIError>)
}

private final class BatchLookSubscription<Downstream: Subscriber>: Subscription, BatchLook, @unchecked Sendable
where Downstream.Failure == FMRest.APIError {
    // @unchecked: `lock` guards every `var`; the subscriber is called by the one who delivers, so one call at a time.
    private let lock = NIOLock()
    private let run: BatchRun
    private let sight: BatchSight<Downstream.Input>
    private var downstream: Downstream?
    private var demand = Subscribers.Demand.none
    private var waiting = CircularBuffer<Downstream.Input>()
    private var completion: Subscribers.Completion<FMRest.APIError>?
    private var worker = SoleWorker()

    init(_ run: BatchRun, _ sight: BatchSight<Downstream.Input>, _ downstream: Downstream) {
        self.run = run
        self.sight = sight
        self.downstream = downstream
    }

    var hasDemand: Bool { lock.withLock { demand > .none } }

    var room: Int? {
        guard case .rows = sight else { return nil }
        return lock.withLock { (demand.max ?? .max) - waiting.count }
    }

    func request(_ demand: Subscribers.Demand) {
        precondition(demand > .none, "A subscriber asks for at least one value")
        let isRunning = lock.withLock {
            self.demand += demand
            return downstream != nil
        }
        guard isRunning else { return }
        deliver()
        run.wants(self)
    }

    func cancel() {
        let isRunning = lock.withLock {
            defer {
                downstream = nil
                waiting.removeAll()
            }
            return downstream != nil
        }
        if isRunning { run.left(self) }
    }

    func came(_ row: DataAPI.BatchRow, _ summary: DataAPI.BatchSummary) {
        lock.withLock {
            guard downstream != nil else { return }
            switch sight {
            case .rows(let see): waiting.append(see(row))
            case .progress(let see):
                waiting.removeAll()
                waiting.append(see(summary))
            case .summary: break
            }
        }
        deliver()
    }

    func ended(_ summary: DataAPI.BatchSummary, _ completion: Subscribers.Completion<FMRest.APIError>) {
        lock.withLock {
            guard downstream != nil, self.completion == nil else { return }
            switch sight {
            case .rows: self.completion = completion
            case .progress(let see), .summary(let see):
                // What stopped it is in the summary.
                waiting.removeAll()
                waiting.append(see(summary))
                self.completion = .finished
            }
        }
        deliver()
    }

    private func deliver() {
        guard lock.withLock({ worker.start() }) else { return }
        while let (downstream, value) = next() {
            guard let value else { return downstream.receive(completion: lock.withLock { completion } ?? .finished) }
            let more = downstream.receive(value)
            if more > .none {
                lock.withLock { demand += more }
                run.wants(self)
            }
        }
    }

    /// What is to be delivered next: a value, or the end.
    private func next() -> (Downstream, Downstream.Input?)? {
        lock.withLock {
            guard let downstream else {
                worker.stop()
                return nil
            }
            if demand > .none, let value = waiting.popFirst() {
                demand -= 1
                return (downstream, value)
            }
            guard waiting.isEmpty, completion != nil else {
                worker.stop()
                return nil
            }
            self.downstream = nil
            return (downstream, nil)
        }
    }
}
