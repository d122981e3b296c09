import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// What the summary of a batch contains.
@Suite(.timeLimit(.minutes(15))) struct BatchSummaryTests {
    private static let locked = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: .recordInUse)
    private static let invalid = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: .valueRequired)
    private static let lost = FMRest.APIError(.network, reason: "", outcomeIsUnknown: true)

    @Test func everyResultIsCounted() {
        var summary = DataAPI.BatchSummary()
        summary.add(.init(index: 0, result: .created(recordId: 1, modId: 0)))
        summary.add(.init(index: 1, result: .updated(recordId: 1, modId: 1), isFromJournal: true))
        summary.add(.init(index: 2, result: .deleted(wasThere: nil)))
        summary.add(.init(index: 3, key: "c", result: .failed(Self.locked)))
        summary.add(.init(index: 4, key: "d", result: .failed(Self.invalid)))
        summary.add(.init(index: 5, key: "e", result: .unknown(Self.lost)))
        summary.add(.init(index: 6, result: .skipped))
        summary.add(.init(index: 7, result: .init(.unchanged, recordId: 1)))
        expectNoDifference(
            summary.description,
            "1 created, 2 updated, 1 deleted, 2 failed, 1 unknown, 1 skipped"
        )
        expectNoDifference(summary.rowCount, 8)
        expectNoDifference(summary.journalCount, 1)
        #expect(!summary.isComplete)
        expectNoDifference(summary.problems.map(\.index), [3, 4, 5])
        expectNoDifference(summary.problems.map(\.key), ["c", "d", "e"])
        expectNoDifference(summary.problems.map(\.isUnknown), [false, false, true])
        expectNoDifference(summary.problems.map(\.cause.fileMakerCode), [301, 509, nil])
        expectNoDifference(summary.problems.map(\.cause.isRetryable), [true, false, false])
    }

    @Test func whatIsToldOfSingleRowsIsBounded() {
        var summary = DataAPI.BatchSummary()
        summary.maximumProblems = 2
        for index in 0..<5 { summary.add(.init(index: index, result: .failed(Self.locked))) }
        expectNoDifference(summary.failedCount, 5)
        expectNoDifference(summary.problems.map(\.index), [0, 1])
        expectNoDifference(summary.omittedProblemCount, 3)
    }

    @Test func noKeyIsPrinted() {
        var summary = DataAPI.BatchSummary()
        summary.add(.init(index: 0, key: "secret-key", result: .failed(Self.invalid)))
        var dump = ""
        Swift.dump(summary, to: &dump)
        #expect(!dump.contains("secret-key"))
        #expect(!"\(summary)".contains("secret-key"))
        let row = DataAPI.BatchRow(index: 0, key: "secret-key", result: .skipped)
        dump = ""
        Swift.dump(row, to: &dump)
        #expect(!dump.contains("secret-key"))
        expectNoDifference("\(row)", "row 0: skipped")
    }
}
