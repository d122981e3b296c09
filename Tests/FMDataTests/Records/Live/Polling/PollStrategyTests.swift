import CustomDump
import Foundation
import Testing

@testable import FMData

@Suite struct RereadPollingTests {
    @Test func allRecordsComeEachTimeAndTheNewsIsWhatHasChanged() throws {
        var table = PolledTable(250)
        var polls = RecordedPolls(RereadPolling(maximum: 5_000))
        expectNoDifference(try polls.poll(table).news.count, 250)
        table.edit(7, at: nil)
        table.delete(9)
        expectNoDifference(
            try polls.poll(table),
            RecordedPolls.Poll(asked: ["records"], rows: 249, news: [7], missing: [9])
        )
    }

    @Test func moreThanTheMaximumIsAFailure() {
        let table = PolledTable(201)
        var polls = RecordedPolls(RereadPolling(maximum: 200))
        #expect(throws: PollFailure.tooMany(200)) { try polls.poll(table) }
    }

    @Test func contentsThatAreComparedAllCome() throws {
        let table = PolledTable(3)
        var polls = RecordedPolls(RereadPolling(maximum: 5))
        polls.comparesContents = true
        expectNoDifference(try polls.poll(table).news, [1, 2, 3])
        expectNoDifference(try polls.poll(table).news, [1, 2, 3])
    }

    @Test func aRecordThatCannotBeDecodedComesWithTheOthers() throws {
        var table = PolledTable(3)
        table.rows[1].isReadable = false
        var polls = RecordedPolls(RereadPolling(maximum: 5))
        expectNoDifference(try polls.poll(table).news, [1, 2, 3])
    }

    @Test func whenNoneCanBeDecodedThePollFails() {
        var table = PolledTable(3)
        for place in table.rows.indices { table.rows[place].isReadable = false }
        var polls = RecordedPolls(RereadPolling(maximum: 5))
        #expect(throws: FMRest.APIError.self) { try polls.poll(table) }
        // If there is only one record, it is unknown whether the record or the type is wrong.
        table.rows.removeLast(2)
        #expect(throws: Never.self) { try polls.poll(table) }
        var one = RecordedPolls(RecordPolling(id: 1))
        #expect(throws: FMRest.APIError.self) { try one.poll(table) }
    }
}

@Suite struct ScanPollingTests {
    @Test func theRecordsAreReadOnceAndThenWhatHasChanged() throws {
        var table = PolledTable(6_000)
        var polls = RecordedPolls(ScanPolling(layout: "ids"))
        expectNoDifference(try polls.poll(table).asked, ["records"])
        expectNoDifference(
            try polls.poll(table),
            RecordedPolls.Poll(asked: ["versions"], rows: 6_000, missing: [])
        )
        table.edit(7, at: nil)
        table.delete(9)
        table.rows.append(PolledTable.Row(id: 6_001))
        expectNoDifference(
            try polls.poll(table),
            RecordedPolls.Poll(asked: ["versions", "changes"], rows: 6_002, news: [7, 6_001], missing: [9])
        )
    }

    @Test func aSmallSetIsReadAgainAndALargeOneIsCompared() throws {
        var polls = RecordedPolls(AutomaticPolling())
        let small = PolledTable(AutomaticPolling.mostReread)
        _ = try polls.poll(small)
        expectNoDifference(try polls.poll(small).asked, ["records"])
        expectNoDifference(polls.strategy.watch, .reread)
        let large = PolledTable(AutomaticPolling.mostReread + 1)
        _ = try polls.poll(large)
        expectNoDifference(try polls.poll(large).asked, ["versions"])
        expectNoDifference(polls.strategy.watch, .automatic)
    }
}

@Suite struct ScriptPollingTests {
    @Test func whatTheScriptNamesAnewIsRead() throws {
        var table = PolledTable(3)
        var polls = RecordedPolls(ScriptPolling(name: "Versions", parameter: nil))
        expectNoDifference(try polls.poll(table).asked, ["script", "changes"])
        expectNoDifference(try polls.poll(table).asked, ["script"])
        table.edit(2, at: nil)
        expectNoDifference(try polls.poll(table).news, [2])
    }
}

@Suite struct LogPollingTests {
    private static func polls() -> RecordedPolls {
        RecordedPolls(LogPolling(layout: "Log", serial: "Serial", reconcile: 3))
    }

    @Test func withoutNewEntriesNothingIsRead() throws {
        var table = PolledTable(300)
        table.log = [4, 5]
        var polls = Self.polls()
        expectNoDifference(try polls.poll(table).asked, ["entries", "records"])
        expectNoDifference(try polls.poll(table), RecordedPolls.Poll(asked: ["entries"]))
        table.log.append(6)
        table.edit(7, at: nil)
        expectNoDifference(try polls.poll(table).asked, ["entries", "versions", "changes"])
        expectNoDifference(try polls.poll(table).asked, ["entries"])
    }

