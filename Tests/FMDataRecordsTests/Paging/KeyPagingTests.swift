import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Paging by key: in the order of keys, by windows of serial numbers, and by ids.
@Suite struct KeyPagingTests {
    private static let three: PageKey = .number(3)

    /// Ten rows, of which the fifth has no key.
    private static let gappy = PagedTable((1...10).map { .init($0, key: $0 == 5 ? nil : $0 * 10) })

    private static func number(_ number: Int) -> PageKey { .number(FMNumber(number)) }

    // MARK: In the order of keys

    @Test func eachPageBeginsWithTheLastKeyOfTheOneBefore() {
        let run = PagedRun(StablePaging(), through: Self.gappy, size: 4)
        expectNoDifference(
            run.questions,
            [
                .count, .greatest, .sorted(from: nil, through: Self.number(100)),
                .sorted(from: Self.number(40), through: Self.number(100)),
                .sorted(from: Self.number(90), through: Self.number(100)),
            ]
        )
        expectNoDifference(run.ids, [1, 2, 3, 4, 6, 7, 8, 9, 10])
        expectNoDifference(run.total, 9)
        expectNoDifference(run.withoutKey, 1)
        expectNoDifference(run.drift, [])
    }

    @Test func deletesDoNoHarmAndInsertsBeyondTheEndDoNotCome() {
        let run = PagedRun(StablePaging(), through: PagedTable(count: 30), size: 10) { table, number in
            if number == 3 {
                table.delete(3, 10)
                table.insert(key: 31)
            }
        }
        expectNoDifference(run.ids, Array(1...30))
        expectNoDifference(run.drift, [])
    }

    @Test(arguments: [0, 1, 2, 3, 4])
    func anEmptyAnswerIsLookedAtTwice(number: Int) {
        let run = PagedRun(
            StablePaging(),
            through: PagedTable(count: 30),
            size: 10,
            answer: { answer, asked in
                asked == number ? PageAnswer(foundCount: 0) : answer
            }
        )
        // Question 0 is the count: the wrong answer says that there is nothing to read.
        expectNoDifference(run.ids, number < 1 ? [] : Array(1...30))
    }

    @Test func whatWasDeletedAtTheEndIsTheEnd() {
        let run = PagedRun(StablePaging(), through: PagedTable(count: 30), size: 10) { table, number in
            if number == 4 { table.rows.removeAll { $0.id > 15 } }
        }
        expectNoDifference(run.ids, Array(1...20))
        expectNoDifference(run.questions.count, 6)
        expectNoDifference(run.drift, [DataAPI.PageDrift(.gone, places: -10)])
    }

    // MARK: Ends that come too soon

    /// Records that were counted at the beginning and deleted before their page was read.
    @Test(arguments: [true, false])
    func recordsThatAreMissingAtTheEndAreTold(hasTextKeys: Bool) {
        var table = PagedTable(count: 30)
        table.hasTextKeys = hasTextKeys
        let byKey = PagedRun(StablePaging(), through: table, size: 10) { table, number in
            if number == 3 { table.delete(3, 15, 22) }
        }
        expectNoDifference(byKey.ids, (1...30).filter { $0 != 15 && $0 != 22 })
        let moved = hasTextKeys ? [DataAPI.PageDrift(.moved, places: -1)] : []
        expectNoDifference(byKey.drift, moved + [DataAPI.PageDrift(.gone, places: -2)])
        guard !hasTextKeys else { return }
        let byWindow = PagedRun(WindowPaging(), through: table, size: 10) { table, number in
            if number == 4 { table.delete(3, 15, 22) }
        }
        expectNoDifference(byWindow.ids, byKey.ids)
        expectNoDifference(byWindow.drift, [DataAPI.PageDrift(.gone, places: -2)])
    }

    /// A key that was changed so that its record belongs to a page that was read already.
    @Test func recordsThatMovedOutOfTheWayAreTold() {
        let run = PagedRun(StablePaging(), through: PagedTable(count: 30), size: 10) { table, number in
            if number == 3 { table.rows[14].key = 0 }
        }
        expectNoDifference(run.ids, (1...30).filter { $0 != 15 })
        expectNoDifference(run.drift, [DataAPI.PageDrift(.gone, places: -1)])
    }

    /// The same if all records are deleted at once. If the server does not count, nothing can be reported.
    @Test func anEndBeforeTheFirstPageIsTold() {
        func run(_ strategy: some PagingStrategy, counts: Bool = true, hasTextKeys: Bool = false) -> PagedRun {
            var table = PagedTable((1...30).map { .init($0, key: $0) }, counts: counts)
            table.hasTextKeys = hasTextKeys
            return PagedRun(strategy, through: table, size: 10) { table, number in
                if number == 3 { table.rows.removeAll() }
            }
        }
        let gone = [DataAPI.PageDrift(.gone, places: -30)]
        // By key the first page came before the deletion; by window the first page is already empty.
        expectNoDifference(run(StablePaging()).drift, [DataAPI.PageDrift(.gone, places: -20)])
        expectNoDifference(run(WindowPaging()).drift, gone)
        expectNoDifference(run(StablePaging(), counts: false).drift, [])
        expectNoDifference(run(WindowPaging(), counts: false).drift, [])
        expectNoDifference(run(StablePaging(), hasTextKeys: true).ids, Array(1...10))
    }

