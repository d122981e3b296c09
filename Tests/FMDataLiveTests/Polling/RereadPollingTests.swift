import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

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
