import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

@Suite struct StampPollingTests {
    /// Their timestamps do not show that they can be decoded again: some are asked for by each poll, and all of them
    /// when all ids are compared.
    @Test func whatCannotBeDecodedIsReadAgain() throws {
        var table = PolledTable(200)
        for place in 0..<30 { table.rows[place].isReadable = false }
        var polls = RecordedPolls(StampPolling(field: "ModifiedAt", layout: nil, overlap: .zero, reconcile: 3))
        _ = try polls.poll(table)
        for _ in 0..<2 {
            let poll = try polls.poll(table)
            expectNoDifference(poll.asked, ["modified", "changes"])
            expectNoDifference(poll.news, Array(1...20))
        }
        for place in 0..<30 { table.rows[place].isReadable = true }
        let poll = try polls.poll(table)
        expectNoDifference(poll.asked, ["modified", "versions", "changes"])
        expectNoDifference(poll.news, Array(1...30))
    }

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
