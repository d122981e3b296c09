public import FMDataCore
import FMDataRecords
import NIOCore
import OpenCombine

/// The values of a live query for its subscribers: first those that follow from the stored state, if there is one, then
/// those of each later state, on demand. If a subscriber is slow, intermediate states are skipped, but never the
/// latest. Never finishes; fails when the query does.
struct LiveValues<R: RecordFields, News>: MachinePublisher {
    typealias Output = AccountPeriodNews<News>
    typealias Failure = FMRest.APIError

    /// The poller that all subscribers of equal queries share; created on the first demand.
    let poller: () -> LivePoller<R>
    /// The ids of the records that the subscribers know from an earlier run.
    var expected: [Int] = []
    /// Makes a transform for each subscription; it maps the first state, and then each later one, to values.
    let makeTransform: () -> (LiveState<R>) -> [News]

    var machine: LiveMachine<R, News> { LiveMachine(makeTransform()) }

    func begin(_ subscription: MachineSubscription<Self>) {
        let poller = poller()
        let place = LivePlace(poller: poller, id: poller.add(subscription, expecting: expected))
        guard subscription.begin(place) else { return place.cancel() }
        subscription.change { $0.joined(at: place) }
    }

    func carryOut(_ work: LiveMachine<R, News>.Work, in subscription: MachineSubscription<Self>) {
        switch work {
        case .look(let place):
            let present = place.poller.present(to: place.id)
            let old = subscription.change { $0.presented(present.state, present.failure) }
            // Records are of the user's types, whose code may run when they are released: not under the lock.
            withExtendedLifetime(old) {}
        case .tell(let state, let transform, let before):
            let news = transform(state).map { AccountPeriodNews(news: $0, accountPeriod: state.accountPeriod) }
            subscription.change { $0.told(news) }
            withExtendedLifetime(before) {}
        case .drop(let value): withExtendedLifetime(value) {}
        case .wish(let place): place.poller.wishesChanged()
        }
    }
}

/// A value of a live query, with the account period in which it was read.
struct AccountPeriodNews<News> {
    let news: News
    let accountPeriod: AccountPeriod?

    /// Whether the value may still be delivered: its account may have been replaced.
    var holds: Bool { accountPeriod?.isOver != true }
}

extension Publisher where Failure == FMRest.APIError {
    /// Publishes the values that may still be delivered, and drops the others, however long they have been queued
    /// upstream.
    func asLongAsItHolds<News>() -> AnyPublisher<News, Failure> where Output == AccountPeriodNews<News> {
        compactMap { $0.holds ? $0.news : nil }.eraseToAnyPublisher()
    }
}

/// A subscriber of a poller.
protocol PollerSubscriber: AnyObject, Sendable {
    /// - Parameter changeCount: that of the current state.
    func wish(at changeCount: Int) -> LiveWish
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

/// Decides what a subscriber of a live query receives: it looks at the states that it has not processed, and delivers
/// one value at a time.
struct LiveMachine<R: RecordFields, News>: SubscriptionMachine {
    typealias Output = AccountPeriodNews<News>
    typealias Failure = FMRest.APIError
    typealias Action = SubscriptionAction<Output, Failure, Work>
    typealias Transform = (LiveState<R>) -> [News]

    enum Work {
        /// Report the poller's state with ``LiveMachine/presented(_:_:)``.
        case look(LivePlace<R>)
        /// Report the values of this state with ``LiveMachine/told(_:)``. The state before it is released here.
        case tell(LiveState<R>, Transform, before: LiveState<R>?)
        /// Release the value: it was read as an account that was replaced since.
        case drop(Output)
        /// Report to the poller that the demand has changed.
        case wish(LivePlace<R>)
    }

    private let transform: Transform
    /// `nil` before the subscriber is a listener.
    private var place: LivePlace<R>?
    private var demand = Subscribers.Demand.none
    /// Whether there is something to look at.
    private var isOffered = false
    private var hasNewWish = false
    /// The state that was seen last, unless it was passed to the transform.
    private var present: LiveState<R>?
    /// Why the query has failed.
    private var failure: FMRest.APIError?
    /// The last state that was passed to the transform.
    private var last: LiveState<R>?
    /// Its values that were not delivered yet.
    private var pending = CircularBuffer<Output>()
    private var isOver = false

    init(_ transform: @escaping Transform) { self.transform = transform }

    // MARK: Events

    mutating func requested(_ demand: Subscribers.Demand) {
        self.demand += demand
        isOffered = true
        hasNewWish = true
    }

    mutating func delivered(_ more: Subscribers.Demand) { demand += more }

    mutating func joined(at place: LivePlace<R>) { self.place = place }

    /// There is a new state, or the query has failed.
    mutating func offered() { isOffered = true }

    /// Returns what must be released outside of the lock.
    mutating func presented(_ state: LiveState<R>, _ failure: FMRest.APIError?) -> LiveState<R>? {
        self.failure = failure
        defer { present = state }
        return present
    }

    mutating func told(_ news: [Output]) { pending.append(contentsOf: news) }

    /// - Parameter changeCount: that of the current state.
    func wish(at changeCount: Int) -> LiveWish {
        demand > .none ? .wanted : last?.changeCount ?? 0 < changeCount || !pending.isEmpty ? .undelivered : .content
    }

    // MARK: Actions

    mutating func next() -> Action? {
        guard !isOver, let place else { return nil }
        if isOffered {
            isOffered = false
            return .work(.look(place))
        }
        if let first = pending.first, !first.holds { return .work(.drop(pending.removeFirst())) }
        if demand > .none, let value = pending.popFirst() {
            demand -= 1
            return .value(value)
        }
        if demand > .none, let state = present, isToBeTold(state) {
            let next = missedReset(before: state) ?? state
            defer { last = next }
            return .work(.tell(next, transform, before: last))
        }
        if let failure {
            isOver = true
            return .end(.failure(failure))
        }
        guard hasNewWish else { return nil }
        hasNewWish = false
        return .work(.wish(place))
    }

    /// Whether the transform needs this state. A blank state matters only to a subscriber that received records before.
    private func isToBeTold(_ state: LiveState<R>) -> Bool {
        state.changeCount > last?.changeCount ?? 0 && state.accountPeriod?.isOver != true
            && !(state.isBlank && last == nil)
    }

    /// The blank state between two accounts, if the subscriber was too slow to receive it. It must be delivered before
    /// `state`, whose values do not continue those of the previous account.
    private func missedReset(before state: LiveState<R>) -> LiveState<R>? {
        guard let last, !last.isBlank, !state.isBlank, let accountPeriod = state.accountPeriod,
            last.accountPeriod !== accountPeriod
        else {
            return nil
        }
        return last.begunAnew(in: accountPeriod)
    }
}

/// A listener of a poller is a subscription with such a machine.
protocol ListeningMachine: SubscriptionMachine {
    func wish(at changeCount: Int) -> LiveWish
    mutating func offered()
}

extension LiveMachine: ListeningMachine {}

extension MachineSubscription: PollerSubscriber where Machine: ListeningMachine {
    func wish(at changeCount: Int) -> LiveWish { change { $0.wish(at: changeCount) } ?? .content }
    func offer() { tell { $0.offered() } }
}

/// The place of a listener at its poller.
struct LivePlace<R: RecordFields>: Cancellable {
    let poller: LivePoller<R>
    let id: LivePoller<R>.ListenerID

    func cancel() { poller.remove(id) }
}
