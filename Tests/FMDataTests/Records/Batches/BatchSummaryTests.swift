import CustomDump
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMData

/// What is kept of a batch.
@Suite(.timeLimit(.minutes(15))) struct BatchSummaryTests {
    // MARK: Ranges

    @Test(arguments: UInt64(1)...20)
    func rangesAreASet(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var ranges = RowRanges()
        var rows: Set<Int> = []
        for _ in 0..<500 {
            let row = Int.random(in: 0..<60, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                ranges.remove(row)
                rows.remove(row)
            } else {
                ranges.insert(row)
                rows.insert(row)
            }
        }
        expectNoDifference((0..<60).filter(ranges.contains), rows.sorted())
        for (left, right) in zip(ranges.ranges, ranges.ranges.dropFirst()) {
            #expect(left.upperBound < right.lowerBound)
        }
        expectNoDifference(try decoded(encoded(ranges)), ranges)
    }

    @Test func rangesThatWereWrittenByHandAreSorted() throws {
        let ranges = try decoded("[[5,7],[0,2],[6,9],[3,3]]") as RowRanges
        expectNoDifference(ranges.ranges, [0..<2, 5..<9])
        #expect(throws: DecodingError.self) { try decoded("[[2,1]]") as RowRanges }
        #expect(throws: DecodingError.self) { try decoded("[[2]]") as RowRanges }
    }

    // MARK: Counting

    private static let locked = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: .recordInUse)
    private static let invalid = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: .valueRequired)
    private static let lost = FMRest.APIError(.network, reason: "", outcomeIsUnknown: true)

    private static var one: DataAPI.BatchSummary {
        var summary = DataAPI.BatchSummary()
        summary.add(.init(index: 0, outcome: .created(recordId: 1, modId: 0)))
        summary.add(.init(index: 1, outcome: .edited(recordId: 1, modId: 1)))
        summary.add(.init(index: 2, outcome: .deleted(wasThere: nil)))
        summary.add(.init(index: 3, key: "c", outcome: .failed(locked)))
        summary.add(.init(index: 4, key: "d", outcome: .failed(invalid)))
        summary.add(.init(index: 5, key: "e", outcome: .unknown(lost)))
        summary.add(.init(index: 6, outcome: .skipped))
        return summary
    }

    @Test func everyOutcomeIsCounted() {
        let summary = Self.one
        expectNoDifference(
            summary.description,
            "1 created, 1 edited, 1 deleted, 2 failed, 1 unknown, 1 skipped"
        )
        expectNoDifference(summary.rowCount, 7)
        #expect(!summary.isComplete)
        expectNoDifference(summary.problems.map(\.index), [3, 4, 5])
        expectNoDifference(summary.problems.map(\.key), ["c", "d", "e"])
        expectNoDifference(summary.problems.map(\.isUnknown), [false, false, true])
        expectNoDifference(summary.problems.map(\.cause.fileMakerCode), [301, 509, nil])
        expectNoDifference(summary.problems.map(\.cause.isRetryable), [true, false, false])
        expectNoDifference(
            (0...7).map(summary.state),
            [.done, .done, .done, .retryable, .refused, .unknown, .skipped, nil]
        )
    }

    @Test func aRowOfALaterRunTakesThePlaceOfTheEarlierOne() {
        var summary = Self.one
        summary.add(.init(index: 3, outcome: .created(recordId: 3, modId: 0)))
        summary.add(.init(index: 5, outcome: .created(recordId: 5, modId: 0)))
        summary.add(.init(index: 6, outcome: .failed(Self.invalid)))
        expectNoDifference(
            summary.description,
            "3 created, 1 edited, 1 deleted, 2 failed, 0 unknown, 0 skipped"
        )
        expectNoDifference(summary.problems.map(\.index), [4, 6])
    }

    @Test func whatIsToldOfSingleRowsIsBounded() {
        var summary = DataAPI.BatchSummary()
        summary.maximumProblems = 2
        for index in 0..<5 { summary.add(.init(index: index, outcome: .failed(Self.locked))) }
        expectNoDifference(summary.failedCount, 5)
        expectNoDifference(summary.problems.map(\.index), [0, 1])
        expectNoDifference(summary.omittedProblemCount, 3)
        summary.add(.init(index: 4, outcome: .created(recordId: 1, modId: 0)))
        expectNoDifference(summary.omittedProblemCount, 2)
    }

    @Test func itCanBeKept() throws {
        let summary = Self.one
        expectNoDifference(try decoded(encoded(summary)), summary)
    }

    @Test func noKeyIsPrinted() {
        var summary = DataAPI.BatchSummary()
        summary.add(.init(index: 0, key: "secret-key", outcome: .failed(Self.invalid)))
        var dump = ""
        Swift.dump(summary, to: &dump)
        #expect(!dump.contains("secret-key"))
        #expect(!"\(summary)".contains("secret-key"))
        let row = DataAPI.BatchRow(index: 0, key: "secret-key", outcome: .skipped)
        dump = ""
        Swift.dump(row, to: &dump)
        #expect(!dump.contains("secret-key"))
        expectNoDifference("\(row)", "row 0: skipped")
    }

    // MARK: Of a publisher

    @Test func nothingHappensBeforeDemandAndWhatStoppedItIsSaid() async {
        let rows = PassthroughSubject<DataAPI.BatchRow, FMRest.APIError>()
        let subscriptions = Locked(0)
        let subscriber = TrackingSubscriber<DataAPI.BatchSummary, FMRest.APIError>(initialDemand: .none)
        rows.handleEvents(receiveSubscription: { _ in subscriptions.change { $0 += 1 } })
            .summarized()
            .subscribe(subscriber)
        expectNoDifference(subscriptions.value, 0)
        subscriber.request(.max(1))
        expectNoDifference(subscriptions.value, 1)
        rows.send(.init(index: 0, outcome: .created(recordId: 1, modId: 0)))
        rows.send(completion: .failure(Self.invalid))
        expectNoDifference(subscriber.values.map(\.createdCount), [1])
        expectNoDifference(subscriber.values.map(\.stop?.fileMakerCode), [509])
        expectNoDifference(subscriber.values.map(\.isComplete), [false])
        guard case .finished = subscriber.completionIfAny else {
            Issue.record("it does not fail")
            return
        }
    }

    private func encoded(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    private func decoded<Value: Decodable>(_ json: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    }
}
