import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Paging by offset: pages that overlap by a row, and what happens when rows move.
@Suite struct OffsetPagingTests {
    @Test func pagesOverlapByARow() {
        let run = PagedRun(OffsetPaging(), through: PagedTable(count: 25), size: 10)
        expectNoDifference(run.questions, [.records(offset: 1), .records(offset: 10), .records(offset: 20)])
        expectNoDifference(run.ids, Array(1...25))
        expectNoDifference(run.drift, [])
        expectNoDifference(run.total, 25)
    }

    @Test func theServersCountSparesACallForNothing() {
        let run = PagedRun(OffsetPaging(), through: PagedTable(count: 20), size: 10)
        expectNoDifference(run.questions, [.records(offset: 1), .records(offset: 10)])
        expectNoDifference(run.ids, Array(1...20))
    }

    @Test func withoutACountAShortPageIsTheLast() {
        let table = PagedTable((1...20).map { .init($0) }, counts: false)
        let run = PagedRun(OffsetPaging(), through: table, size: 10)
        expectNoDifference(run.questions.count, 3)
        expectNoDifference(run.ids, Array(1...20))
        expectNoDifference(run.total, nil)
    }

    @Test func nothingIsFoundInAnEmptyTable() {
        let run = PagedRun(OffsetPaging(), through: PagedTable(count: 0), size: 10)
        expectNoDifference(run.questions, [.records(offset: 1)])
        expectNoDifference(run.ids, [])
        expectNoDifference(run.total, 0)
    }

    @Test func aDeletedRowBeforeThePageIsNoticedAndNothingIsMissed() {
        let run = PagedRun(OffsetPaging(), through: PagedTable(count: 30), size: 10) { table, number in
            if number == 1 {
                table.delete(3)
                table.insert()
            }
        }
        expectNoDifference(run.ids, Array(1...31))
        expectNoDifference(run.drift, [DataAPI.PageDrift(.moved, places: -1)])
        // One step back, and on from there.
        expectNoDifference(
            Array(run.questions.prefix(4)),
            [
                .records(offset: 1), .records(offset: 10), .records(offset: 8), .records(offset: 18),
            ]
        )
    }

    @Test func theDeletedRowMayBeTheLastOfThePage() {
        let run = PagedRun(OffsetPaging(), through: PagedTable(count: 30), size: 10) { table, number in
            if number == 1 { table.delete(10) }
        }
        expectNoDifference(run.ids, Array(1...30))
        expectNoDifference(run.drift, [DataAPI.PageDrift(.moved, places: -1)])
    }

    @Test func rowsInsertedBeforeThePageMoveIt() {
        var table = PagedTable(count: 30)
        table.isSorted = true
        let run = PagedRun(OffsetPaging(), through: table, size: 10) { table, number in
            guard number == 1 else { return }
            table.insert(order: 15)
            table.insert(order: 85)
        }
        // Rows 31 and 32 were inserted among rows that were read already, but the shift puts row 32 on the next page.
        expectNoDifference(run.ids.filter { $0 != 31 && $0 != 32 }, Array(1...30))
        expectNoDifference(run.drift, [DataAPI.PageDrift(.moved, places: 2)])
    }

    @Test func manyDeletedRowsTakeLongerSteps() {
        let run = PagedRun(OffsetPaging(), through: PagedTable(count: 300), size: 20) { table, number in
            if number == 8 { table.rows.removeAll { (5...150).contains($0.id) } }
        }
        expectNoDifference(run.ids, Array(1...300))
        expectNoDifference(run.drift.map(\.kind), [.moved])
        expectNoDifference(run.drift.map(\.places), [-146])
    }

    @Test func allRowsThatCameMayBeDeleted() {
        let run = PagedRun(OffsetPaging(), through: PagedTable(count: 30), size: 10) { table, number in
            if number == 2 { table.rows.removeAll { $0.id <= 19 } }
        }
        expectNoDifference(run.ids, Array(1...30))
        expectNoDifference(run.drift, [DataAPI.PageDrift(.moved, places: -19)])
    }

    @Test func allRowsMayBeDeleted() {
        let run = PagedRun(OffsetPaging(), through: PagedTable(count: 30), size: 10) { table, number in
            if number == 2 { table.rows = [] }
        }
        expectNoDifference(run.ids, Array(1...20))
        expectNoDifference(run.failure, nil)
        expectNoDifference(run.drift.map(\.kind), [.moved])
    }

    @Test func anAnswerOfNoRowsIsNoEnd() {
        let table = PagedTable(count: 30)
        let run = PagedRun(
            OffsetPaging(),
            through: table,
            size: 10,
            answer: { answer, number in
                number == 2 ? PageAnswer(foundCount: 0) : answer
            }
        )
        expectNoDifference(run.ids, Array(1...30))
        expectNoDifference(run.drift, [])
    }

    @Test func whatComesTwiceIsLeftOutAndTold() {
        var table = PagedTable(count: 30)
        table.isSorted = true
        let run = PagedRun(OffsetPaging(), through: table, size: 10) { table, number in
            // Row 3 moves behind row 15.
            if number == 1 { table.rows[2].order = 145 }
        }
        expectNoDifference(run.ids, Array(1...30))
        expectNoDifference(
            run.drift,
            [
                DataAPI.PageDrift(.moved, places: -1), DataAPI.PageDrift(.repeated, recordIds: [3]),
            ]
        )
    }

    @Test func aPlaceThatIsNotFoundAgainIsAFailure() {
        let strategy = OffsetPaging(known: KnownRecords(capacity: 20))
        let run = PagedRun(strategy, through: PagedTable(count: 100), size: 10) { table, number in
            if number == 6 { table.rows.removeAll { (10...60).contains($0.id) } }
        }
        expectNoDifference(run.failure, .placeLost)
        // The published rows have no gap.
        expectNoDifference(run.ids, Array(1...(run.ids.last ?? 0)))
    }

    @Test func aServerThatKnowsNoOffsetsIsNotAskedForEver() {
        let table = PagedTable((1...30).map { .init($0) }, counts: false)
        let run = PagedRun(
            OffsetPaging(),
            through: table,
            size: 10,
            answer: { _, _ in
                table.answer(to: PageQuestion(selection: .records(offset: 1), limit: 11))
            }
        )
        expectNoDifference(run.failure, .placeLost)
        // The first page has 11 rows. Known rows may come twice and for one more page, which is three pages; the one
        // after these is too much.
        expectNoDifference(run.questions.count, 5)
    }

    @Test func aServerThatSendsLessThanItWasAskedForIsNotAtItsEnd() {
        let table = PagedTable(count: 30)
        let run = PagedRun(
            OffsetPaging(),
            through: table,
            size: 10,
            answer: { answer, _ in
                PageAnswer(ids: Array(answer.ids.prefix(4)), foundCount: answer.foundCount)
            }
        )
        expectNoDifference(run.ids, Array(1...30))
    }

    @Test func pagesMayChangeTheirSize() {
        let run = PagedRun(OffsetPaging(), through: PagedTable(count: 100), size: { [1, 20, 3, 50][$0 % 4] })
        expectNoDifference(run.ids, Array(1...100))
        expectNoDifference(run.drift, [])
    }
}
