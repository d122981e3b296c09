import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMData

/// A run that goes on where another one ended.
@Suite(.timeLimit(.minutes(15))) struct BatchResumeTests {
    private static func run(
        count: Int = 0,
        _ body: (DataAPI.TypedLayout<Member>, Sandbox) async throws -> Void
    ) async throws {
        try await Hosted.run(.people(count: count), client: { $0.sessions.maximumSessions = 4 }) {
            try await body($0.layout(Member.self), $1)
        }
    }

    private static let options = DataAPI.BatchOptions(idempotencyKey: "UUID", patience: .milliseconds(1))

    /// As a program keeps it.
    private static func kept(_ summary: DataAPI.BatchSummary) throws -> DataAPI.BatchSummary {
        try JSONDecoder().decode(DataAPI.BatchSummary.self, from: JSONEncoder().encode(summary))
    }

    @Test func whatWasDoneIsPassedOverAndWhatMayPassIsSentAgain() async throws {
        try await Self.run { people, sandbox in
            let input = Member.numbered(0..<20) + [Member(name: "")]
            sandbox.inject(.error(.init(301)), on: .createRecord, skipping: 4, count: nil)
            let first = try await input.publisher.create(in: people, options: Self.options).summary.firstValue()
            expectNoDifference(first.createdCount, 4)
            expectNoDifference(first.failedCount, 17)
            sandbox.clearFaults()
            let again = input.publisher.create(in: people, options: Self.options.resuming(after: try Self.kept(first)))
            let second = try await again.summary.firstValue()
            expectNoDifference(second.createdCount, 20)
            // That one is not sent again: it would fail again.
            expectNoDifference(second.problems.map(\.index), [20])
            expectNoDifference(sandbox.people.count, 20)

            var corrected = input
            corrected[20].name = "Zoe"
            let options = Self.options.resuming(after: second, retryingAll: true)
            let rows = try await corrected.publisher.create(in: people, options: options).outcome().get()
            expectNoDifference(rows.map(\.short), ["20 created"])
        }
    }

    @Test func whatWasUnknownIsLookedUp() async throws {
        try await Self.run { people, sandbox in
            // Neither the answer nor the look comes through.
            sandbox.inject(.resetAfterExecution, on: .createRecord, count: 1)
            sandbox.inject(.reset, on: .createRecord, count: 1)
            sandbox.inject(.error(.init(802)), on: .find, count: 2)
            let input = Member.numbered(0..<5)
            let first = try await input.publisher.create(in: people, options: Self.options).summary.firstValue()
            expectNoDifference(first.unknownCount, 2)
            expectNoDifference(sandbox.people.count, 4)
            let finds = sandbox.counters.requests[.find] ?? 0

            let again = input.publisher.create(in: people, options: Self.options.resuming(after: try Self.kept(first)))
            let rows = try await again.outcome().get()
            expectNoDifference(rows.map(\.index).sorted(), first.problems.map(\.index).sorted())
            expectNoDifference(rows.map(\.isDone), [true, true])
            expectNoDifference(rows.compactMap(\.key).sorted(), first.problems.compactMap(\.key).sorted())
            expectNoDifference(sandbox.people.count, 5)
            expectNoDifference((sandbox.counters.requests[.find] ?? 0) - finds, 2)
        }
    }

    @Test func aRunThatWasKilledIsResumedWithoutGapOrDouble() async throws {
        try await Self.run { people, sandbox in
            let input = (0..<200).map { Member(name: "Member \($0)", uuid: "key-\($0)") }
            let summary = Locked(DataAPI.BatchSummary())
            let kept = Locked(Data())
            // Few enough rows beyond those that are kept: a summary is to be kept more often than every hundred.
            let subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>(
                initialDemand: .max(80),
                onEvent: { event in
                    guard case .value(let row) = event else { return }
                    summary.change { $0.add(row) }
                    // The last rows before the end are not kept.
                    if summary.value.rowCount == 60 {
                        kept.change { $0 = (try? JSONEncoder().encode(summary.value)) ?? Data() }
                    }
                }
            )
            input.publisher.create(in: people, options: Self.options).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 80)
            subscriber.cancel()
            // What was under way when it was cancelled has been carried out, or never will be.
            await settled { sandbox.counters.executedWrites }
            #expect(sandbox.people.count < 200)

            let saved = try JSONDecoder().decode(DataAPI.BatchSummary.self, from: kept.value)
            expectNoDifference(saved.rowCount, 60)
            let again = input.publisher.create(in: people, options: Self.options.resuming(after: saved))
            let whole = try await again.summary.firstValue()
            expectNoDifference(whole.problems, [])
            expectNoDifference(whole.createdCount, 200)
            expectNoDifference(whole.isComplete, true)
            expectNoDifference(
                sandbox.people.compactMap { $0.values["UUID"] }.sorted(),
                input.compactMap(\.uuid).sorted()
            )
        }
    }

    @Test func anUnknownEditIsSettledByItsModIdInTheNextRun() async throws {
        try await Self.run(count: 2) { people, sandbox in
            sandbox.inject(.resetAfterExecution, on: .editRecord, count: 1)
            sandbox.inject(.error(.init(802)), on: .getRecord, count: 1)
            let edits = [DataAPI.RecordEdit(1, ["City": "Bath"], modId: 0)]
            let first = try await edits.publisher.edit(in: people, options: Self.options).summary.firstValue()
            expectNoDifference(first.unknownCount, 1)
            let again = edits.publisher.edit(in: people, options: Self.options.resuming(after: first))
            let rows = try await again.outcome().get()
            expectNoDifference(rows.map(\.short), ["0 edited"])
            expectNoDifference(sandbox.people[0].modId, 1)
        }
    }

    @Test func aCreateWithoutAKeyStaysUnknownInEveryRun() async throws {
        try await Self.run { people, sandbox in
            sandbox.inject(.resetAfterExecution, on: .createRecord, count: 1)
            let input = Member.numbered(0..<1)
            let first = try await input.publisher.create(in: people).summary.firstValue()
            let options = DataAPI.BatchOptions().resuming(after: first)
            let second = try await input.publisher.create(in: people, options: options).outcome().get()
            expectNoDifference(second.map(\.short), ["0 unknown"])
            expectNoDifference(sandbox.people.count, 1)
        }
    }

    @Test func aKeyThatWasNotKeptIsNotReplacedByAnother() async throws {
        try await Self.run { people, sandbox in
            sandbox.inject(.resetAfterExecution, on: .createRecord, count: 1)
            sandbox.inject(.error(.init(802)), on: .find, count: 1)
            let input = Member.numbered(0..<1)
            var summary = DataAPI.BatchSummary()
            summary.maximumProblems = 0
            summary = try await input.publisher.create(in: people, options: Self.options)
                .summarized(after: summary).firstValue()
            for _ in 0..<2 {
                expectNoDifference(summary.unknownCount, 1)
                expectNoDifference(summary.omittedProblemCount, 1)
                expectNoDifference(sandbox.people.count, 1)
                summary = try await input.publisher.create(in: people, options: Self.options.resuming(after: summary))
                    .summary.firstValue()
            }
        }
    }
}
