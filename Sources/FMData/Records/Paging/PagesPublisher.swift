import FMHTTP
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Items of a found set, those of one page, and the progress up to them.
struct ItemPage<Item> {
    let items: [Item]
    let progress: DataAPI.PagingProgress
    /// The date of the last answer that had one, by the host's clock.
    var date: Date?
}

/// An answer with its items.
struct FetchedPage<Item> {
    /// The items; if items were requested, as many as ``PageAnswer/ids``.
    var items: [Item] = []
    var answer: PageAnswer
    /// The length of the answer's text.
    var bytes = 0
    /// The time from the request, when it had its session, to the answer's last byte.
    var took = TimeAmount.zero
    /// The date of the answer, by the host's clock.
    var date: Date?
}

/// Publishes pages, each when it is asked for, with one request after the other. Between requests it holds no session,
/// and it keeps no items of a page that was published.
struct PagesPublisher<Item>: Publisher {
    typealias Output = ItemPage<Item>
    typealias Failure = FMRest.APIError

    let strategy: any PagingStrategy
    let sizes: PageSizeMemory
    /// Whether the pages belong to a poll of a live query. Such a poll is repeated as a whole when no answer comes.
    var isPoll = false
    /// Sends one request, or none.
    let fetch: (PageQuestion) -> AnyPublisher<FetchedPage<Item>, FMRest.APIError>
    /// Receives the drift, for the log.
    let log: ([DataAPI.PageDrift]) -> Void
    /// Turns a paging failure into the error that the subscriber receives.
    let error: (PagingFailure) -> FMRest.APIError

    func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    /// A subscriber and a request may call in at the same time, so a caller that finds another one working only changes
    /// the machine's state and returns.
    private final class Inner: Subscription, @unchecked Sendable {
        // @unchecked: `lock` guards every `var`. `items` are those of the last answer that the machine took; it asks
        // for no other answer before they are published.
        private let lock = NIOLock()
        private var machine: PagingStateMachine
        private var source: PagesPublisher?
        private var downstream: (any Subscriber<Output, FMRest.APIError>)?
        private var items: [Item] = []
        private var date: Date?
        private var failure: FMRest.APIError?
        private var call: Call?
        private var worker = SoleWorker()

        init(_ source: PagesPublisher, downstream: any Subscriber<Output, FMRest.APIError>) {
            self.source = source
            self.downstream = downstream
            machine = PagingStateMachine(source.strategy, size: source.sizes.size)
        }

        // MARK: Downstream

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            lock.withLock { machine.requested(demand) }
            work()
        }

        func cancel() {
            let remains = letGo()
            remains.call?.cancel()
            // The deinitialization of what is released may run any code, so it happens outside the lock.
            withExtendedLifetime(remains) {}
        }

        // MARK: Requests

        fileprivate func ended(_ result: Result<FetchedPage<Item>, FMRest.APIError>) {
            let (log, drift) = lock.withLock { (self.source?.log, self.lockedTake(result)) }
            if !drift.isEmpty { log?(drift) }
            work()
        }

        private func lockedTake(_ result: Result<FetchedPage<Item>, FMRest.APIError>) -> [DataAPI.PageDrift] {
            guard let source else { return [] }
            call = nil
            switch result {
            case .success(let page):
                let drift = machine.received(page.answer, bytes: page.bytes, took: page.took)
                items = page.items
                date = page.date ?? date
                source.sizes.learned(machine.size)
                return drift
            case .failure(let error):
                machine.failed(isTooMuch: error.meansTooMuch(inPoll: source.isPoll))
                failure = error
                return []
            }
        }

        // MARK: Work

        private enum Turn {
            case call(Call, of: PagesPublisher, PageQuestion)
            case publish(ItemPage<Item>, to: any Subscriber<Output, FMRest.APIError>)
            case end(Subscribers.Completion<FMRest.APIError>)
            case rest
        }

