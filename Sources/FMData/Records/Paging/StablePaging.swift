/// Page after page by key. What the keys are tells the greatest of them, which is asked for first:
///
/// - **Numbers**: each page begins with the key that the one before has ended with, so that its last row comes again, unless it
///   was deleted.
/// - **Texts**: FileMaker holds each word of a text against a bound, not the text, so that records would come again, or not at
///   all. In the order of the key, which does not change, records only come and go: a page is found by its place in it, as
///   ``OffsetPaging`` finds it.
struct StablePaging: PagingStrategy {
    private enum Stage: Sendable {
        case counting
        case bounding
        /// From one key to the greatest of the beginning.
        case numbers(from: PageKey?, through: PageKey)
        case texts(OffsetPaging)
    }

    private(set) var total: Int?
    private(set) var withoutKey: Int?

    private var stage = Stage.counting
    /// All records, whether they have a key or not.
    private var everyone: Int?
    private var delivered = 0
    private var known: KnownRecords
    /// Rows to ask for beside those of a page, since they have come before.
    private var overlap = 0
    /// Whether nothing came where a record was, and the same is asked once more.
    private var isConfirming = false

    init(known: KnownRecords = KnownRecords()) {
        self.known = known
    }

    func question(size: Int) -> PageQuestion {
        switch stage {
        case .counting: PageQuestion(part: .count, limit: 1)
        case .bounding: PageQuestion(part: .greatest, limit: 1)
        case .numbers(let from, let through):
            PageQuestion(
                part: .sorted(from: from, through: through),
                limit: min(size + overlap, max(size, PageSize.range.upperBound))
            )
        case .texts(let places): places.question(size: size)
        }
    }

    mutating func received(_ answer: PageAnswer, to question: PageQuestion) throws(PagingFailure) -> PageVerdict {
        switch stage {
        case .counting:
            everyone = answer.foundCount
            stage = .bounding
            // A find that finds nothing need not be asked again for its end.
            guard answer.ids.isEmpty else { return PageVerdict() }
            (total, withoutKey) = (everyone, everyone)
            return PageVerdict(isLast: true)
        case .bounding:
            if isDoubtful(answer) { return PageVerdict() }
            total = answer.foundCount
            withoutKey = everyone.flatMap { everyone in total.map { max(0, everyone - $0) } }
            switch answer.keys.last ?? nil {
            case .number(let greatest)?: stage = .numbers(from: nil, through: .number(greatest))
            case .text?: stage = .texts(OffsetPaging(.byKey, known: known))
            case nil: return told(PageVerdict(isLast: true))
            }
            return PageVerdict()
        case .numbers(let from, let through):
            return told(try read(answer, question, from, through))
        case .texts(var places):
            // Later pages find out by themselves that there is more.
            if delivered == 0, isDoubtful(answer) { return PageVerdict() }
            let verdict = try places.received(answer, to: question)
            stage = .texts(places)
            return told(verdict)
        }
    }

    /// At the end it is told when fewer came than were counted.
    private mutating func told(_ verdict: PageVerdict) -> PageVerdict {
        var verdict = verdict
        delivered += verdict.rows.count
        if verdict.isLast { verdict.drift += DataAPI.PageDrift.missing(delivered, of: total) }
        return verdict
    }

    private mutating func read(
        _ answer: PageAnswer,
        _ question: PageQuestion,
        _ from: PageKey?,
        _ through: PageKey
    ) throws(PagingFailure) -> PageVerdict {
        if isDoubtful(answer) { return PageVerdict() }
        if answer.ids.isEmpty { return PageVerdict(isLast: true) }
        let rows = known.takeNew(of: answer.ids)
        let isLast = question.isEnd(answer, newRows: rows.count)
        if !isLast {
            // A type may have the number as a text.
            guard let next = (answer.keys.last ?? nil)?.number else { throw .keyMissing }
            try goOn(from: .number(next), after: from, question, newRows: rows.count)
            stage = .numbers(from: .number(next), through: through)
        }
        return PageVerdict(
            rows: rows,
            drift: DataAPI.PageDrift.repeated(in: answer.ids, new: rows),
            isLast: isLast
        )
    }

    /// Whether the word that nothing is there needs a second look: records were there, and it may be that they were deleted.
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
        // When a whole page has one key, the next one must be larger to get beyond it.
        let isStuck = next == from
        guard !isStuck || newRows > 0 || question.limit < PageSize.range.upperBound else { throw .keyNotUnique }
        overlap = isStuck ? question.limit : 1
    }
}
