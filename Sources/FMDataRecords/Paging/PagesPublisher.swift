package import FMDataCore
import FMHTTP
package import Foundation
import NIOCore
package import OpenCombine

/// Items of a found set, those of one page, and the progress up to them.
package struct ItemPage<Item> {
    package let items: [Item]
    package let progress: DataAPI.PagingProgress
    /// The date of the last answer that had one, by the host's clock.
    package var date: Date?
}

/// An answer with its items.
package struct FetchedPage<Item> {
    /// The items; if items were requested, as many as ``PageAnswer/ids``.
    package var items: [Item] = []
    package var answer: PageAnswer
    /// The length of the answer's text.
    var bytes = 0
    /// The time from the request, when it had its session, to the answer's last byte.
    var took = TimeAmount.zero
    /// The date of the answer, by the host's clock.
    package var date: Date?
}

/// Publishes pages, each when it is asked for, with one request after the other. Between requests it holds no session,
/// and it keeps no items of a page that was published.
package struct PagesPublisher<Item>: MachinePublisher {
    package typealias Output = ItemPage<Item>
    package typealias Failure = FMRest.APIError

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

    package init(
        strategy: any PagingStrategy,
        sizes: PageSizeMemory,
        isPoll: Bool = false,
        fetch: @escaping (PageQuestion) -> AnyPublisher<FetchedPage<Item>, FMRest.APIError>,
        log: @escaping ([DataAPI.PageDrift]) -> Void,
        error: @escaping (PagingFailure) -> FMRest.APIError
    ) {
        self.strategy = strategy
        self.sizes = sizes
        self.isPoll = isPoll
        self.fetch = fetch
        self.log = log
        self.error = error
    }

    package var machine: PagesMachine<Item> {
        PagesMachine(PagingStateMachine(strategy, size: sizes.size), error: error)
    }

    package func carryOut(_ question: PageQuestion, in subscription: MachineSubscription<Self>) {
        let call = ResultSubscriber<FetchedPage<Item>, FMRest.APIError> { result in
            subscription.ended()
            take(
                result ?? .failure(FMRest.APIError(.noValue, reason: "The server's answer brought no page.")),
                subscription
            )
        }
        if subscription.begin(call) { fetch(question).subscribe(call) }
    }

    private func take(
        _ result: Result<FetchedPage<Item>, FMRest.APIError>,
        _ subscription: MachineSubscription<Self>
    ) {
        switch result {
        case .success(let page):
            let drift = subscription.change { machine in
                let drift = machine.received(page)
                sizes.learned(machine.size)
                return drift
            }
            if let drift, !drift.isEmpty { log(drift) }
        case .failure(let error):
            subscription.change { $0.failed(error, isTooMuch: error.meansTooMuch(inPoll: isPoll)) }
        }
        subscription.go()
    }
}

/// A ``PagingStateMachine`` with the items of the answers: those of the last answer that it took; it asks for no other
/// answer before they are published.
package struct PagesMachine<Item>: SubscriptionMachine {
    package typealias Output = ItemPage<Item>
    package typealias Failure = FMRest.APIError
    package typealias Work = PageQuestion
    package typealias Action = SubscriptionAction<Output, Failure, Work>

    private var machine: PagingStateMachine
    /// Turns a paging failure into the error that the subscriber receives.
    private let error: (PagingFailure) -> FMRest.APIError
    private var items: [Item] = []
    private var date: Date?
    private var failure: FMRest.APIError?

    init(_ machine: PagingStateMachine, error: @escaping (PagingFailure) -> FMRest.APIError) {
        self.machine = machine
        self.error = error
    }

    var size: PageSize { machine.size }

    package mutating func requested(_ demand: Subscribers.Demand) { machine.requested(demand) }

    /// Returns the drift, for the log.
    mutating func received(_ page: FetchedPage<Item>) -> [DataAPI.PageDrift] {
        items = page.items
        date = page.date ?? date
        return machine.received(page.answer, bytes: page.bytes, took: page.took)
    }

    mutating func failed(_ error: FMRest.APIError, isTooMuch: Bool) {
        machine.failed(isTooMuch: isTooMuch)
        failure = error
    }

    package mutating func next() -> Action? {
        switch machine.next() {
        case .ask(let question): .work(question)
        case .publish(let rows, let progress): .value(page(rows, progress))
        case .end(.finished): .end(.finished)
        case .end(.failed):
            .end(.failure(failure ?? FMRest.APIError(.noValue, reason: "A page did not come.")))
        case .end(.impossible(let failure)): .end(.failure(error(failure)))
        case nil: nil
        }
    }

    private mutating func page(_ rows: [Int], _ progress: DataAPI.PagingProgress) -> Output {
        defer { items = [] }
        let isWhole = rows.elementsEqual(items.indices)
        return ItemPage(items: isWhole ? items : rows.map { items[$0] }, progress: progress, date: date)
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
