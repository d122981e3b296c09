import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// What a live query has to say: what follows from the state that is known when the subscriber first asks, if there is one, and
/// then from each later one, as far as it asks. States that it is too slow for are left out, the latest is not. Never finishes;
/// fails when the query does.
struct LiveNews<R: RecordFields, News>: Publisher {
    typealias Output = TenuredNews<News>
    typealias Failure = FMRest.APIError

    /// The poller that all subscribers of the same query share; asked for on the first demand.
    let poller: () -> LivePoller<R>
    /// The ids of the records that the subscribers know from an earlier run.
    var expected: [Int] = []
    /// Made for each subscription: what a state, and then each later one, is to its subscriber.
    let makeTeller: () -> (LiveState<R>) -> [News]

    func receive<Downstream: Subscriber<TenuredNews<News>, Failure>>(subscriber: Downstream) {
        subscriber.receive(
            subscription: LiveSubscription(poller, expected, makeTeller(), downstream: subscriber)
        )
    }
}

/// What a live query has to say, and as which account it was seen.
struct TenuredNews<News> {
    let news: News
    let tenure: Tenure?

    /// Whether it may be told. Queries outlast the accounts that look.
    var holds: Bool { tenure?.isOver != true }
}

extension Publisher where Failure == FMRest.APIError {
    /// What is told that may be, wherever it has waited until then.
    func asLongAsItHolds<News>() -> AnyPublisher<News, Failure> where Output == TenuredNews<News> {
        compactMap { $0.holds ? $0.news : nil }.eraseToAnyPublisher()
    }
}

/// What a poller tells.
protocol LiveListener: AnyObject, Sendable {
    /// - Parameter version: of the state that there is.
    func wish(at version: Int) -> LiveWish
    /// There is a new state, or the end.
    func offer()
}

/// What a subscriber of a live query wants at the moment.
enum LiveWish {
    /// It wants the next value.
    case wanted
    /// There is a value that it does not want yet.
    case undelivered
    /// It has had all, and wants no more.
    case content
}

/// One subscriber of a live query: it takes from the poller's state what it has not had, one value at a time, on the thread of
/// whoever brought the state or the demand.
private final class LiveSubscription<R: RecordFields, News, Downstream: Subscriber>: Subscription, LiveListener,
    @unchecked Sendable
where Downstream.Input == TenuredNews<News>, Downstream.Failure == FMRest.APIError {
    // @unchecked: `lock` guards every `var`; the subscriber and the teller are called by the one who delivers, outside of the lock.
    private let lock = NIOLock()
    private var makePoller: (() -> LivePoller<R>)?
    private var poller: LivePoller<R>?
    private var id: LivePoller<R>.ListenerID?
    private let expected: [Int]
    private var tell: ((LiveState<R>) -> [News])?
    private var downstream: Downstream?
    private var demand = Subscribers.Demand.none
    /// The last state that was told.
    private var last: LiveState<R>?
    /// What is to be said of it, and was not yet.
    private var pending = CircularBuffer<Downstream.Input>()
    private var worker = SoleWorker()
    /// Something came while it was delivering.
    private var isOffered = false

    init(
        _ makePoller: @escaping () -> LivePoller<R>,
        _ expected: [Int],
        _ tell: @escaping (LiveState<R>) -> [News],
        downstream: Downstream
    ) {
        self.makePoller = makePoller
        self.expected = expected
        self.tell = tell
        self.downstream = downstream
    }

    // MARK: From downstream

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        let make: (() -> LivePoller<R>)? = lock.withLock {
            self.demand += demand
            return makePoller.take()
        }
        if let make { join(make()) }
        offer()
        lock.withLock { poller }?.wishesChanged()
    }

    private func join(_ poller: LivePoller<R>) {
        let id = poller.add(self, expecting: expected)
        let isWanted = lock.withLock {
            guard downstream != nil else { return false }
            self.poller = poller
            self.id = id
            return true
        }
        if !isWanted { poller.remove(id) }
    }

    func cancel() {
        let left = lock.withLock { lockedLetGo() }
        if let id = left.id { left.poller?.remove(id) }
        // The subscriber may be deinitialised here, which may run anything, so not under the lock.
        withExtendedLifetime(left) {}
    }

    // MARK: From the poller

    func wish(at version: Int) -> LiveWish {
        lock.withLock {
            demand > .none ? .wanted : last?.version ?? 0 < version || !pending.isEmpty ? .undelivered : .content
        }
    }

    func offer() {
        let isFree = lock.withLock {
            isOffered = true
            return worker.start()
        }
        if isFree { deliver() }
    }

    // MARK: Delivery

    private enum Step {
        case value(Downstream, Downstream.Input)
        case tell(LiveState<R>, (LiveState<R>) -> [News])
        /// Was seen by an account that the database acts as no more.
        case drop(Downstream.Input)
        case failure(Downstream, FMRest.APIError, Left)
        case again
        case rest
    }

    private typealias Left = (
        downstream: Downstream?, poller: LivePoller<R>?, id: LivePoller<R>.ListenerID?, others: [Any?]
    )

    private func deliver() {
        while true {
            let (poller, id) = lock.withLock {
                isOffered = false
                return (self.poller, self.id)
            }
            // Outside of the lock: the poller has its own.
            let present = id.flatMap { poller?.present(to: $0) }
            switch lock.withLock({ lockedStep(present?.state, present?.failure) }) {
            case .value(let downstream, let value):
                let more = downstream.receive(value)
                if more > .none { lock.withLock { demand += more } }
            case .tell(let state, let tell):
                let news = tell(state).map { TenuredNews(news: $0, tenure: state.tenure) }
                lock.withLock { if downstream != nil { pending.append(contentsOf: news) } }
            case .drop(let value): withExtendedLifetime(value) {}
            case .failure(let downstream, let error, let left):
                downstream.receive(completion: .failure(error))
                return withExtendedLifetime(left) {}
            case .again: continue
            case .rest: return
            }
        }
    }

    private func lockedStep(_ state: LiveState<R>?, _ failure: FMRest.APIError?) -> Step {
        if let first = pending.first, !first.holds { return .drop(pending.removeFirst()) }
        if let downstream, demand > .none, let value = pending.popFirst() {
            demand -= 1
            return .value(downstream, value)
        }
        if let tell, demand > .none, let state, isToBeTold(state) {
            let next = missedReset(before: state) ?? state
            last = next
            return .tell(next, tell)
        }
        if let downstream, let failure { return .failure(downstream, failure, lockedLetGo()) }
        // Who came meanwhile has left it to this thread.
        if isOffered, downstream != nil { return .again }
        worker.stop()
        return .rest
    }

    /// That nothing is known any more is news to those alone who knew something.
    private func isToBeTold(_ state: LiveState<R>) -> Bool {
        state.version > last?.version ?? 0 && state.tenure?.isOver != true && !(state.isBlank && last == nil)
    }

    /// Who was too slow for the state in which nothing was known, between what one account has seen and what the next one
    /// sees, is told of it all the same: what follows does not lead on from what it knows.
    private func missedReset(before state: LiveState<R>) -> LiveState<R>? {
        guard let last, !last.isBlank, !state.isBlank, let tenure = state.tenure, last.tenure !== tenure else {
            return nil
        }
        return last.begunAnew(in: tenure)
    }

    /// Returns what is to be let go outside of the lock.
    private func lockedLetGo() -> Left {
        defer {
            downstream = nil
            poller = nil
            makePoller = nil
            tell = nil
            last = nil
            pending = []
            demand = .none
        }
        return (downstream, poller, id, [makePoller, tell, last, pending])
    }
}