        private func work() {
            guard lock.withLock({ worker.start() }) else { return }
            while true {
                switch lock.withLock({ lockedTurn() }) {
                case .call(let call, let source, let question):
                    source.fetch(question).subscribe(call)
                case .publish(let page, let downstream):
                    let more = downstream.receive(page)
                    if more > .none { lock.withLock { machine.requested(more) } }
                case .end(let completion):
                    letGo().downstream?.receive(completion: completion)
                    return
                case .rest:
                    return
                }
            }
        }

        private func lockedTurn() -> Turn {
            guard let downstream, let source else { return .rest }
            switch machine.next() {
            case .ask(let question):
                let call = Call(inner: self)
                self.call = call
                return .call(call, of: source, question)
            case .publish(let rows, let progress):
                let items = self.items
                self.items = []
                let isWhole = rows.elementsEqual(items.indices)
                return .publish(
                    ItemPage(items: isWhole ? items : rows.map { items[$0] }, progress: progress, date: date),
                    to: downstream
                )
            case .end(.finished):
                return .end(.finished)
            case .end(.failed):
                return .end(.failure(failure ?? FMRest.APIError(.noValue, reason: "A page did not come.")))
            case .end(.impossible(let failure)):
                return .end(.failure(source.error(failure)))
            case .rest:
                worker.stop()
                return .rest
            }
        }

        private struct Remains {
            let source: PagesPublisher?
            let downstream: (any Subscriber<Output, FMRest.APIError>)?
            let items: [Item]
            let call: Call?
        }

        private func letGo() -> Remains {
            lock.withLock {
                defer {
                    source = nil
                    downstream = nil
                    items = []
                    failure = nil
                    call = nil
                }
                return Remains(source: source, downstream: downstream, items: items, call: call)
            }
        }
    }

    /// The subscriber of one request, which has one answer.
    private final class Call: Subscriber, Cancellable, @unchecked Sendable {
        // @unchecked: `lock` guards the variables.
        typealias Input = FetchedPage<Item>
        typealias Failure = FMRest.APIError

        private let lock = NIOLock()
        private let inner: Inner
        private var subscription: (any Subscription)?
        private var page: Input?
        private var isOver = false

        init(inner: Inner) {
            self.inner = inner
        }

        func receive(subscription: any Subscription) {
            let isWanted = lock.withLock {
                guard !isOver, self.subscription == nil else { return false }
                self.subscription = subscription
                return true
            }
            if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
        }

        func receive(_ page: Input) -> Subscribers.Demand {
            lock.withLock { self.page = page }
            return .none
        }

        /// Reports the result after the request has ended, so that its session is free before the next request asks for
        /// one.
        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            let (page, wasOver) = lock.withLock {
                defer { lockedEnd() }
                return (self.page, isOver)
            }
            guard !wasOver else { return }
            switch (completion, page) {
            case (.failure(let error), _): inner.ended(.failure(error))
            case (.finished, let page?): inner.ended(.success(page))
            case (.finished, nil):
                inner.ended(.failure(FMRest.APIError(.noValue, reason: "The server's answer brought no page.")))
            }
        }

        func cancel() {
            let subscription = lock.withLock {
                defer { lockedEnd() }
                return self.subscription
            }
            subscription?.cancel()
        }

        private func lockedEnd() {
            isOver = true
            subscription = nil
            page = nil
        }
    }
}

extension FMRest.APIError {
    /// Whether the request may have asked for too much: the server had begun to answer when the time limit passed, or
    /// it sent more than is allowed.
    ///
    /// - Parameter isPoll: whether the request belongs to a poll of a live query. For a poll, no answer is no evidence
    ///   of too much: smaller pages would wait five times for a host that is down, one lost answer would make pages
    ///   small and count as work of the host, and a poll is repeated anyway, with a longer retry timeout.
    fileprivate func meansTooMuch(inPoll isPoll: Bool) -> Bool {
        switch (code, transportError?.outcome) {
        case (.responseTooLarge, _), (.timeout, .answered): true
        case (.timeout, .unknown): !isPoll
        default: false
        }
    }
}
