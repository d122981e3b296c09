import FMDataCore

/// Reads page after page by ranges of a serial number. No page depends on the page before. The server sorts only to
/// find the two ends, and within a window that has more records than a page.
struct WindowPaging: PagingStrategy {
    private enum Stage: Hashable {
        case counting
        case findingLeast
        case findingGreatest(least: Int)
        case reading(next: Int, greatest: Int)
        /// The window has more records than a page.
        case sorting(ClosedRange<Int>, greatest: Int)
    }

    package private(set) var total: Int?
    package private(set) var withoutKey: Int?

    private var stage = Stage.counting
    /// The number of all records, with or without a number.
    private var everyone: Int?
    /// The estimated number of serial numbers per record, from the windows so far: the next window is this many times
    /// as wide as a page.
    private var stretch = 1
    /// Whether the last answer was empty, so that the same question is asked once more.
    private var isConfirming = false
    /// Whether the next window begins with the last record that came.
    private var overlaps = false
    private var known: KnownRecords
    private var delivered = 0

    init(known: KnownRecords = KnownRecords()) {
        self.known = known
    }

    func question(size: Int) -> PageQuestion {
        switch stage {
        case .counting:
            return PageQuestion(selection: .count, limit: 1)
        case .findingLeast:
            return PageQuestion(selection: .least, limit: 1)
        case .findingGreatest:
            return PageQuestion(selection: .greatest, limit: 1)
        case .reading(let next, let greatest):
            let width = size.multipliedReportingOverflow(by: stretch)
            let end = next.addingReportingOverflow(width.overflow ? .max : width.partialValue - 1)
            let window = next...max(next, end.overflow ? greatest : min(greatest, end.partialValue))
            return PageQuestion(selection: .window(window), limit: size + 1)
        case .sorting(let window, _):
            let (from, through) = (FMNumber(window.lowerBound), FMNumber(window.upperBound))
            return PageQuestion(selection: .sorted(from: .number(from), through: .number(through)), limit: size + 1)
        }
    }

    mutating func received(_ answer: PageAnswer, to question: PageQuestion) throws(PagingFailure) -> PageOutcome {
        var outcome = try taken(answer, to: question)
        delivered += outcome.rows.count
        if outcome.isLast { outcome.drift += DataAPI.PageDrift.missing(delivered, of: total) }
        return outcome
    }

    private mutating func taken(
        _ answer: PageAnswer,
        to question: PageQuestion
    ) throws(PagingFailure) -> PageOutcome {
        if case .counting = stage {
            everyone = answer.foundCount
            stage = .findingLeast
            guard answer.ids.isEmpty else { return PageOutcome() }
            (total, withoutKey) = (everyone, everyone)
            return PageOutcome(isLast: true)
        }
        // An empty answer may be a gap, but it could also be wrong, so ask once more.
        isConfirming = answer.ids.isEmpty && !isConfirming
        if isConfirming { return PageOutcome() }
        switch stage {
        case .counting:
            return PageOutcome()
        case .findingLeast:
            total = answer.foundCount
            withoutKey = everyone.flatMap { everyone in total.map { max(0, everyone - $0) } }
            guard let least = try serial(answer) else { return PageOutcome(isLast: true) }
            stage = .findingGreatest(least: least)
            return PageOutcome()
        case .findingGreatest(let least):
            // All numbered records may have been deleted since the least number was found.
            guard let greatest = try serial(answer), greatest >= least else { return PageOutcome(isLast: true) }
            stage = .reading(next: least, greatest: greatest)
            return PageOutcome()
        case .reading(_, let greatest):
            guard case .window(let window) = question.selection else { return PageOutcome() }
            guard !hasMore(answer, question) else {
                stage = .sorting(window, greatest: greatest)
                return PageOutcome()
            }
            widen(after: answer.ids.count, pageSize: question.limit - 1)
            return take(answer, through: window.upperBound, greatest)
        case .sorting(let window, let greatest):
            return try takeSorted(answer, question, window, greatest)
        }
    }

    private func hasMore(_ answer: PageAnswer, _ question: PageQuestion) -> Bool {
        answer.ids.count >= question.limit && answer.foundCount ?? .max > answer.ids.count
    }

    /// Publishes the records of a window and continues behind it.
    private mutating func take(_ answer: PageAnswer, through end: Int, _ greatest: Int) -> PageOutcome {
        if end < greatest { stage = .reading(next: end + 1, greatest: greatest) }
        // A known id here means its serial number changed between two windows, unless this window was read again on
        // purpose.
        let again = overlaps ? [] : answer.ids.filter(known.contains)
        overlaps = false
        return PageOutcome(
            rows: known.takeNew(of: answer.ids),
            drift: again.isEmpty ? [] : [DataAPI.PageDrift(.repeated, recordIds: again)],
            isLast: end >= greatest
        )
    }

    /// Publishes the first page of a window that has more records, and continues where the page ends.
    private mutating func takeSorted(
        _ answer: PageAnswer,
        _ question: PageQuestion,
        _ window: ClosedRange<Int>,
        _ greatest: Int
    ) throws(PagingFailure) -> PageOutcome {
        guard hasMore(answer, question) else { return take(answer, through: window.upperBound, greatest) }
        guard let end = (answer.keys.last ?? nil)?.number?.int else { throw .serialNotWhole }
        // After a gap, nothing is known about the records that follow; otherwise the estimate was a little too high.
        stretch = stretch > 16 ? 1 : max(1, stretch / 2)
        // Begin with the last number, not after it: another record may have the same number.
        stage = .reading(next: max(end, window.lowerBound), greatest: greatest)
        overlaps = true
        let rows = known.takeNew(of: answer.ids)
        guard !rows.isEmpty else { throw .keyNotUnique }
        return PageOutcome(rows: rows)
    }

    private mutating func widen(after rows: Int, pageSize: Int) {
        func times(_ factor: Int) -> Int {
            let product = stretch.multipliedReportingOverflow(by: factor)
            return product.overflow ? .max : product.partialValue
        }
        if rows == 0 {
            stretch = times(4)
        } else if rows < pageSize * 2 / 5 {
            stretch = times(2)
        }
    }

    /// The whole number at one end of the table, which must be in a number field; `nil` when no record has one.
    private func serial(_ answer: PageAnswer) throws(PagingFailure) -> Int? {
        guard !answer.ids.isEmpty else { return nil }
        guard case .number(let number)? = answer.keys.last ?? nil, let serial = number.int else {
            throw .serialNotWhole
        }
        return serial
    }
}
