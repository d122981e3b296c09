import FMData
import FMTestSupport

@testable import FMDataCore
@testable import FMDataRecords

/// A table that answers questions as a server does, and can be changed between two of them.
struct PagedTable {
    struct Row: Equatable {
        let id: Int
        /// `nil` for an empty field.
        var key: Int?
        /// The value of the sort field, in case the found set is sorted.
        var order: Int

        init(_ id: Int, key: Int? = nil, order: Int = 0) {
            self.id = id
            self.key = key
            self.order = order
        }
    }

    /// The rows in the order of their creation.
    var rows: [Row]
    var isSorted = false
    /// Whether answers contain the number of rows.
    var counts = true
    /// Whether the key field contains texts: each of two words, in the order of the numbers in them.
    var hasTextKeys = false
    private var lastID: Int

    init(_ rows: [Row], isSorted: Bool = false, counts: Bool = true) {
        self.rows = rows
        self.isSorted = isSorted
        self.counts = counts
        lastID = rows.map(\.id).max() ?? 0
    }

    /// Rows 1 to `count`, whose keys are their ids.
    init(count: Int) {
        self.init((0..<count).map { Row($0 + 1, key: $0 + 1, order: $0 * 10) })
    }

    mutating func insert(key: Int? = nil, order: Int = 0) {
        lastID += 1
        rows.append(Row(lastID, key: key, order: order))
    }

    mutating func delete(_ ids: Int...) { rows.removeAll { ids.contains($0.id) } }

    private var foundSet: [Row] {
        isSorted ? rows.sorted { ($0.order, $0.id) < ($1.order, $1.id) } : rows
    }

    private var byKey: [Row] {
        rows.filter { $0.key != nil }.sorted { ($0.key ?? 0, $0.id) < ($1.key ?? 0, $1.id) }
    }

    private func pageKey(_ key: Int) -> PageKey { hasTextKeys ? .text("key \(key)") : .number(FMNumber(key)) }

    func answer(to question: PageQuestion) -> PageAnswer {
        func answer(_ found: [Row], from place: Int = 1, keys: ([Row]) -> [Row] = { _ in [] }) -> PageAnswer {
            let part = Array(found.dropFirst(place - 1).prefix(question.limit))
            return PageAnswer(
                ids: part.map(\.id),
                keys: keys(part).map { $0.key.map(pageKey) },
                // A range beyond the end or a find without a match is an error, taken by the client for a count of 0.
                foundCount: counts ? (part.isEmpty ? 0 : found.count) : nil
            )
        }
        switch question.selection {
        case .records(let offset): return answer(foundSet, from: offset)
        case .byKey(let offset): return answer(byKey, from: offset)
        case .keys(let offset): return answer(foundSet, from: offset) { $0 }
        case .count: return answer(foundSet)
        case .least: return answer(byKey) { $0 }
        case .greatest: return answer(byKey.reversed()) { $0 }
        case .window(let window): return answer(rows.filter { $0.key.map(window.contains) ?? false })
        case .sorted(let from, let through):
            let (least, greatest) = (from?.number?.int ?? .min, through?.number?.int ?? .max)
            return answer(byKey.filter { (least...greatest).contains($0.key ?? 0) }) { $0.suffix(1) }
        case .having(let keys):
            let keys = Set(keys.map { $0.number?.int })
            let found = rows.filter { $0.key != nil && keys.contains($0.key) }
            return PageAnswer(ids: found.map(\.id), foundCount: counts ? found.count : nil)
        }
    }
}

/// The questions, results and failure of one run of a paging strategy.
struct PagedRun {
    var questions: [PageQuestion.Selection] = []
    var ids: [Int] = []
    var drift: [DataAPI.PageDrift] = []
    var failure: PagingFailure?
    var total: Int?
    var withoutKey: Int?

    /// Pages through a table to the end.
    ///
    /// - Parameters:
    ///   - change: called before each answer with the number of the question; may change the table.
    ///   - answer: may replace the table's answer.
    init(
        _ strategy: some PagingStrategy,
        through table: PagedTable,
        size: (Int) -> Int,
        change: (inout PagedTable, Int) -> Void = { _, _ in },
        answer: (PageAnswer, Int) -> PageAnswer = { answer, _ in answer }
    ) {
        var (strategy, table) = (strategy, table)
        // A strategy that never ends fails the test instead of running forever.
        for number in 0..<5_000 {
            let question = strategy.question(size: size(number))
            questions.append(question.selection)
            change(&table, number)
            let answer = answer(table.answer(to: question), number)
            do throws(PagingFailure) {
                let outcome = try strategy.received(answer, to: question)
                ids += outcome.rows.map { answer.ids[$0] }
                drift += outcome.drift
                guard outcome.isLast else { continue }
            } catch {
                failure = error
            }
            (total, withoutKey) = (strategy.total, strategy.withoutKey)
            return
        }
    }

    init(
        _ strategy: some PagingStrategy,
        through table: PagedTable,
        size: Int,
        change: (inout PagedTable, Int) -> Void = { _, _ in },
        answer: (PageAnswer, Int) -> PageAnswer = { answer, _ in answer }
    ) {
        self.init(strategy, through: table, size: { _ in size }, change: change, answer: answer)
    }
}
