import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Logging
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// All records, over the wire: every way to page, and what may happen meanwhile.
@Suite(.timeLimit(.minutes(15))) struct AllRecordsTests {
    struct Note: LayoutRecord, Equatable {
        static let layout = "Notes"
        var number: Int?
        var name: String

        enum CodingKeys: String, CodingKey { case number = "Number", name = "Name" }
    }

    private typealias Paging = DataAPI.Paging<Note>

    /// Records 1 to `count`. Their numbers are their ids, except that some have none, and their names sort in reverse
    /// order.
    static func solution(_ count: Int, withoutNumber: Set<Int> = []) -> Solution {
        var solution = Solution.single(
            fields: [.init("Number", .number), .init("Name")],
            layoutFields: ["Number", "Name"],
            records: (1...count).map { id in
                let name = ["Name": "n\(10_000 - id)"]
                return .init(withoutNumber.contains(id) ? name : name.merging(["Number": "\(id)"]) { $1 })
            }
        )
        solution.layouts.append(.layout(.init(name: "Skinny", table: "Notes", fields: ["Number"])))
        solution.layouts.append(.layout(.init(name: "Names", table: "Notes", fields: ["Name"])))
        return solution
    }

    private static let modes: [Paging] = [
        .offset, .stable(by: .number), .windows(serial: .number), .ids(by: .number), .ids(by: .number, on: "Skinny"),
        .ids(by: .name), .stable(by: .name),
    ]

    private func ids(_ pages: DataAPI.RecordPages<Note>) async throws -> [Int] {
        try await pages.outcome().get().map(\.recordId)
    }

    private func expectIDs(
        _ expected: some Sequence<Int>,
        _ pages: DataAPI.RecordPages<Note>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let ids = try await ids(pages)
        #expect(ids == Array(expected), sourceLocation: sourceLocation)
    }

    // MARK: All of them

    @Test(.thorough, arguments: modes.indices)
    func everyRecordComesOnce(mode: Int) async throws {
        try await Hosted.run(Self.solution(250)) { database, _ in
            let notes = database.layout(Note.self)
            let records = try await notes.all(Self.modes[mode], pageSize: 40).outcome().get()
            expectNoDifference(Set(records.map(\.recordId)), Set(1...250))
            expectNoDifference(records.count, 250)
            #expect(records.allSatisfy { $0.fieldData.number == $0.recordId })
            // Sorted by name, the last record comes first.
            let isByName = Self.modes[mode] == .stable(by: .name)
            expectNoDifference(records.map(\.recordId), isByName ? (1...250).reversed() : Array(1...250))
        }
    }

    @Test(.thorough, arguments: Sandbox.ServerVersion.allCases, modes.indices)
    func everyServerWillDo(version: Sandbox.ServerVersion, mode: Int) async throws {
        try await Hosted.run(Self.solution(60), sandbox: { $0.serverVersion = version }) { database, _ in
            let notes = database.layout(Note.self)
            let pages = try await notes.all(Self.modes[mode], pageSize: 25).pages.outcome().get()
            expectNoDifference(Set(pages.flatMap(\.records).map(\.recordId)), Set(1...60))
            let isCounted = version > .v17 || mode >= 3 && mode <= 5
            expectNoDifference(pages.last?.progress.total, isCounted ? 60 : nil)
        }
    }

    @Test(.thorough, arguments: modes.indices)
    func thoseThatAFindFinds(mode: Int) async throws {
        try await Hosted.run(Self.solution(250)) { database, _ in
            let found = database.layout(Note.self).find { $0(.number) > 100 && $0(.number) <= 190 }
            let records = try await found.all(Self.modes[mode], pageSize: 20).outcome().get()
            expectNoDifference(records.map(\.recordId).sorted(), Array(101...190))
            let none = found.filter { $0(.number) < 50 }
            try await expectIDs([], none.all(Self.modes[mode]))
            let noMatch = database.layout(Note.self).find { $0(.number) == 5_000 }
            try await expectIDs([], noMatch.all(Self.modes[mode]))
        }
    }

    @Test func sortedAndUntypedRecords() async throws {
        try await Hosted.run(Self.solution(60)) { database, _ in
            let notes = database.layout(Note.self)
            let sorted = notes.sorted(by: .name)
            try await expectIDs((1...60).reversed(), sorted.all(pageSize: 7))
            try await expectIDs((1...60).reversed(), sorted.all(.ids(by: .name), pageSize: 7))
            let fields = database.addLayout("Notes").of(FieldData.self)
            let numbers = try await fields.all(.windows(serial: "Number"), pageSize: 9).outcome().get()
            expectNoDifference(numbers.map { $0.fieldData["Number"]?.int }, Array(1...60))
        }
    }

    @Test func pagesTellHowFarTheyHaveCome() async throws {
        try await Hosted.run(Self.solution(25)) { database, sandbox in
            let all = database.layout(Note.self).all(pageSize: 10)
            let progress = try await all.pages.map(\.progress).outcome().get()
            expectNoDifference(
                progress,
                [10, 20, 25].map { DataAPI.PagingProgress(delivered: $0, total: 25, tableCount: 25) }
            )
            expectNoDifference(sandbox.counters.requests[.getRecords], 3)
            let told = Locked<[Int]>([])
            let records = try await ids(
                all.reportingProgress { progress in told.change { $0.append(progress.delivered) } }
            )
            expectNoDifference(records.count, 25)
            expectNoDifference(told.value, [10, 20, 25])
        }
    }

    /// This depends neither on the found set nor on the way to page.
    @Test(.thorough, arguments: modes.indices)
    func pagesTellHowManyRecordsTheTableHas(mode: Int) async throws {
        try await Hosted.run(Self.solution(60)) { database, _ in
            let notes = database.layout(Note.self)
            func expect(_ count: Int?, _ found: DataAPI.FoundSet<Note>) async throws {
                let pages = found.all(Self.modes[mode], pageSize: 100).pages
                let counts = try await pages.map(\.progress.tableCount).outcome().get()
                // Records by id come in chunks, each with the count.
                expectNoDifference(Set(counts), [count])
            }
            let some = notes.find { $0(.number) <= 20 }
            try await expect(60, some)
            _ = try await notes.delete(30).firstValue()
            try await expect(59, some)
            try await expect(59, notes.allRecords)
            // 401 comes without a number.
            try await expect(nil, notes.find { $0(.number) == 5_000 })
        }
    }

    @Test func aServerThatCountsNothingSaysNothingOfTheTable() async throws {
        try await Hosted.run(Self.solution(60), sandbox: { $0.serverVersion = .v17 }) { database, _ in
            let pages = database.layout(Note.self).all(pageSize: 100).pages
            let counts = try await pages.map(\.progress.tableCount).outcome().get()
            expectNoDifference(counts, [nil])
        }
    }

    @Test func anEmptyTableIsOnePageWithoutRecords() async throws {
        try await Hosted.run(
            Solution.single(fields: [.init("Number", .number), .init("Name")], layoutFields: ["Number", "Name"])
        ) { database, sandbox in
            let notes = database.layout(Note.self)
            let pages = try await notes.all().pages.outcome().get()
            expectNoDifference(pages.map(\.records.count), [0])
            expectNoDifference(
                pages.map(\.progress),
                [DataAPI.PagingProgress(delivered: 0, total: 0, tableCount: 0)]
            )
            expectNoDifference(sandbox.counters.requests[.getRecords], 1)
        }
    }

    // MARK: Demand

    @Test func nothingIsSentBeforeDemandAndAPageAheadIsReadInTime() async throws {
        try await Hosted.run(Self.solution(40)) { database, sandbox in
            let subscriber = TrackingSubscriber<DataAPI.TypedLayout<Note>.Record, FMRest.APIError>(
                initialDemand: .none
            )
            database.layout(Note.self).all(pageSize: 10).subscribe(subscriber)
            expectNoDifference(sandbox.counters.totalRequests, 0)
            subscriber.request(.max(5))
            await subscriber.valueCount(atLeast: 5)
            await settled { sandbox.counters.totalRequests }
            expectNoDifference(sandbox.counters.requests[.getRecords], 1)
            subscriber.request(.max(1))
            await until { sandbox.counters.requests[.getRecords] == 2 }
            // Only one page is read ahead.
            await settled { sandbox.counters.totalRequests }
            expectNoDifference(sandbox.counters.requests[.getRecords], 2)
            expectNoDifference(subscriber.values.map(\.recordId), Array(1...6))
            subscriber.request(.unlimited)
            await subscriber.completion()
            expectNoDifference(subscriber.values.map(\.recordId), Array(1...40))
        }
    }

    @Test func withoutDemandNoSessionIsHeld() async throws {
        let clock = ManualClock()
        try await Hosted.run(Self.solution(40), sandbox: { $0.clock = clock }) { database, sandbox in
            let notes = database.layout(Note.self)
            let subscriber = TrackingSubscriber<DataAPI.TypedLayout<Note>.Record, FMRest.APIError>(
                initialDemand: .max(8)
            )
            notes.all(pageSize: 10).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 8)
            // The page ahead has arrived as well.
            await until { sandbox.counters.requests[.getRecords] == 2 && database.sessionStatus.leased == 0 }
            await until { sandbox.sessions.map(\.isInUse) == [false] }
            sandbox.advanceClock(by: .seconds(600))
            // The only session is free for other calls.
            let count = try await notes.count().firstValue()
            expectNoDifference(count, 40)
            sandbox.advanceClock(by: .seconds(600))
            subscriber.request(.unlimited)
            await subscriber.completion()
            expectNoDifference(subscriber.values.map(\.recordId), Array(1...40))
        }
    }

    @Test func cancellingEndsThePageThatIsOnItsWay() async throws {
        try await Hosted.run(Self.solution(40)) { database, sandbox in
            sandbox.inject(.holdAnswer, on: .getRecords, skipping: 1)
            let subscriber = TrackingSubscriber<DataAPI.TypedLayout<Note>.Record, FMRest.APIError>()
            database.layout(Note.self).all(pageSize: 10).subscribe(subscriber)
            await sandbox.untilAnswersHeld()
            await subscriber.valueCount(atLeast: 10)
            subscriber.cancel()
            await until { database.sessionStatus.leased == 0 }
            sandbox.releaseAnswers()
            await settled { sandbox.counters.totalRequests }
            expectNoDifference(sandbox.counters.requests[.getRecords], 2)
            expectNoDifference(subscriber.values.count, 10)
            #expect(subscriber.completionIfAny == nil)
        }
    }

    @MainActor private func read(_ notes: DataAPI.TypedLayout<Note>) async throws -> (records: Int, onPages: Int) {
        let all = notes.all(pageSize: 10)
        var (records, onPages) = (0, 0)
        for try await _ in all.handleEvents(receiveOutput: { _ in MainActor.preconditionIsolated() }).values {
            records += 1
        }
        let pages = all.pages.handleEvents(receiveOutput: { _ in MainActor.preconditionIsolated() })
        for try await page in pages.values { onPages += page.records.count }
        return (records, onPages)
    }

    @Test func recordsArriveOnTheActorInWhoseCodeTheCallIs() async throws {
        try await Hosted.run(Self.solution(25)) { database, _ in
            let counts = try await read(database.layout(Note.self))
            expectNoDifference(counts.records, 25)
            expectNoDifference(counts.onPages, 25)
        }
    }

    // MARK: Changes by others meanwhile

    /// Reads pages one by one, and runs `act` after the first.
    private func pages(
        _ pages: DataAPI.RecordPages<Note>,
        then act: () async throws -> Void
    ) async throws -> [DataAPI.RecordPage<Note>] {
        let subscriber = TrackingSubscriber<DataAPI.RecordPage<Note>, FMRest.APIError>(initialDemand: .max(1))
        pages.pages.subscribe(subscriber)
        await subscriber.valueCount(atLeast: 1)
        try await act()
        subscriber.request(.unlimited)
        if case .failure(let error) = await subscriber.completion() { throw error }
        return subscriber.values
    }

    @Test(arguments: modes.indices)
    func aTornScanLosesNothingAndRepeatsNothing(mode: Int) async throws {
        let lines = LogLines()
        try await Hosted.run(Self.solution(30), client: { $0.logger = lines.logger(.warning) }) { database, _ in
            let notes = database.layout(Note.self)
            let pages = try await pages(notes.all(Self.modes[mode], pageSize: 10)) {
                _ = try await notes.delete(3).firstValue()
                _ = try await notes.create(Note(number: 31, name: "n9969")).firstValue()
            }
            let ids = pages.flatMap(\.records).map(\.recordId)
            expectNoDifference(Set(1...30).subtracting(ids).subtracting([3]), [])
            expectNoDifference(Set(ids).count, ids.count)
            let drift: [DataAPI.PageDrift] =
                if Self.modes[mode] == .offset {
                    [DataAPI.PageDrift(.moved, places: -1)]
                } else if Self.modes[mode] == .stable(by: .name) {
                    // By name the new record comes first, and the deleted one would have come late.
                    [DataAPI.PageDrift(.moved, places: 1), DataAPI.PageDrift(.gone, places: -1)]
                } else {
                    []
                }
            expectNoDifference(pages.flatMap(\.progress.drift), drift)
            expectNoDifference(pages.last?.progress.driftCount, drift.count)
            expectNoDifference(
                lines.all,
                drift.map {
                    "warning records moved between pages|"
                        + "drift=\($0.kind) fm.database=Single fm.layout=Notes places=\($0.places) records=0"
                }
            )
        }
    }

    @Test(arguments: [Paging.stable(by: .number), .windows(serial: .number), .stable(by: .name)])
    func whatIsDeletedBeforeItsPageIsTold(mode: DataAPI.Paging<Note>) async throws {
        let lines = LogLines()
        try await Hosted.run(Self.solution(30), client: { $0.logger = lines.logger(.warning) }) { database, _ in
            let notes = database.layout(Note.self)
            let pages = try await pages(notes.all(mode, pageSize: 10)) {
                for id in [14, 16] { _ = try await notes.delete(id).firstValue() }
            }
            expectNoDifference(pages.flatMap(\.records).count, 28)
            expectNoDifference(pages.last?.progress.drift, [DataAPI.PageDrift(.gone, places: -2)])
            expectNoDifference(pages.last?.progress.driftCount, 1)
            expectNoDifference(
                lines.all,
                [
                    "warning records moved between pages|"
                        + "drift=gone fm.database=Single fm.layout=Notes places=-2 records=0"
                ]
            )
        }
    }

    @Test func whatIsDeletedAfterTheIDsWereReadIsTold() async throws {
        try await Hosted.run(Self.solution(120)) { database, _ in
            let notes = database.layout(Note.self)
            let pages = try await pages(notes.all(.ids(by: .number, on: "Skinny"))) {
                for id in [60, 61, 119] { _ = try await notes.delete(id).firstValue() }
            }
            expectNoDifference(
                pages.flatMap(\.progress.drift),
                [DataAPI.PageDrift(.gone, recordIds: [60, 61]), DataAPI.PageDrift(.gone, recordIds: [119])]
            )
            expectNoDifference(pages.flatMap(\.records).count, 117)
            expectNoDifference(pages.first?.progress.total, 120)
        }
    }

    @Test(arguments: [Sandbox.FindPastEnd.noRecordsMatch, .recordMissing, .emptyPage], [true, false])
    func whatIsDeletedAtTheEndIsTheEnd(pastEnd: Sandbox.FindPastEnd, isFind: Bool) async throws {
        try await Hosted.run(Self.solution(30), sandbox: { $0.findPastEnd = pastEnd }) { database, _ in
            let notes = database.layout(Note.self)
            let found = isFind ? notes.find { $0(.number) > 0 } : notes.allRecords
            let pages = try await pages(found.all(pageSize: 10)) {
                for id in 6...30 { _ = try await notes.delete(id).firstValue() }
            }
            expectNoDifference(pages.flatMap(\.records).map(\.recordId), Array(1...10))
            expectNoDifference(pages.last?.progress.drift, [DataAPI.PageDrift(.moved, places: -5)])
        }
    }

    // MARK: Keys

    @Test(arguments: modes.indices)
    func recordsWithoutAKeyAreCounted(mode: Int) async throws {
        try await Hosted.run(Self.solution(30, withoutNumber: [4, 5, 30])) { database, _ in
            let pages = try await database.layout(Note.self).all(Self.modes[mode], pageSize: 10).pages.outcome().get()
            let isByNumber = (1...4).contains(mode)
            expectNoDifference(pages.flatMap(\.records).count, isByNumber ? 27 : 30)
            expectNoDifference(pages.last?.progress.total, isByNumber ? 27 : 30)
            expectNoDifference(pages.last?.progress.withoutKey, mode == 0 ? nil : isByNumber ? 3 : 0)
        }
    }

    @Test func aGapOfAHundredThousandNumbers() async throws {
        var solution = Self.solution(40)
        for index in 20..<40 { solution.tables[0].records[index].values["Number"] = "\(100_000 + index)" }
        try await Hosted.run(solution) { database, sandbox in
            let ids = try await ids(database.layout(Note.self).all(.windows(serial: .number)))
            expectNoDifference(ids, Array(1...40))
            #expect(sandbox.counters.totalRequests < 30)
        }
    }

    /// Texts of several words, which FileMaker compares word by word, and codes that look like numbers.
    @Test(arguments: [1, 7, 100])
    func keysOfAnyTextAreRead(pageSize: Int) async throws {
        var solution = Self.solution(40)
        for index in 0..<40 {
            let number = index * 7 % 40
            solution.tables[0].records[index].values["Name"] =
                switch index % 3 {
                case 0: "\(10_000_000 + number)-8b86-d011-b42d-\(index)"
                case 1: "two words \(number)"
                default: "00\(index)"
                }
        }
        try await Hosted.run(solution) { database, sandbox in
            let notes = database.layout(Note.self)
            let sorted = try await notes.sorted(by: .name).page(limit: 100).firstValue().data.map(\.recordId)
            let before = sandbox.counters.requests[.find] ?? 0
            let pages = try await notes.all(.stable(by: .name), pageSize: pageSize).pages.outcome().get()
            expectNoDifference(pages.flatMap(\.records).map(\.recordId), sorted)
            expectNoDifference(pages.flatMap(\.progress.drift), [])
            let perPage = [1: 40, 7: 6, 100: 1][pageSize] ?? 0
            expectNoDifference((sandbox.counters.requests[.find] ?? 0) - before, 1 + perPage)
        }
    }

    struct Numberless: LayoutRecord {
        static let layout = "Notes"
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name", number = "Number" }
        init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
        }
    }

    @Test func whatCannotBePagedIsSaid() async throws {
        try await Hosted.run(Self.solution(30)) { database, sandbox in
            let notes = database.layout(Note.self)
            func failure(_ pages: some Publisher<some Sendable, FMRest.APIError>) async -> FMRest.APIError? {
                await pages.outcome().failure
            }
            let sorted = await failure(notes.sorted(by: .name).all(.stable(by: .number)))
            expectNoDifference(sorted?.code, .invalidRequest)
            #expect(sorted?.reason.contains("Name") == true)
            let noPage = await failure(notes.all(pageSize: 0))
            expectNoDifference(noPage?.code, .invalidRequest)
            expectNoDifference(sandbox.counters.totalRequests, 0)

            let numberless = database.layout(Numberless.self)
            let missing = await failure(numberless.all(.stable(by: .number), pageSize: 10))
            expectNoDifference(missing?.code, .invalidRequest)
            #expect(missing?.reason.contains("\"Number\"") == true)
            let hidden = await failure(notes.all(.ids(by: .number, on: "Names")))
            expectNoDifference(hidden?.code, .invalidRequest)
            #expect(hidden?.reason.contains("\"Number\"") == true)

            let serial = await failure(notes.all(.windows(serial: .name)))
            expectNoDifference(serial?.code, .invalidRequest)

            // One call cannot express this find.
            let split = notes.find { $0(.name).hasWords("n") && $0(.name).begins(with: "n/F") }
            let several = await failure(split.all())
            expectNoDifference(several?.code, .invalidRequest)
        }
    }

    // MARK: Failure is not emptiness

    static let faults: [(Sandbox.Fault, FMRest.APIError.Code)] = [
        (.html(status: 502), .notDataAPI), (.brokenJSON, .decoding), (.cut(afterBodyBytes: 50), .network),
        (.restart, .notDataAPI), (.empty(status: 200), .notDataAPI), (.error(FileMakerError(9)), .fileMaker),
    ]

    @Test(.thorough, arguments: faults.indices, modes.indices)
    func aPageThatFailsIsNoEnd(fault: Int, mode: Int) async throws {
        let (fault, code) = Self.faults[fault]
        try await Hosted.run(Self.solution(30)) { database, sandbox in
            let all = database.layout(Note.self).all(Self.modes[mode], pageSize: 10)
            let subscriber = TrackingSubscriber<DataAPI.RecordPage<Note>, FMRest.APIError>(initialDemand: .max(1))
            all.pages.subscribe(subscriber)
            await subscriber.valueCount(atLeast: 1)
            sandbox.inject(fault, on: mode == 0 ? .getRecords : .find)
            subscriber.request(.unlimited)
            guard case .failure(let error) = await subscriber.completion() else {
                // By id, the three pages come with one request, before the fault.
                return #expect((3...5).contains(mode), "it has failed")
            }
            expectNoDifference(error.code, code)
            sandbox.clearFaults()
            // The records can be read again, after a restart with one login.
            let again = try await ids(all)
            expectNoDifference(again.count, 30)
            #expect(sandbox.counters.logins <= 2)
        }
    }

    /// The error that means "no records", for a page that is not empty.
    @Test(.thorough, arguments: [401, 101], modes.indices)
    func aWrongWordThatNothingIsThereLosesNothing(code: Int, mode: Int) async throws {
        for page in 1..<4 {
            try await Hosted.run(Self.solution(30)) { database, sandbox in
                let endpoint: Sandbox.Endpoint = mode == 0 ? .getRecords : .find
                // Before the pages, some ways to page find the ends of the key.
                let probes = [0, 1, 2, 0, 0, 0, 1][mode]
                sandbox.inject(.error(FileMakerError(code)), on: endpoint, skipping: probes + page)
                let ids = try await ids(database.layout(Note.self).all(Self.modes[mode], pageSize: 10))
                expectNoDifference(Set(ids), Set(1...30), "page \(page)")
                expectNoDifference(ids.count, 30, "page \(page)")
            }
        }
    }

    @Test(arguments: modes.indices)
    func aLostSessionIsRenewedBetweenPages(mode: Int) async throws {
        try await Hosted.run(Self.solution(30)) { database, sandbox in
            let pages = try await pages(database.layout(Note.self).all(Self.modes[mode], pageSize: 10)) {
                sandbox.expireSessions()
            }
            expectNoDifference(Set(pages.flatMap(\.records).map(\.recordId)), Set(1...30))
            #expect(sandbox.counters.logins <= 2)
        }
    }

    // MARK: Sizes

    @Test func theConfigurationMayFixTheSizeOfPages() async throws {
        try await Hosted.run(Self.solution(30), client: { $0.pageSize = 12 }) { database, _ in
            let notes = database.layout(Note.self)
            let sizes = try await notes.all().pages.map(\.records.count).outcome().get()
            expectNoDifference(sizes, [12, 12, 6])
            let given = try await notes.all(pageSize: 20).pages.map(\.records.count).outcome().get()
            expectNoDifference(given, [20, 10])
        }
    }

    @Test func pagesGrowAndTheirSizeIsRememberedForTheLayout() async throws {
        try await Hosted.run(Self.solution(3_000)) { database, _ in
            let notes = database.layout(Note.self)
            // A machine that stalls for half a second gets smaller pages, which is right, too.
            let sizes = try await notes.all().pages.map(\.records.count).outcome().get()
            expectNoDifference(sizes.reduce(0, +), 3_000)
            expectNoDifference(sizes.first, 100)
            #expect(database.accountPeriod.pageSizes["records Notes\n"] != nil)
            let view = database.timeouts { $0.total = .seconds(600) }
            #expect(view.accountPeriod.pageSizes === database.accountPeriod.pageSizes)
        }
    }
}
