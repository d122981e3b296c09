import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

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
