import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

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
        // A commit that does not concern the query.
        table.log.append(7)
        expectNoDifference(try polls.poll(table).asked, ["entries", "versions"])
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