    @Test func nowAndThenAllIdsAreComparedWhateverTheLogSays() throws {
        var table = PolledTable(3)
        var polls = Self.polls()
        _ = try polls.poll(table)
        table.delete(2)
        let asked = try (0..<3).map { _ in try polls.poll(table) }
        expectNoDifference(asked.map(\.asked), [["entries"], ["entries"], ["entries", "versions"]])
        expectNoDifference(asked.last?.missing, [2])
    }
}

@Suite struct RelatedPollingTests {
    @Test func recordsAreReadAgainEverySoManyPollsHoweverOftenOthersListThem() throws {
        var table = PolledTable(3)
        var polls = RecordedPolls(
            RelatedPolling(.reread(every: 4), StampPolling(field: "T", layout: nil, overlap: .zero, reconcile: 2))
        )
        _ = try polls.poll(table)
        let asked = try (0..<8).map { _ in
            // Each poll finds a change and compares all ids.
            table.rows.append(PolledTable.Row(id: table.rows.count + 1, stamp: PolledTable.stamp(table.rows.count)))
            return try polls.poll(table).asked.contains("records")
        }
        expectNoDifference(asked, [false, false, false, true, false, false, false, true])
    }

    @Test func recordsAreReadAgainWhenTheRelatedTableHasChanged() throws {
        var table = PolledTable(3)
        table.related = [DataAPI.RecordVersion(recordId: 1, modId: 0)]
        var polls = RecordedPolls(RelatedPolling(.watch(layout: "Lines"), ScanPolling(layout: nil)))
        expectNoDifference(try polls.poll(table).asked, ["related", "records"])
        expectNoDifference(try polls.poll(table).asked, ["related", "versions"])
        table.related = [DataAPI.RecordVersion(recordId: 1, modId: 1)]
        expectNoDifference(try polls.poll(table).asked, ["related", "records"])
    }
}

@Suite struct StampPollingTests {
    private static func polls(reconcile: Int = 20) -> RecordedPolls {
        RecordedPolls(StampPolling(field: "T", layout: nil, overlap: .seconds(120), reconcile: reconcile))
    }

    /// A table of 10,000 records, each of which was modified an hour after the one before.
    private static func table() -> PolledTable {
        var table = PolledTable(10_000)
        for place in table.rows.indices { table.rows[place].stamp = PolledTable.stamp(place * 3_600) }
        return table
    }

    private static func now(_ table: PolledTable, _ seconds: Int = 0) -> FMTimestamp {
        PolledTable.stamp(10_000 * 3_600 + seconds)
    }

    @Test func aQuietPollOfALargeTableAsksForTheNewestStampsAndNoMore() throws {
        let table = Self.table()
        var polls = Self.polls()
        expectNoDifference(try polls.poll(table).asked, ["newest", "records"])
        expectNoDifference(try polls.poll(table), RecordedPolls.Poll(asked: ["modified"], rows: StampPolling.support))
    }

    @Test func oneEditIsTwoQuestions() throws {
        var table = Self.table()
        var polls = Self.polls()
        _ = try polls.poll(table)
        table.edit(7, at: Self.now(table))
        let poll = try polls.poll(table)
        expectNoDifference(poll.asked, ["modified", "changes"])
        expectNoDifference(poll.news, [7])
        expectNoDifference(try polls.poll(table).news, [])
    }

    @Test func aDeletionShowsInTheNumberOfRecords() throws {
        var table = Self.table()
        var polls = Self.polls()
        _ = try polls.poll(table)
        table.delete(5_000)
        let poll = try polls.poll(table)
        expectNoDifference(poll.asked, ["modified", "versions"])
        expectNoDifference(poll.missing, [5_000])
        // A deletion beside an insertion is noticed as well, although the number stays the same.
        table.delete(4_000)
        table.rows.append(PolledTable.Row(id: 10_001, stamp: Self.now(table)))
        expectNoDifference(try polls.poll(table).missing, [4_000])
    }

    @Test func recordsThatTheAccountDoesNotSeeAreNoDeletions() throws {
        var table = Self.table()
        table.unseen = 17
        var polls = Self.polls()
        _ = try polls.poll(table)
        expectNoDifference(try polls.poll(table).asked, ["modified"])
    }

    @Test func ofAFilteredQueryTheNumberIsAsked() throws {
        var table = Self.table()
        for place in table.rows.indices { table.rows[place].isFound = place.isMultiple(of: 2) }
        var polls = Self.polls()
        polls.isWholeTable = false
        _ = try polls.poll(table)
        expectNoDifference(try polls.poll(table).asked, ["modified", "count"])
        table.edit(1, at: Self.now(table)) { $0.isFound = false }
        let poll = try polls.poll(table)
        expectNoDifference(poll.asked, ["modified", "count", "versions"])
        expectNoDifference(poll.missing, [1])
    }

