/// Page after page by place. Each begins with the last row of the one before; when another row stands there, the found set has
/// moved, and it goes back to a row that is known.
struct OffsetPaging: PagingStrategy {
    private(set) var total: Int?
    var withoutKey: Int? { nil }

    /// What is read, and in which order.
    enum Reading: Sendable {
        case records
        /// Ids and keys.
        case keys
        /// Records that have a key, by it.
        case byKey
    }

    private let reading: Reading
    private var known: KnownRecords
    private var isFirst = true
    /// The last row that came, and its place.
    private var last: Int?
    private var place = 0
    /// How far before that place to begin.
    private var stepBack = 0
    /// By how many places the found set has moved so far.
    private var moved = 0
    /// Rows that came since the last one that was new.
    private var barrenRows = 0

    init(_ reading: Reading = .records, known: KnownRecords = KnownRecords()) {
        self.reading = reading
        self.known = known
    }

    private var offset: Int { max(1, place - stepBack) }

    func question(size: Int) -> PageQuestion {
        PageQuestion(part: part, limit: isFirst ? size : size + 1)
    }

    private var part: PageQuestion.Part {
        switch reading {
        case .records: .records(offset: offset)
        case .keys: .keys(offset: offset)
        case .byKey: .byKey(offset: offset)
        }
    }

    mutating func received(_ answer: PageAnswer, to question: PageQuestion) throws(PagingFailure) -> PageVerdict {
        if isFirst {
            isFirst = false
            total = answer.foundCount
            return try advance(answer, question, drift: [])
        }
        guard isInPlace(answer.ids) else {
            // A part of a page, so that what is new comes with what is known.
            try goBack(by: max(1, question.limit / 4))
            return PageVerdict()
        }
        return try advance(answer, question, drift: drift(in: answer, question))
    }

    /// Whether no row can be missing between those that came and these.
    private func isInPlace(_ ids: [Int]) -> Bool {
        if let first = ids.first, first == last { return true }
        // At the beginning of the found set there is no row before these.
        if offset == 1, known.isComplete { return true }
        // One that is known may have been moved to where it stands by an edit, two in a row hardly.
        return ids.count > 1 && ids.prefix(2).allSatisfy(known.contains)
    }

    private mutating func advance(
        _ answer: PageAnswer,
        _ question: PageQuestion,
        drift: [DataAPI.PageDrift]
    ) throws(PagingFailure) -> PageVerdict {
        let begin = offset
        moved += drift.reduce(0) { $0 + $1.places }
        // Places are kept as they would be if nothing had moved, so that an old one can be compared.
        let rows = known.takeNew(of: answer.ids, from: begin - moved)
        // Rows that are known come in a row after an insert, but there cannot be more of them than are known: a server that
        // goes on all the same has no notion of offsets.
        barrenRows = rows.isEmpty ? barrenRows + answer.ids.count : 0
        let isLast = question.isEnd(answer, offset: begin, newRows: rows.count)
        guard isLast || barrenRows <= 2 * known.count + question.limit else { throw .placeLost }
        last = answer.ids.last
        place = begin + max(0, answer.ids.count - 1)
        stepBack = 0
        return PageVerdict(rows: rows, drift: drift, isLast: isLast)
    }

    /// By how many places the rows that came have moved, and what comes a second time behind them.
    private func drift(in answer: PageAnswer, _ question: PageQuestion) -> [DataAPI.PageDrift] {
        let ids = answer.ids
        let firstNew = ids.firstIndex { !known.contains($0) } ?? ids.count
        // Where they end: with the row that came last, or with the one before the first that is new when it is gone.
        let boundary = ids.firstIndex { $0 == last } ?? firstNew - 1
        let isReached = firstNew < ids.count || question.isEnd(answer, offset: offset, newRows: 0) || ids.last == last
        // On the way there from far back, each row is held against its own place.
        let before = isReached ? place : (ids.last.flatMap(known.place) ?? place) + moved
        let places = offset + boundary - before
        var drift: [DataAPI.PageDrift] = []
        if places != 0 { drift.append(DataAPI.PageDrift(.moved, places: places)) }
        let again = ids.dropFirst(max(firstNew, boundary + 1)).filter(known.contains)
        if !again.isEmpty { drift.append(DataAPI.PageDrift(.repeated, recordIds: Array(again))) }
        return drift
    }

    private mutating func goBack(by step: Int) throws(PagingFailure) {
        let farthest = known.isComplete ? place - 1 : min(place - 1, known.count - 1)
        guard stepBack < farthest else { throw .placeLost }
        stepBack = min(farthest, stepBack == 0 ? step : stepBack * 4)
    }
}
