import FMHTTP
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Some of the items of a found set, those of a page, and how far that is.
struct ItemPage<Item> {
    let items: [Item]
    let progress: DataAPI.PagingProgress
    /// When the host gave the last answer with a date, by its own clock.
    var date: Date?
}

/// An answer with what is in it.
struct FetchedPage<Item> {
    /// As many as ``PageAnswer/ids``, where items are asked for.
    var items: [Item] = []
    var answer: PageAnswer
    /// Of the answer's text.
    var bytes = 0
    /// From the request, when it had its session, to the last byte.
    var took = TimeAmount.zero
    /// When the host answered, by its own clock.
    var date: Date?
}

/// Publishes pages, each when it is asked for, one call to the server after the other. Between them it holds no session, and of
/// a page it keeps nothing once it has passed it on.
struct PagesPublisher<Item>: Publisher {
    typealias Output = ItemPage<Item>
    typealias Failure = FMRest.APIError

    let strategy: any PagingStrategy
    let sizes: PageSizeMemory
    /// Whether the pages are those of a live query's poll, which is made again as a whole when no answer comes.
    var isPoll = false
    /// One call to the server, or none.
    let fetch: (PageQuestion) -> AnyPublisher<FetchedPage<Item>, FMRest.APIError>
    /// Is told what has moved.
    let log: ([DataAPI.PageDrift]) -> Void
    /// What a failure of paging is to the user.
    let error: (PagingFailure) -> FMRest.APIError

    func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    /// One side may call in while the other is being served, so that whoever finds somebody at work only leaves a note in the
    /// machine.
    private final class Inner: Subscription, @unchecked Sendable {
        // @unchecked: `lock` guards every `var`; `items` are those of the answer that the machine took last, which has no other
        // before they are published.
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

        // MARK: From downstream

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            lock.withLock { machine.requested(demand) }
            work()
        }

        func cancel() {
            let remains = letGo()
            remains.call?.cancel()
            // What is let go may be deinitialised here, which may run anything, so not under the lock.
            withExtendedLifetime(remains) {}
        }

        // MARK: From a call

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

    /// The subscriber of one call, which has one value.
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

        /// After the end of the call, so that its session is free before the next one is asked for.
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
    /// Whether less might have come: the server was at it when a time limit struck, or sent more than it may.
    ///
    /// - Parameter isPoll: of a live query. There silence is no evidence of too much: a host that is dead would be waited for five
    ///   times, one answer that was lost would make pages small and count as work of the host, and a poll is repeated anyway,
    ///   with more patience.
    fileprivate func meansTooMuch(inPoll isPoll: Bool) -> Bool {
        switch (code, transportError?.outcome) {
        case (.responseTooLarge, _), (.timeout, .answered): true
        case (.timeout, .unknown): !isPoll
        default: false
        }
    }
}