    @Test func manyThatHaveChangedComeInOneFind() throws {
        var table = Self.table()
        var polls = Self.polls()
        _ = try polls.poll(table)
        for id in 1...2_000 { table.edit(id, at: Self.now(table, id / 100)) }
        let poll = try polls.poll(table)
        expectNoDifference(poll.asked, ["modified", "modified records"])
        expectNoDifference(poll.news.count, 2_000)
        expectNoDifference(try polls.poll(table).news, [])
    }

    @Test func aFewStampsInTheFutureHideNothing() throws {
        var table = Self.table()
        var polls = Self.polls(reconcile: 1_000)
        _ = try polls.poll(table)
        // A client whose clock is nine hours ahead of all others.
        for id in 1...30 { table.edit(id, at: Self.now(table, 9 * 3_600 + id)) }
        expectNoDifference(try polls.poll(table).news, Array(1...30))
        for id in 31...60 {
            table.edit(id, at: Self.now(table, id))
            expectNoDifference(try polls.poll(table).news, [id])
        }
    }

    @Test func manyStampsInTheFutureHideOthersOnceAtMost() throws {
        var table = Self.table()
        var polls = Self.polls(reconcile: 5)
        _ = try polls.poll(table)
        for id in 1...100 { table.edit(id, at: Self.now(table, 9 * 3_600 + id)) }
        _ = try polls.poll(table)
        table.edit(200, at: Self.now(table, 1))
        var news: [[Int]] = []
        for _ in 0..<4 { news.append(try polls.poll(table).news) }
        expectNoDifference(news, [[], [], [], [200]])
    }

    @Test func stampsAheadOfEveryClockInTheWorldAreNone() throws {
        var table = Self.table()
        table.date = Self.now(table).instant(in: .gmt)
        var polls = Self.polls(reconcile: 1_000)
        _ = try polls.poll(table)
        for id in 1...500 { table.edit(id, at: FMTimestamp("2090-01-01T00:00:00")) }
        _ = try polls.poll(table)
        table.edit(600, at: Self.now(table, 60))
        expectNoDifference(try polls.poll(table).news, [600])
    }

    @Test func theMarkStaysWhereItIsWhenTheTableMoves() throws {
        var table = Self.table()
        table.pageSize = 10
        var polls = Self.polls()
        _ = try polls.poll(table)
        let mark = (polls.strategy as? StampPolling)?.mark
        for id in 1...100 { table.edit(id, at: Self.now(table, id)) }
        table.isInMotion = true
        _ = try polls.poll(table)
        expectNoDifference((polls.strategy as? StampPolling)?.mark, mark)
        table.isInMotion = false
        _ = try polls.poll(table)
        expectNoDifference((polls.strategy as? StampPolling)?.mark == mark, false)
    }

    @Test func ofASortedQueryThePlacesAreAskedWhenSomethingHasChanged() throws {
        var table = Self.table()
        var polls = Self.polls()
        polls.isSorted = true
        _ = try polls.poll(table)
        expectNoDifference(try polls.poll(table).asked, ["modified"])
        table.edit(7, at: Self.now(table))
        expectNoDifference(try polls.poll(table).asked, ["modified", "changes", "versions"])
    }
}

@Suite struct ReadPlanTests {
    @Test func aFewAreReadOneByOne() {
        let records = (1...20).map { ChangedRecord(id: $0, place: $0, key: .text("\($0)")) }
        expectNoDifference(ReadPlan.parts(records, pageSize: 100), (1...20).map { .single($0) })
    }

    @Test func manyAreReadByTheirKeysFiftyAtATime() {
        let records = (1...402).map { ChangedRecord(id: $0, place: $0, key: .text("\($0)")) }
        let parts = ReadPlan.parts(records, pageSize: 100)
        expectNoDifference(parts.count, 9)
        expectNoDifference(parts.first, .having((1...50).map { .text("\($0)") }))
    }

    @Test func withoutKeysThePagesAreReadOnWhichTheyStand() {
        let places = [3, 90, 103, 1_000, 1_099, 1_100] + (2_000..<2_020)
        let records = places.map { ChangedRecord(id: $0, place: $0) }
        expectNoDifference(
            ReadPlan.parts(records, pageSize: 100),
            [
                .places(3...90), .places(103...103), .places(1_000...1_099), .places(1_100...1_100),
                .places(2_000...2_019),
            ]
        )
    }

    @Test func whatHasNeitherIsReadOneByOne() {
        let records = (1...30).map { ChangedRecord(id: $0) }
        expectNoDifference(ReadPlan.parts(records, pageSize: 100), (1...30).map { .single($0) })
    }
}
