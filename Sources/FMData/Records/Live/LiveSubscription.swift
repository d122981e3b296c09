import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// The values of a live query for its subscribers: first those that follow from the stored state, if there is one, then
/// those of each later state, on demand. If a subscriber is slow, intermediate states are skipped, but never the
/// latest. Never finishes; fails when the query does.
struct LiveValues<R: RecordFields, News>: Publisher {
    typealias Output = TenuredNews<News>
    typealias Failure = FMRest.APIError

    /// The poller that all subscribers of equal queries share; created on the first demand.
    let poller: () -> LivePoller<R>
    /// The ids of the records that the subscribers know from an earlier run.
    var expected: [Int] = []
    /// Makes a transform for each subscription; it maps the first state, and then each later one, to values.
    let makeTransform: () -> (LiveState<R>) -> [News]

    func receive<Downstream: Subscriber<TenuredNews<News>, Failure>>(subscriber: Downstream) {
        subscriber.receive(
            subscription: LiveSubscription(poller, expected, makeTransform(), downstream: subscriber)
        )
    }
}

/// A value of a live query, with the tenure of the account that read it.
struct TenuredNews<News> {
    let news: News
    let tenure: Tenure?

    /// Whether the value may still be delivered: its account may have been replaced.
    var holds: Bool { tenure?.isOver != true }
}

extension Publisher where Failure == FMRest.APIError {
    /// Publishes the values that may still be delivered, and drops the others, however long they have been queued
    /// upstream.
    func asLongAsItHolds<News>() -> AnyPublisher<News, Failure> where Output == TenuredNews<News> {
        compactMap { $0.holds ? $0.news : nil }.eraseToAnyPublisher()
    }
}

/// A subscriber of a poller.
protocol LiveListener: AnyObject, Sendable {
    /// - Parameter version: the version of the current state.
    func wish(at version: Int) -> LiveWish
    /// There is a new state, or the query has failed.
    func offer()
}

/// What a subscriber of a live query wants at the moment.
enum LiveWish {
    /// It wants the next value.
    case wanted
    /// There is a value for which it has no demand yet.
    case undelivered
    /// It has received everything, and has no demand.
    case content
}

/// A subscription to a live query. It takes the states it has not processed from the poller, and delivers one value at
/// a time, on the thread that brought the state or the demand.
private final class LiveSubscription<R: RecordFields, News, Downstream: Subscriber>: Subscription, LiveListener,
    @unchecked Sendable
where Downstream.Input == TenuredNews<News>, Downstream.Failure == FMRest.APIError {
    // @unchecked: `lock` guards every `var`; the delivering thread calls the subscriber and the transform outside of
    // the lock.
    private let lock = NIOLock()
    private var makePoller: (() -> LivePoller<R>)?
    private var poller: LivePoller<R>?
    private var id: LivePoller<R>.ListenerID?
    private let expected: [Int]
    private var tell: ((LiveState<R>) -> [News])?
    private var downstream: Downstream?
    private var demand = Subscribers.Demand.none
    /// The last state that was passed to the transform.
    private var last: LiveState<R>?
    /// Its values that were not delivered yet.
    private var pending = CircularBuffer<Downstream.Input>()
    private var worker = SoleWorker()
    /// Whether something arrived during the delivery.
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
        // Releasing the subscriber may run any code, so it must not happen under the lock.
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
        /// The value was read as an account that was replaced since.
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
            // Outside of the lock, because the poller has its own.
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
        // Another thread brought something during the delivery and left it to this one.
        if isOffered, downstream != nil { return .again }
        worker.stop()
        return .rest
    }

    /// Whether the transform needs this state. A blank state matters only to a subscriber that received records before.
    private func isToBeTold(_ state: LiveState<R>) -> Bool {
        state.version > last?.version ?? 0 && state.tenure?.isOver != true && !(state.isBlank && last == nil)
    }

    /// The blank state between two accounts, if the subscriber was too slow to receive it. It must be delivered before
    /// `state`, whose values do not continue those of the previous account.
    private func missedReset(before state: LiveState<R>) -> LiveState<R>? {
        guard let last, !last.isBlank, !state.isBlank, let tenure = state.tenure, last.tenure !== tenure else {
            return nil
        }
        return last.begunAnew(in: tenure)
    }

    /// Returns what must be released outside of the lock.
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
