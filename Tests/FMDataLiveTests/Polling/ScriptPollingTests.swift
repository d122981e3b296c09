import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

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
