import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// The contract of every publisher, for batches.
@Suite(.timeLimit(.minutes(15))) struct BatchContractTests {
    private typealias Subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>

    private static func run(
        _ body: (DataAPI.TypedLayout<Member>, Sandbox) async throws -> Void
    ) async throws {
        try await Hosted.run(.people(), client: { $0.sessions.maximumSessions = 3 }) {
            try await body($0.layout(Member.self), $1)
        }
    }

    /// Rows that count how many of them were asked for.
    private final class Input: Sendable {
        let asked = Locked(0)
        let cancelled = Locked(0)

        func rows(_ count: Int) -> some Publisher<Member, Never> {
            Member.numbered(0..<count).publisher.handleEvents(
                receiveCancel: { self.cancelled.change { $0 += 1 } },
                receiveRequest: { demand in self.asked.change { $0 += demand.max ?? count } }
            )
        }
    }

    @Test func nothingHappensBeforeDemand() async throws {
        try await Self.run { people, sandbox in
            let input = Input()
            let subscriber = Subscriber(initialDemand: .none)
            people.writing(input.rows(10).map { .create($0) }, isolation: nil).subscribe(subscriber)
            await settled { sandbox.counters.totalRequests }
            expectNoDifference(sandbox.counters.totalRequests, 0)
            expectNoDifference(input.asked.value, 0)
            subscriber.cancel()
            expectNoDifference(subscriber.values.count, 0)
        }
    }

    @Test func demandIsHonouredAndSoMuchIsUnderWay() async throws {
        try await Self.run { people, sandbox in
            let input = Input()
            let subscriber = Subscriber(initialDemand: .max(1))
            people.writing(input.rows(1_000).map { .create($0) }, isolation: nil).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 1)
            // The batch uses two sessions, so two rows are under way besides the one that was asked for.
            await until { sandbox.people.count >= 3 }
            await settled { sandbox.people.count }
            expectNoDifference(input.asked.value, 3)
            expectNoDifference(sandbox.people.count, 3)
            expectNoDifference(subscriber.values.count, 1)
            subscriber.request(.max(2))
            await subscriber.valueCount(atLeast: 3)
            subscriber.cancel()
            expectNoDifference(subscriber.values.count, 3)
            expectNoDifference(input.cancelled.value, 1)
        }
    }

    @Test func itIsOneRunHoweverManyLookAtIt() async throws {
        try await Self.run { people, sandbox in
            let batch = people.writing(Member.numbered(0..<30).map { .create($0) }, isolation: nil)
            let rows = [Subscriber(initialDemand: .none), Subscriber(initialDemand: .none)]
            let progress = TrackingSubscriber<DataAPI.BatchSummary, FMRest.APIError>()
            for subscriber in rows { batch.subscribe(subscriber) }
            batch.progress.subscribe(progress)
            await settled { sandbox.counters.totalRequests }
            // The subscriber with the least demand sets the pace.
            rows[0].request(.unlimited)
            await settled { sandbox.counters.totalRequests }
            expectNoDifference(sandbox.people.count, 0)
            rows[1].request(.max(2))
            await rows[1].valueCount(atLeast: 2)
            await settled { sandbox.people.count }
            #expect(sandbox.people.count <= 4)
            rows[1].request(.unlimited)
            for subscriber in rows {
                await subscriber.completion()
                expectNoDifference(subscriber.values.map(\.index).sorted(), Array(0..<30))
            }
            await progress.completion()
            expectNoDifference(progress.values.last?.createdCount, 30)
            expectNoDifference(progress.values.map(\.rowCount), progress.values.map(\.rowCount).sorted())
            // A subscriber that comes after the end receives the summary, and no rows; nothing is written again.
            let summary = try await batch.summary.firstValue()
            expectNoDifference(summary.createdCount, 30)
            let late = await batch.outcome()
            expectNoDifference(late.failure?.code, .noValue)
            expectNoDifference(sandbox.people.count, 30)
        }
    }

    @Test func aLookThatGoesLeavesTheRunToTheOthers() async throws {
        try await Self.run { people, sandbox in
            let batch = people.writing(Member.numbered(0..<100).map { .create($0) }, isolation: nil)
            let rows = Subscriber(initialDemand: .max(1))
            batch.subscribe(rows)
            let summary = TrackingSubscriber<DataAPI.BatchSummary, FMRest.APIError>()
            batch.summary.subscribe(summary)
            await rows.valueCount(atLeast: 1)
            rows.cancel()
            await summary.completion()
            expectNoDifference(summary.values.map(\.createdCount), [100])
            expectNoDifference(sandbox.people.count, 100)
        }
    }

    @Test func aRunThatNobodyLooksAtAnyMoreIsOver() async throws {
        try await Self.run { people, _ in
            let batch = people.writing(Member.numbered(0..<100).map { .create($0) }, isolation: nil)
            let rows = Subscriber(initialDemand: .max(1))
            batch.subscribe(rows)
            await rows.valueCount(atLeast: 1)
            rows.cancel()
            let summary = try await batch.stopped()
            expectNoDifference(summary.stop?.code, "cancelled")
            #expect(!summary.isComplete)
        }
    }

    /// The rows and the summary fail with what has stopped the batch, and have the totals.
    @Test func aStoppedBatchFailsWithItsTotals() async throws {
        try await Self.run { people, sandbox in
            let writes = [Member(name: "Ada"), Member(name: ""), Member(name: "Ben")].map {
                DataAPI.RecordWrite.create($0)
            }
            let options = DataAPI.BatchOptions(concurrency: 1, onFailure: .stop(after: 1))
            let batch = people.writing(writes, options: options, isolation: nil)
            let rows = Subscriber(initialDemand: .none)
            batch.subscribe(rows)
            let summary = TrackingSubscriber<DataAPI.BatchSummary, FMRest.APIError>()
            batch.summary.subscribe(summary)
            let progress = TrackingSubscriber<DataAPI.BatchSummary, FMRest.APIError>()
            batch.progress.subscribe(progress)
            rows.request(.unlimited)
            for end in [await rows.completion(), await summary.completion()] {
                guard case .failure(let error) = end else {
                    Issue.record("it fails")
                    continue
                }
                expectNoDifference(error.fileMakerCode, .valueRequired)
                expectNoDifference(error.batchSummary?.createdCount, 1)
                expectNoDifference(error.batchSummary?.skippedCount, 1)
                let text = "\(try #require(error.batchSummary))"
                #expect(text.hasPrefix("1 created, 0 updated, 0 deleted, 1 failed, 0 unknown, 1 skipped, stopped: "))
                #expect(text.contains("509"))
            }
            expectNoDifference(summary.values, [])
            expectNoDifference(rows.values.map(\.short), ["0 created", "1 failed 509", "2 skipped"])
            await progress.completion()
            expectNoDifference(progress.values.last?.stop?.fileMakerCode, 509)
        }
    }

    @Test func anEndWithoutRowsComesWithDemand() async throws {
        try await Self.run { people, _ in
            let rows = try await people.writing([Member]().map { .create($0) }).outcome().get()
            expectNoDifference(rows.count, 0)
        }
    }

    @Test func demandFromInsideAValueIsHonoured() async throws {
        try await Self.run { people, sandbox in
            let subscriber = Subscriber(initialDemand: .max(1), demandAfterValue: { _ in .max(1) })
            people.writing(Member.numbered(0..<50).map { .create($0) }, isolation: nil).subscribe(subscriber)
            await subscriber.completion()
            expectNoDifference(subscriber.values.map(\.index).sorted(), Array(0..<50))
        }
    }

    @Test func cancellingCutsWhatIsUnderWayAndNothingFollows() async throws {
        try await Self.run { people, sandbox in
            sandbox.inject(.holdAnswer, on: .createRecord, count: nil)
            let input = Input()
            let subscriber = Subscriber()
            people.writing(input.rows(10_000).map { .create($0) }, isolation: nil).subscribe(subscriber)
            await sandbox.untilAnswersHeld(2)
            subscriber.cancel()
            sandbox.clearFaults()
            sandbox.releaseAnswers()
            await settled { sandbox.counters.totalRequests }
            expectNoDifference(subscriber.values.count, 0)
            expectNoDifference(sandbox.people.count, 2)
            expectNoDifference(input.cancelled.value, 1)
        }
    }

    @Test func cancellingWhileARowWaitsForALockCallsOffTheAlarm() async throws {
        try await Self.run { people, sandbox in
            sandbox.inject(.error(.init(301)), on: .createRecord, count: nil)
            let subscriber = Subscriber()
            people.writing(Member.numbered(0..<1).map { .create($0) }, isolation: nil).subscribe(subscriber)
            await until { sandbox.counters.requests[.createRecord] ?? 0 > 0 }
            subscriber.cancel()
            await settled { sandbox.counters.totalRequests }
            let count = sandbox.counters.requests[.createRecord]
            await settled { sandbox.counters.totalRequests }
            expectNoDifference(sandbox.counters.requests[.createRecord], count)
        }
    }

    @Test func cancellingFromInsideAValueIsFinal() async throws {
        try await Self.run { people, _ in
            let batch = Locked<Subscriber?>(nil)
            let subscriber = Subscriber(onEvent: { event in
                if case .value = event { batch.value?.cancel() }
            })
            batch.change { $0 = subscriber }
            people.writing(Member.numbered(0..<100).map { .create($0) }, isolation: nil).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 1)
            await settled { subscriber.history.count }
            expectNoDifference(subscriber.values.count, 1)
            #expect(subscriber.completionIfAny == nil)
            batch.change { $0 = nil }
        }
    }

    private final class Witness: Sendable {}

    @Test func everythingIsLetGoWithTheEndAndWithACancel() async throws {
        try await Self.run { people, sandbox in
            for cancels in [false, true] {
                weak var witness: Witness?
                let subscriber: Subscriber
                do {
                    let held = Witness()
                    witness = held
                    subscriber = Subscriber(initialDemand: .max(1))
                    let rows = Member.numbered(0..<3).publisher.map { member in
                        withExtendedLifetime(held) { DataAPI.RecordWrite.create(member) }
                    }
                    people.writing(rows, isolation: nil).subscribe(subscriber)
                }
                await subscriber.valueCount(atLeast: 1)
                if cancels {
                    subscriber.cancel()
                } else {
                    subscriber.request(.unlimited)
                    await subscriber.completion()
                }
                await until { witness == nil }
            }
        }
    }

    @Test func cancelAndDemandMayRace() async throws {
        try await Self.run { people, sandbox in
            for _ in 0..<20 {
                let subscriber = Subscriber(initialDemand: .none)
                people.writing(Member.numbered(0..<20).map { .create($0) }, isolation: nil).subscribe(subscriber)
                race(rounds: 1, { subscriber.request(.max(5)) }, { subscriber.cancel() })
                let count = subscriber.values.count
                #expect(count <= 5)
            }
            await settled { sandbox.counters.totalRequests }
        }
    }

    @MainActor private static func subscribe(
        _ subscriber: Subscriber,
        to people: DataAPI.TypedLayout<Member>
    ) {
        people.writing(Member.numbered(0..<3).map { .create($0) }).subscribe(subscriber)
    }

    @Test func valuesArriveOnTheActorInWhoseCodeItIsWritten() async throws {
        try await Self.run { people, _ in
            let isMain = Locked<[Bool]>([])
            let subscriber = Subscriber(onEvent: { event in
                if case .value = event { isMain.change { $0.append(MainQueue.isCurrent) } }
            })
            await Self.subscribe(subscriber, to: people)
            await subscriber.completion()
            expectNoDifference(isMain.value, [true, true, true])
        }
    }
}
