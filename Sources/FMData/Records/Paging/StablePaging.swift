/// Page after page by key: each begins with the key that the one before has ended with, so that its last row comes again,
/// unless it was deleted.
struct StablePaging: PagingStrategy {
    private enum Stage: Hashable {
        case counting
        case bounding
        case reading
    }

    private(set) var total: Int?
    private(set) var withoutKey: Int?

    private var stage = Stage.counting
    /// All records, whether they have a key or not.
    private var everyone: Int?
    private var from: PageKey?
    /// The greatest key at the beginning, where keys are numbers: the end of a range of texts is no matter to rely on.
    private var through: PageKey?
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
        case .reading:
            PageQuestion(
                part: .sorted(from: from, through: through),
                limit: min(size + overlap, max(size, PageSize.range.upperBound))
            )
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
            stage = .reading
            guard let greatest = answer.keys.last ?? nil else { return PageVerdict(isLast: true) }
            if case .number = greatest { through = greatest }
            return PageVerdict()
        case .reading:
            return try read(answer, question)
        }
    }

    private mutating func read(_ answer: PageAnswer, _ question: PageQuestion) throws(PagingFailure) -> PageVerdict {
        if isDoubtful(answer) { return PageVerdict() }
        if answer.ids.isEmpty { return PageVerdict(isLast: true) }
        let rows = known.takeNew(of: answer.ids)
        let isLast = question.isEnd(answer, newRows: rows.count)
        if !isLast { try goOn(from: answer.keys.last ?? nil, question, newRows: rows.count) }
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

    private mutating func goOn(from key: PageKey?, _ question: PageQuestion, newRows: Int) throws(PagingFailure) {
        guard let next = try bound(key) else { throw .keyMissing }
        // When a whole page has one key, the next one must be larger to get beyond it.
        let isStuck = next == from
        guard !isStuck || newRows > 0 || question.limit < PageSize.range.upperBound else { throw .keyNotUnique }
        overlap = isStuck ? question.limit : 1
        from = next
    }

    private func bound(_ key: PageKey?) throws(PagingFailure) -> PageKey? {
        if through != nil { return key?.number.map(PageKey.number) }
        guard case .text(let text) = key else { return key }
        // FileMaker holds each word of a text against the bound, not the text: records would come again, or not at all.
        guard DataAPI.FindText.words(of: text) == [text] else { throw .keyOfSeveralWords }
        return key
    }
}
