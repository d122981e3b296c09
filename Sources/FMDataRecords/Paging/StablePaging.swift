import FMDataCore

/// Reads page after page by key. The greatest key is requested first, and its kind decides how:
///
/// - **Numbers**: each page begins with the key that the page before ended with, so that its last row comes again,
///   unless it was deleted.
/// - **Texts**: FileMaker compares each word of a text with a bound, not the text, so that records would come again, or
///   not at all. In the order of the key, which does not change, records only come and go: a page is found by its place
///   in it, as ``OffsetPaging`` finds it.
struct StablePaging: PagingStrategy {
    private enum Stage: Sendable {
        case counting
        case bounding
        /// From one key to the greatest key at the beginning.
        case numbers(from: PageKey?, through: PageKey)
        case texts(OffsetPaging)
    }

    package private(set) var total: Int?
    package private(set) var withoutKey: Int?

    private var stage = Stage.counting
    /// The number of all records, with or without a key.
    private var everyone: Int?
    private var delivered = 0
    private var known: KnownRecords
    /// The number of extra rows to request, since those have come before.
    private var overlap = 0
    /// Whether the last answer was empty where a record was, so that the same question is asked once more.
    private var isConfirming = false

    init(known: KnownRecords = KnownRecords()) {
        self.known = known
    }

    func question(size: Int) -> PageQuestion {
        switch stage {
        case .counting: PageQuestion(selection: .count, limit: 1)
        case .bounding: PageQuestion(selection: .greatest, limit: 1)
        case .numbers(let from, let through):
            PageQuestion(
                selection: .sorted(from: from, through: through),
                limit: min(size + overlap, max(size, PageSize.range.upperBound))
            )
        case .texts(let places): places.question(size: size)
        }
    }

    mutating func received(_ answer: PageAnswer, to question: PageQuestion) throws(PagingFailure) -> PageOutcome {
        switch stage {
        case .counting:
            everyone = answer.foundCount
            stage = .bounding
            // A found set without records has no greatest key to request.
            guard answer.ids.isEmpty else { return PageOutcome() }
            (total, withoutKey) = (everyone, everyone)
            return PageOutcome(isLast: true)
        case .bounding:
            if isDoubtful(answer) { return PageOutcome() }
            total = answer.foundCount
            withoutKey = everyone.flatMap { everyone in total.map { max(0, everyone - $0) } }
            switch answer.keys.last ?? nil {
            case .number(let greatest)?: stage = .numbers(from: nil, through: .number(greatest))
            case .text?: stage = .texts(OffsetPaging(.byKey, known: known))
            case nil: return told(PageOutcome(isLast: true))
            }
            return PageOutcome()
        case .numbers(let from, let through):
            return told(try read(answer, question, from, through))
        case .texts(var places):
            // Only for the first page: later pages begin with a known row, so they notice an answer that is wrongly
            // empty.
            if delivered == 0, isDoubtful(answer) { return PageOutcome() }
            let outcome = try places.received(answer, to: question)
            stage = .texts(places)
            return told(outcome)
        }
    }

    /// Adds the rows of a page to the count. At the end, it reports that fewer came than were counted.
    private mutating func told(_ outcome: PageOutcome) -> PageOutcome {
        var outcome = outcome
        delivered += outcome.rows.count
        if outcome.isLast { outcome.drift += DataAPI.PageDrift.missing(delivered, of: total) }
        return outcome
    }

    private mutating func read(
        _ answer: PageAnswer,
        _ question: PageQuestion,
        _ from: PageKey?,
        _ through: PageKey
    ) throws(PagingFailure) -> PageOutcome {
        if isDoubtful(answer) { return PageOutcome() }
        if answer.ids.isEmpty { return PageOutcome(isLast: true) }
        let rows = known.takeNew(of: answer.ids)
        let isLast = question.isEnd(answer, newRows: rows.count)
        if !isLast {
            // The record type may declare the number as a text.
            guard let next = (answer.keys.last ?? nil)?.number else { throw .keyMissing }
            try goOn(from: .number(next), after: from, question, newRows: rows.count)
            stage = .numbers(from: .number(next), through: through)
        }
        return PageOutcome(
            rows: rows,
            drift: DataAPI.PageDrift.repeated(in: answer.ids, new: rows),
            isLast: isLast
        )
    }

    /// Whether an empty answer needs to be confirmed by asking once more: there were records, which may have been
    /// deleted.
    private mutating func isDoubtful(_ answer: PageAnswer) -> Bool {
        isConfirming = answer.ids.isEmpty && !isConfirming
        return isConfirming
    }

    private mutating func goOn(
        from next: PageKey,
        after from: PageKey?,
        _ question: PageQuestion,
        newRows: Int
    ) throws(PagingFailure) {
        // When a whole page has one key, the next page must be larger to get past it.
        let isStuck = next == from
        guard !isStuck || newRows > 0 || question.limit < PageSize.range.upperBound else { throw .keyNotUnique }
        overlap = isStuck ? question.limit : 1
    }
}
