import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

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

    /// With the other changes, or in a call of their own.
    @Test func whatCannotBeDecodedIsReadAgainByEachPoll() throws {
        var table = PolledTable(6_000)
        for place in 0..<30 { table.rows[place].isReadable = false }
        var polls = RecordedPolls(ScanPolling(layout: "ids"))
        _ = try polls.poll(table)
        let again = Array(1...30)
        for _ in 0..<2 {
            expectNoDifference(
                try polls.poll(table),
                RecordedPolls.Poll(asked: ["versions", "changes"], rows: 6_030, news: again, missing: [])
            )
        }
        for place in 0..<30 { table.rows[place].isReadable = true }
        table.edit(70, at: nil)
        expectNoDifference(
            try polls.poll(table),
            RecordedPolls.Poll(asked: ["versions", "changes"], rows: 6_031, news: again + [70], missing: [])
        )
        expectNoDifference(try polls.poll(table).asked, ["versions"])
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
