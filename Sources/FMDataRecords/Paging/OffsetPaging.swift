import FMDataCore

/// Reads page after page by place. Each page begins with the last row of the page before. If another row stands there,
/// the found set has moved, and the strategy goes back to a known row.
package struct OffsetPaging: PagingStrategy {
    package private(set) var total: Int?
    package var withoutKey: Int? { nil }

    /// What is read, and in which order.
    package enum Reading: Sendable {
        case records
        /// Ids and keys only.
        case keys
        /// Records that have a key, sorted by it.
        case byKey
    }

    private let reading: Reading
    private var known: KnownRecords
    private var isFirst = true
    /// The id of the last row that came, and its place.
    private var last: Int?
    private var place = 0
    /// How far before that place the next page begins.
    private var stepBack = 0
    /// The number of places that the found set has moved so far.
    private var moved = 0
    /// Rows that came since the last new row.
    private var barrenRows = 0

    package init(_ reading: Reading = .records, known: KnownRecords = KnownRecords()) {
        self.reading = reading
        self.known = known
    }

    private var offset: Int { max(1, place - stepBack) }

    package func question(size: Int) -> PageQuestion {
        PageQuestion(selection: part, limit: isFirst ? size : size + 1)
    }

    private var part: PageQuestion.Selection {
        switch reading {
        case .records: .records(offset: offset)
        case .keys: .keys(offset: offset)
        case .byKey: .byKey(offset: offset)
        }
    }

    package mutating func received(_ answer: PageAnswer, to question: PageQuestion) throws(PagingFailure) -> PageOutcome
    {
        if isFirst {
            isFirst = false
            total = answer.foundCount
            return try advance(answer, question, drift: [])
        }
        guard isInPlace(answer.ids) else {
            // Go back by a part of a page, so that known rows and new rows come together.
            try goBack(by: max(1, question.limit / 4))
            return PageOutcome()
        }
        return try advance(answer, question, drift: drift(in: answer, question))
    }

    /// Whether no row is missing between the rows that came before and these.
    private func isInPlace(_ ids: [Int]) -> Bool {
        if let first = ids.first, first == last { return true }
        // The page begins with the first record of the found set, and no known record was forgotten, so no row is
        // missing.
        if offset == 1, known.isComplete { return true }
        // An edit may have moved one known row to this place, but hardly two in a row.
        return ids.count > 1 && ids.prefix(2).allSatisfy(known.contains)
    }

    private mutating func advance(
        _ answer: PageAnswer,
        _ question: PageQuestion,
        drift: [DataAPI.PageDrift]
    ) throws(PagingFailure) -> PageOutcome {
        let begin = offset
        moved += drift.reduce(0) { $0 + $1.places }
        // Places are stored as if nothing had moved, so that they can be compared with older ones.
        let rows = known.takeNew(of: answer.ids, from: begin - moved)
        // After an insert, known rows come in a row, but never more than are known. A server that sends more of them
        // has no notion of offsets.
        barrenRows = rows.isEmpty ? barrenRows + answer.ids.count : 0
        let isLast = question.isEnd(answer, offset: begin, newRows: rows.count)
        guard isLast || barrenRows <= 2 * known.count + question.limit else { throw .placeLost }
        last = answer.ids.last
        place = begin + max(0, answer.ids.count - 1)
        stepBack = 0
        return PageOutcome(rows: rows, drift: drift, isLast: isLast)
    }

    /// The drift of an answer: the places by which its rows moved, and the rows that come a second time behind them.
    private func drift(in answer: PageAnswer, _ question: PageQuestion) -> [DataAPI.PageDrift] {
        let ids = answer.ids
        let firstNew = ids.firstIndex { !known.contains($0) } ?? ids.count
        // Index of the overlap's last row: the previous page's last row or, if it was deleted, the row before the first
        // unknown one.
        let boundary = ids.firstIndex { $0 == last } ?? firstNew - 1
        let isReached = firstNew < ids.count || question.isEnd(answer, offset: offset, newRows: 0) || ids.last == last
        // While going forward again from far back, each row is compared with its own place.
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
