import CustomDump
import FMData
import FMTestSupport
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Tables that change at random between two answers.
@Suite(.timeLimit(.minutes(15))) struct PagingRandomTests {
    /// The random changes of a table.
    private struct Weather {
        var random: SeededRandom
        /// `sorts`: the sort field has random values. `edits`: they are edited. Otherwise rows are only deleted, and
        /// inserted at the end.
        var sorts = false
        var edits = false
        var hasTextKeys = false
        /// Rows whose sort value was edited.
        var edited: Set<Int> = []
        var start: Set<Int> = []

        init(seed: UInt64) { random = SeededRandom(seed: seed) }

        mutating func table() -> PagedTable {
            let count = Int.random(in: 0...150, using: &random)
            var key = 0
            let rows = (0..<count).map { number -> PagedTable.Row in
                key += Int.random(in: 0..<10, using: &random) == 0 ? Int.random(in: 2...3_000, using: &random) : 1
                return PagedTable.Row(number + 1, key: key, order: sorts ? Int.random(in: 0..<500, using: &random) : 0)
            }
            start = Set(rows.map(\.id))
            var table = PagedTable(rows, isSorted: sorts)
            table.hasTextKeys = hasTextKeys
            return table
        }

        mutating func pass(over table: inout PagedTable) {
            while Int.random(in: 0..<3, using: &random) == 0 {
                switch Int.random(in: 0..<(edits ? 3 : 2), using: &random) {
                case 0:
                    let next = (table.rows.compactMap(\.key).max() ?? 0) + 1
                    let order = sorts ? Int.random(in: 0..<500, using: &random) : 0
                    table.insert(key: Bool.random(using: &random) ? next : nil, order: order)
                case 1:
                    for _ in 0..<Int.random(in: 1...8, using: &random) where !table.rows.isEmpty {
                        table.rows.remove(at: Int.random(in: table.rows.indices, using: &random))
                    }
                default:
                    guard !table.rows.isEmpty else { continue }
                    let index = Int.random(in: table.rows.indices, using: &random)
                    table.rows[index].order = Int.random(in: 0..<500, using: &random)
                    edited.insert(table.rows[index].id)
                }
            }
        }
    }

    private struct Outcome {
        let run: PagedRun
        /// Records that were there at the beginning and at the end and were not moved.
        let stayed: Set<Int>
    }

    private func outcome(
        _ seed: UInt64,
        _ strategy: some PagingStrategy,
        _ prepare: (inout Weather) -> Void = { _ in }
    ) -> Outcome {
        var weather = Weather(seed: seed)
        prepare(&weather)
        let table = weather.table()
        var left = table
        let size = Int.random(in: 1...30, using: &weather.random)
        let run = PagedRun(strategy, through: table, size: size) { table, _ in
            weather.pass(over: &table)
            left = table
        }
        return Outcome(
            run: run,
            stayed: Set(left.rows.map(\.id)).intersection(weather.start).subtracting(weather.edited)
        )
    }

    private func expectWhole(_ outcome: Outcome, _ seed: UInt64, _ mode: String) {
        let came = Set(outcome.run.ids)
        expectNoDifference(outcome.stayed.subtracting(came), [], "\(mode), seed \(seed): lost")
        expectNoDifference(came.count, outcome.run.ids.count, "\(mode), seed \(seed): doubled")
        expectNoDifference(outcome.run.failure, nil, "\(mode), seed \(seed)")
    }

    @Test func whateverStaysComesOnceByItsKey() {
        for seed in 0..<UInt64(Effort.of(300, brief: 60)) {
            expectWhole(outcome(seed, StablePaging()), seed, "stable")
            expectWhole(outcome(seed, StablePaging()) { $0.hasTextKeys = true }, seed, "stable, texts")
            expectWhole(outcome(seed, WindowPaging()), seed, "windows")
            // These strategies do not depend on the sort order.
            let stormy = outcome(seed, StablePaging()) { ($0.sorts, $0.edits) = (true, true) }
            expectNoDifference(Set(stormy.run.ids).count, stormy.run.ids.count, "stable, seed \(seed): doubled")
        }
    }

    @Test func whateverStaysComesOnceByItsPlace() {
        for seed in 0..<UInt64(Effort.of(300, brief: 60)) {
            expectWhole(outcome(seed, OffsetPaging()), seed, "offset")
            expectWhole(outcome(seed, IDPaging()), seed, "ids")
            expectWhole(outcome(seed, OffsetPaging()) { $0.sorts = true }, seed, "offset, sorted")
        }
    }

    /// If edits move rows, rows that do not move may be missed: the last row of a page may move exactly as far as its
    /// place shifts. No row comes twice, and paging always ends.
    @Test func nothingComesTwiceHoweverRowsAreMoved() {
        for seed in 0..<UInt64(Effort.of(300, brief: 60)) {
            let outcome = outcome(seed, OffsetPaging()) { ($0.sorts, $0.edits) = (true, true) }
            expectNoDifference(Set(outcome.run.ids).count, outcome.run.ids.count, "seed \(seed): doubled")
            expectNoDifference(outcome.run.failure, nil, "seed \(seed)")
            let lost = outcome.stayed.subtracting(outcome.run.ids)
            #expect(lost.isEmpty || !outcome.run.drift.isEmpty, "seed \(seed): \(lost) lost without a word")
        }
    }

    /// What moved is reported: an inconsistent page never passes silently.
    @Test func aDeletedRowThatCameIsAlwaysTold() {
        for seed in 0..<UInt64(Effort.of(100, brief: 20)) {
            var random = SeededRandom(seed: seed)
            let size = Int.random(in: 2...20, using: &random)
            let gone = Int.random(in: 1..<size, using: &random)
            let run = PagedRun(OffsetPaging(), through: PagedTable(count: 60), size: size) { table, number in
                if number == 1 { table.delete(gone) }
            }
            expectNoDifference(run.ids, Array(1...60), "seed \(seed)")
            expectNoDifference(run.drift, [DataAPI.PageDrift(.moved, places: -1)], "seed \(seed)")
        }
    }
}
