import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

@Suite struct PollRunTests {
    /// Asks for the records that were modified at midnight or later.
    private struct Modified: PollStrategy {
        let watch = DataAPI.LiveWatch.automatic
        var pages: [PollPage] = []

        mutating func begin(_ known: PollKnowledge) -> PollQuestion {
            .modifiedRecords(field: "ModifiedAt", since: PolledTable.stamp(0))
        }

        mutating func received(_ page: PollPage) { pages.append(page) }
        mutating func answered() -> PollStep { .done(.changes) }
    }

    private func page(_ id: Int, modId: Int) -> PollRun<FieldData>.AnswerPage {
        let version = DataAPI.RecordVersion(recordId: id, modId: modId)
        return PollRun.AnswerPage(
            page: PollPage(rows: [version]),
            attempts: [.record(DataAPI.Record(fieldData: [:], recordId: id, modId: modId))]
        )
    }

    /// A record that is modified during the poll moves to a later page.
    @Test func aRecordThatComesTwiceIsNewOnceForEachVersion() throws {
        var run = PollRun<FieldData>(
            Modified(),
            HeldTable(versions: [1: 4]),
            isWholeTable: true,
            isSorted: false,
            comparesContents: false
        )
        var news: [[DataAPI.RecordVersion]] = []
        for (id, modId) in [(1, 4), (1, 5), (2, 0), (1, 5), (1, 6)] {
            news.append(try run.received(page(id, modId: modId)).map(\.version))
        }
        expectNoDifference(
            news.map { $0.map(\.modId) },
            // Version 4 is known, and version 5 was read before.
            [[], [5], [0], [], [6]]
        )
        let pages = (run.strategy as? Modified)?.pages ?? []
        expectNoDifference(pages.map(\.changed), [0, 1, 1, 0, 1])
        expectNoDifference(pages.map(\.arrivals), [0, 0, 1, 0, 0])
    }
}