    @Test func recordsWithoutAKeyAreCountedWhenNoneHasOne() {
        let table = PagedTable((1...3).map { .init($0) })
        for run in [
            PagedRun(StablePaging(), through: table, size: 10), PagedRun(WindowPaging(), through: table, size: 10),
            PagedRun(IDPaging(), through: table, size: 10),
        ] {
            expectNoDifference(run.ids, [])
            expectNoDifference(run.total, 0)
            expectNoDifference(run.withoutKey, 3)
        }
    }

    @Test func nothingIsFoundInAnEmptyTable() {
        let table = PagedTable(count: 0)
        for run in [
            PagedRun(StablePaging(), through: table, size: 10), PagedRun(WindowPaging(), through: table, size: 10),
            PagedRun(IDPaging(), through: table, size: 10),
        ] {
            expectNoDifference(run.ids, [])
            expectNoDifference(run.questions.count, 1)
            expectNoDifference(run.total, 0)
        }
    }

    @Test func aServerThatDoesNotCountWillDo() {
        let table = PagedTable((1...25).map { .init($0, key: $0) }, counts: false)
        for run in [
            PagedRun(OffsetPaging(), through: table, size: 10), PagedRun(StablePaging(), through: table, size: 10),
            PagedRun(WindowPaging(), through: table, size: 10),
        ] {
            expectNoDifference(run.ids, Array(1...25))
            expectNoDifference(run.total, nil)
            expectNoDifference(run.withoutKey, nil)
        }
        // Here the client has counted the ids itself.
        let byID = PagedRun(IDPaging(), through: table, size: 10)
        expectNoDifference(byID.ids, Array(1...25))
        expectNoDifference(byID.total, 25)
    }

