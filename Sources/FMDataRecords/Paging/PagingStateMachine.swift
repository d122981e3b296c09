import FMDataCore
import NIOCore
import OpenCombine

/// Decides when the next page is requested, how large it is, and which rows of it are published. Events go in and
/// actions come out. ``PagesPublisher`` runs it; a ``PagingStrategy`` chooses what to ask.
///
///     requested → ask → received → publish → … → end
///                  ↑       |  a step back, an empty window, the end of a range: nothing to publish
///                  +-------+  too slow: the same for half as many
struct PagingStateMachine: Sendable {
    enum Action: Hashable, Sendable {
        case ask(PageQuestion)
        /// These rows of the last answer.
        case publish(rows: [Int], DataAPI.PagingProgress)
        /// The last action.
        case end(End)
    }

    enum End: Hashable, Sendable {
        case finished
        /// With the last failure.
        case failed
        case impossible(PagingFailure)
    }

    private enum State {
        /// → asking
        case idle
        /// → idle, publishing, ending
        case asking(PageQuestion)
        /// → idle, ending
        case publishing(rows: [Int], DataAPI.PagingProgress, isLast: Bool)
        /// → over
        case ending(End)
        case over
    }

    private var state = State.idle
    private var strategy: any PagingStrategy
    private(set) var size: PageSize
    private var demand = Subscribers.Demand.none
    private var delivered = 0
    private var driftCount = 0
    /// The drift that no page has reported yet.
    private var drift: [DataAPI.PageDrift] = []
    private var hasPublished = false

    init(_ strategy: any PagingStrategy, size: PageSize) {
        self.strategy = strategy
        self.size = size
    }

    /// - Parameter demand: the number of pages.
    mutating func requested(_ demand: Subscribers.Demand) {
        self.demand += demand
    }

    /// Handles the answer to the last question.
    ///
    /// - Parameters:
    ///   - bytes: the length of its text.
    ///   - took: the time from the request to its last byte.
    /// - Returns: the drift, for the log.
    @discardableResult
    mutating func received(_ answer: PageAnswer, bytes: Int, took: TimeAmount) -> [DataAPI.PageDrift] {
        guard case .asking(let question) = state else { return [] }
        if question.isPage { size.learned(rows: answer.ids.count, of: question.limit, bytes: bytes, took: took) }
        do throws(PagingFailure) {
            let outcome = try strategy.received(answer, to: question)
            take(outcome, tableCount: answer.tableCount)
            return outcome.drift
        } catch {
            state = .ending(.impossible(error))
            return []
        }
    }

    /// Handles the failure of the last question.
    ///
    /// - Parameter isTooMuch: whether a smaller page might have come. Reading is safe to repeat.
    mutating func failed(isTooMuch: Bool) {
        guard case .asking(let question) = state else { return }
        state = isTooMuch && size.tooMuch(question.limit) ? .idle : .ending(.failed)
    }

    /// The next action; `nil` until the next event.
    mutating func next() -> Action? {
        switch state {
        case .idle:
            // The subscriber receives no page without records, so it may take several answers to meet its demand.
            guard demand > .none else { return nil }
            let question = strategy.question(size: size.current)
            state = .asking(question)
            return .ask(question)
        case .publishing(let rows, let progress, let isLast):
            demand -= 1
            state = isLast ? .ending(.finished) : .idle
            return .publish(rows: rows, progress)
        case .ending(let end):
            state = .over
            return .end(end)
        case .asking, .over:
            return nil
        }
    }

    private mutating func take(_ outcome: PageOutcome, tableCount: Int?) {
        drift += outcome.drift
        // An empty found set is published as a page, for subscribers that want to know the counts; so is a last page
        // with drift.
        let isPage = !outcome.rows.isEmpty || outcome.isLast && (!hasPublished || !drift.isEmpty)
        guard isPage else {
            state = outcome.isLast ? .ending(.finished) : .idle
            return
        }
        hasPublished = true
        delivered += outcome.rows.count
        driftCount += drift.count
        let progress = DataAPI.PagingProgress(
            delivered: delivered,
            total: strategy.total,
            drift: drift,
            driftCount: driftCount,
            withoutKey: strategy.withoutKey,
            tableCount: tableCount
        )
        drift = []
        state = .publishing(rows: outcome.rows, progress, isLast: outcome.isLast)
    }
}
