import NIOCore
import OpenCombine

/// What decides when the next page is asked for, how large it is, and what of it is published: events in, steps out. The shell
/// around it is ``PagesPublisher``; how the found set is gone through is a ``PagingStrategy``.
///
///     requested → ask → received → publish → … → end
///                  ↑       |  a step back, an empty window, the end of a range: nothing to publish
///                  +-------+  too slow: the same for half as many
struct PagingStateMachine: Sendable {
    enum Step: Hashable, Sendable {
        case ask(PageQuestion)
        /// These rows of the answer that came last.
        case publish(rows: [Int], DataAPI.PagingProgress)
        /// The last step.
        case end(End)
        case rest
    }

    enum End: Hashable, Sendable {
        case finished
        /// With the failure that came last.
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
    /// What no page has told of so far.
    private var drift: [DataAPI.PageDrift] = []
    private var hasPublished = false

    init(_ strategy: any PagingStrategy, size: PageSize) {
        self.strategy = strategy
        self.size = size
    }

    /// - Parameter demand: pages.
    mutating func requested(_ demand: Subscribers.Demand) {
        self.demand += demand
    }

    /// The answer to what was asked has come.
    ///
    /// - Parameters:
    ///   - bytes: of its text.
    ///   - took: from the request to its last byte.
    /// - Returns: what has moved, for the log.
    @discardableResult
    mutating func received(_ answer: PageAnswer, bytes: Int, took: TimeAmount) -> [DataAPI.PageDrift] {
        guard case .asking(let question) = state else { return [] }
        if question.isPage { size.learned(rows: answer.ids.count, of: question.limit, bytes: bytes, took: took) }
        do throws(PagingFailure) {
            let verdict = try strategy.received(answer, to: question)
            take(verdict, tableCount: answer.tableCount)
            return verdict.drift
        } catch {
            state = .ending(.impossible(error))
            return []
        }
    }

    /// What was asked came to nothing.
    ///
    /// - Parameter isTooMuch: whether it might come if it was less. Reading is safe to repeat.
    mutating func failed(isTooMuch: Bool) {
        guard case .asking(let question) = state else { return }
        state = isTooMuch && size.tooMuch(question.limit) ? .idle : .ending(.failed)
    }

    /// What to do next. It is asked again and again until it says ``Step/rest``.
    mutating func next() -> Step {
        switch state {
        case .idle:
            // A page without records is none to the subscriber, so it may take several answers until demand is met.
            guard demand > .none else { return .rest }
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
            return .rest
        }
    }

    private mutating func take(_ verdict: PageVerdict, tableCount: Int?) {
        drift += verdict.drift
        // An empty set is a page, too, for those who want to know how many there are; and so is what moved at the end.
        let isPage = !verdict.rows.isEmpty || verdict.isLast && (!hasPublished || !drift.isEmpty)
        guard isPage else {
            state = verdict.isLast ? .ending(.finished) : .idle
            return
        }
        hasPublished = true
        delivered += verdict.rows.count
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
        state = .publishing(rows: verdict.rows, progress, isLast: verdict.isLast)
    }
}