    @Test func manyRecordsOfOneKeyTakeALargerPage() {
        let table = PagedTable((1...60).map { .init($0, key: (10...40).contains($0) ? 10 : $0) })
        let run = PagedRun(StablePaging(), through: table, size: 10)
        expectNoDifference(run.ids, Array(1...60))
        expectNoDifference(run.failure, nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func aKeyThatIsNoneIsAFailure() {
        let table = PagedTable((1...12_000).map { .init($0, key: 1) })
        expectNoDifference(PagedRun(StablePaging(), through: table, size: 1_000).failure, .keyNotUnique)
        expectNoDifference(PagedRun(WindowPaging(), through: table, size: 1_000).failure, .keyNotUnique)
        let byID = PagedRun(
            IDPaging(),
            through: table,
            size: 1_000,
            answer: { answer, number in
                // As if the server had been asked for 5,000 records.
                number > 12 ? PageAnswer(ids: Array(answer.ids.prefix(5_000)), foundCount: answer.foundCount) : answer
            }
        )
        expectNoDifference(byID.failure, .keyNotUnique)
    }

    // MARK: Texts

    /// FileMaker compares texts word by word, so no text can be the bound of a page.
    @Test func textsAreReadByTheirPlaceInTheOrderOfTheKey() {
        var table = Self.gappy
        table.hasTextKeys = true
        let run = PagedRun(StablePaging(), through: table, size: 4)
        expectNoDifference(
            run.questions,
            [.count, .greatest, .byKey(offset: 1), .byKey(offset: 4), .byKey(offset: 8)]
        )
        expectNoDifference(run.ids, [1, 2, 3, 4, 6, 7, 8, 9, 10])
        expectNoDifference(run.total, 9)
        expectNoDifference(run.withoutKey, 1)
        expectNoDifference(run.drift, [])
    }

    @Test(arguments: [2, 3, 4])
    func anEmptyAnswerForTextsIsLookedAtTwice(number: Int) {
        var table = PagedTable(count: 30)
        table.hasTextKeys = true
        let run = PagedRun(
            StablePaging(),
            through: table,
            size: 10,
            answer: { answer, asked in asked == number ? PageAnswer(foundCount: 0) : answer }
        )
        expectNoDifference(run.ids, Array(1...30))
        expectNoDifference(run.drift, [])
    }

    /// Records inserted before the page shift all others, which does no harm.
    @Test func textsThatComeAndGoMeanwhile() {
        var table = PagedTable((1...30).map { .init($0, key: $0 * 10) })
        table.hasTextKeys = true
        let run = PagedRun(StablePaging(), through: table, size: 10) { table, number in
            if number == 3 {
                table.insert(key: 5)
                table.delete(4)
                table.insert(key: 205)
            }
        }
        expectNoDifference(run.ids, Array(1...20) + [32] + Array(21...30))
        expectNoDifference(run.failure, nil)
    }

    @Test func aNumberThatTheTypeHasAsATextIsANumber() throws {
        var strategy = StablePaging()
        _ = try strategy.received(PageAnswer(ids: [1], foundCount: 50), to: strategy.question(size: 10))
        let greatest = PageAnswer(ids: [50], keys: [Self.number(50)], foundCount: 50)
        _ = try strategy.received(greatest, to: strategy.question(size: 10))
        let page = PageAnswer(ids: Array(1...10), keys: [.text("0010")], foundCount: 50)
        _ = try strategy.received(page, to: strategy.question(size: 10))
        expectNoDifference(
            strategy.question(size: 10).selection,
            .sorted(from: Self.number(10), through: Self.number(50))
        )
    }

    // MARK: By windows

    @Test func windowsAreAsWideAsPages() {
        let run = PagedRun(WindowPaging(), through: PagedTable(count: 25), size: 10)
        expectNoDifference(
            run.questions,
            [
                .count, .least, .greatest, .window(1...10), .window(11...20), .window(21...25),
            ]
        )
        expectNoDifference(run.ids, Array(1...25))
        expectNoDifference(run.total, 25)
        expectNoDifference(run.withoutKey, 0)
    }

    @Test func aGapIsCrossedInAFewSteps() {
        let keys = Array(1...10) + Array(100_011...100_030)
        let table = PagedTable(keys.enumerated().map { .init($0 + 1, key: $1) })
        let run = PagedRun(WindowPaging(), through: table, size: 10)
        expectNoDifference(run.ids, Array(1...30))
        // Each empty window is asked for twice, and the next one is four times as wide.
        #expect(run.questions.count < 30)
    }

    @Test func sparseNumbersWidenTheWindows() {
        let table = PagedTable((1...500).map { .init($0, key: $0 * 20) })
        let run = PagedRun(WindowPaging(), through: table, size: 50)
        expectNoDifference(run.ids, Array(1...500))
        #expect(run.questions.count < 40)
    }

    @Test func numbersMayBeNegativeAndAsLargeAsTheyGet() {
        let keys = [Int.min, Int.min + 1, -1, 0, 1, Int.max - 1, Int.max]
        let table = PagedTable(keys.enumerated().map { .init($0 + 1, key: $1) })
        expectNoDifference(PagedRun(WindowPaging(), through: table, size: 10).ids, Array(1...7))
        expectNoDifference(PagedRun(WindowPaging(), through: table, size: 1).ids, Array(1...7))
    }

    @Test func anEmptyWindowThatWasNoneIsSeen() {
        let run = PagedRun(
            WindowPaging(),
            through: PagedTable(count: 30),
            size: 10,
            answer: { answer, number in
                number == 4 ? PageAnswer(foundCount: 0) : answer
            }
        )
        expectNoDifference(run.ids, Array(1...30))
    }

    @Test func aSerialThatIsNoWholeNumberIsAFailure() {
        let run = PagedRun(
            WindowPaging(),
            through: PagedTable(count: 3),
            size: 10,
            answer: { answer, number in
                number == 1 ? PageAnswer(ids: [1], keys: [.text("A-1")], foundCount: 3) : answer
            }
        )
        expectNoDifference(run.failure, .serialNotWhole)
    }

    // MARK: By ids

    @Test func idsComeFirstThenRecordsInTheOrderOfTheFoundSet() {
        var table = PagedTable((1...120).map { .init($0, key: 1_000 - $0, order: -$0) })
        table.isSorted = true
        let run = PagedRun(IDPaging(), through: table, size: 100)
        expectNoDifference(Array(run.questions.prefix(2)), [.keys(offset: 1), .keys(offset: 100)])
        expectNoDifference(run.questions.count, 5)
        expectNoDifference(run.ids, (1...120).reversed())
        expectNoDifference(run.total, 120)
    }

    @Test func whatIsGoneMeanwhileIsTold() {
        let run = PagedRun(IDPaging(), through: PagedTable(count: 60), size: 100) { table, number in
            if number == 1 { table.delete(7, 8) }
        }
        expectNoDifference(run.ids, Array(1...6) + Array(9...60))
        expectNoDifference(run.drift, [DataAPI.PageDrift(.gone, recordIds: [7, 8])])
    }

    @Test func ofTwoRecordsWithOneKeyEachIsThatOfItsID() {
        let table = PagedTable([.init(1, key: 5), .init(2, key: 5), .init(3, key: 6)])
        let run = PagedRun(IDPaging(), through: table, size: 1)
        expectNoDifference(run.ids, [1, 2, 3])
        expectNoDifference(run.drift, [])
    }
}
