import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Batches against the sandbox: what is published, and what the table contains afterwards.
@Suite(.timeLimit(.minutes(15))) struct BatchTests {
    private typealias Write = DataAPI.RecordWrite<Member>

    private static func run(
        count: Int = 0,
        sessions: Int = 4,
        _ body: (DataAPI.TypedLayout<Member>, Sandbox) async throws -> Void
    ) async throws {
        try await Hosted.run(.people(count: count), client: { $0.sessions.maximumSessions = sessions }) {
            try await body($0.layout(Member.self), $1)
        }
    }

    /// The same on a clock that moves only while no session is in use: pauses pass at once, and whatever the machine
    /// does meanwhile, a call takes no time.
    private static func runOnMovingClock(
        count: Int,
        _ body: @escaping @Sendable (DataAPI.TypedLayout<Member>, Sandbox) async throws -> Void
    ) async throws {
        let clock = TestClock()
        try await Hosted.run(.people(count: count), clock: clock) { database, sandbox in
            let isOver = Locked(false)
            async let work: Void = {
                defer { isOver.change { $0 = true } }
                try await body(database.layout(Member.self), sandbox)
            }()
            while !isOver.value, !Task.isCancelled {
                var restingTurns = 0
                await until {
                    restingTurns = database.sessionStatus.leased == 0 ? restingTurns + 1 : 0
                    return isOver.value || restingTurns > 3
                }
                // Longer ones end idle sessions.
                if let pause = clock.timers.first, pause < .seconds(60) { clock.advance(by: pause) }
            }
            try await work
        }
    }

    /// The rows of a batch in the order of the input.
    private static func rows(of batch: DataAPI.Batch) async throws -> [DataAPI.BatchRow] {
        try await batch.outcome().get().sorted { $0.index < $1.index }
    }

    /// A retry timeout and a settling time of a millisecond each, so that the tests need not wait.
    private static var hasty: DataAPI.BatchOptions {
        var options = DataAPI.BatchOptions(idempotencyKey: "UUID", retryTimeout: .milliseconds(1))
        options.settlingTime = .milliseconds(1)
        return options
    }

    // MARK: Successful batches

    @Test func createsEditsAndDeletes() async throws {
        try await Self.run { people, sandbox in
            let made = try await Self.rows(of: people.writing(Member.numbered(0..<50).map { .create($0) }))
            expectNoDifference(made.map(\.short), (0..<50).map { "\($0) created" })
            let ids = made.compactMap(\.recordId)
            expectNoDifference(Set(ids).count, 50)
            expectNoDifference(
                sandbox.people.map { $0.values["Name"] ?? "" }.sorted(),
                Member.numbered(0..<50).map(\.name).sorted()
            )

            let edits = ids.map { Write.edit($0, setting: ["City": "London"], modId: 0) }
            let edited = try await Self.rows(of: people.writing(edits))
            expectNoDifference(edited.map(\.recordId), ids)
            expectNoDifference(edited.map(\.key), ids.map { "\($0)" })
            expectNoDifference(Set(sandbox.people.map { $0.values["City"] }), ["London"])
            expectNoDifference(Set(sandbox.people.map(\.modId)), [1])

            let texts = ids.map { "\($0)" } + ["x", "99999"]
            let deleted = try await Self.rows(of: people.writing(texts.map { .delete($0) }))
            expectNoDifference(
                deleted.map(\.short),
                (0..<50).map { "\($0) deleted" } + ["50 failed invalidRequest", "51 deleted, was gone"]
            )
            expectNoDifference(sandbox.people.count, 0)
        }
    }

    @Test func upsertsEditWhatIsThereAndMakeTheRest() async throws {
        try await Self.run(count: 3) { people, sandbox in
            let rows = [
                Member(name: "Ada", uuid: "u1"), Member(name: "Ben", uuid: "u9"), Member(name: "Cy", uuid: "U1"),
                Member(name: "Di", uuid: ""), Member(name: "Ed"),
            ]
            let done = try await Self.rows(of: people.writing(rows.map { .upsert($0, by: .uuid) }))
            expectNoDifference(
                done.map(\.short),
                ["0 edited", "1 created"] + (2...4).map { "\($0) failed invalidRequest" }
            )
            expectNoDifference(done.map(\.key), ["u1", "u9", "U1", nil, nil])
            // The third row found the first row's record, whose key has another spelling.
            #expect(done[2].error?.reason.contains("another spelling") == true)
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Ada", "Old 2", "Old 3", "Ben"])
        }
    }

    @Test func aSummaryIsOneValue() async throws {
        try await Self.run { people, _ in
            let rows = Member.numbered(0..<20) + [Member(name: "")]
            let summary = try await people.writing(rows.map { .create($0) }).summary.firstValue()
            expectNoDifference(summary.createdCount, 20)
            expectNoDifference(summary.problems.map(\.index), [20])
            expectNoDifference(summary.problems.map(\.cause.fileMakerCode), [509])
            expectNoDifference(summary.problems.map(\.cause.fields), [["Name"]])
            expectNoDifference(summary.stop, nil)
        }
    }

    @Test func asManySessionsAsAreAllowedAndOneForOthers() async throws {
        try await Self.run(sessions: 3) { people, sandbox in
            _ = try await Self.rows(of: people.writing(Member.numbered(0..<40).map { .create($0) }))
            #expect(sandbox.counters.mostConcurrentRequests <= 2)
            let eager = DataAPI.BatchOptions(concurrency: 50)
            _ = try await Self.rows(of: people.writing(Member.numbered(0..<40).map { .create($0) }, options: eager))
            #expect(sandbox.counters.mostConcurrentRequests <= 3)
        }
    }

    @Test func inTheOrderOfTheInput() async throws {
        try await Self.run { people, sandbox in
            sandbox.inject(.error(.init(301)), on: .createRecord, skipping: 1, count: 2)
            let options = DataAPI.BatchOptions(order: .input)
            let rows = try await people.writing(Member.numbered(0..<20).map { .create($0) }, options: options)
                .outcome().get()
            expectNoDifference(rows.map(\.short), (0..<20).map { "\($0) created" })
        }
    }

    @Test func inOneSessionOfItsOwn() async throws {
        try await Self.run { people, sandbox in
            let made = try await people.layout.database.withSessionPublisher { pinned in
                pinned.layout(Member.self).writing(Member.numbered(0..<10).map { .create($0) }, isolation: nil).summary
            }.firstValue()
            expectNoDifference(made.createdCount, 10)
            expectNoDifference(sandbox.counters.logins, 1)
        }
    }

    // MARK: Failures

    @Test func aLockedRecordFailsAloneAfterItsPatience() async throws {
        try await Self.run(count: 10) { people, sandbox in
            try sandbox.setLocked(true, person: 4)
            let edits = (1...10).map { Write.edit($0, setting: ["City": "Bath"]) }
            let rows = try await Self.rows(of: people.writing(edits, options: Self.hasty))
            expectNoDifference(rows.map(\.short), (0..<10).map { $0 == 3 ? "3 failed 301" : "\($0) edited" })
            // The locked record was tried once more, at the end of the retry timeout.
            expectNoDifference(sandbox.counters.requests[.editRecord], 11)
        }
    }

    @Test func aLockThatGoesInTimeDoesNoHarm() async throws {
        try await Self.run(count: 2) { people, sandbox in
            try sandbox.setLocked(true, person: 1)
            let subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>()
            let edits = (1...2).map { Write.edit($0, setting: ["City": "Bath"]) }
            // Longer than the busiest machine takes to resume this test.
            let options = DataAPI.BatchOptions(retryTimeout: .seconds(3_600))
            people.writing(edits, options: options).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 1)
            try sandbox.setLocked(false, person: 1)
            await subscriber.completion()
            expectNoDifference(subscriber.values.map(\.short), ["1 edited", "0 edited"])
        }
    }

    @Test func aConflictIsNotOverwritten() async throws {
        try await Self.run(count: 2) { people, sandbox in
            let edits = [
                Write.edit(1, setting: ["City": "Bath"], modId: 0),
                Write.edit(1, setting: ["City": "Hull"], modId: 0),
                Write.edit(2, setting: ["City": "York"]),
                Write.edit(2, setting: ["City": "Deal"]),
                Write.edit(3, setting: ["City": "Rye"]),
            ]
            let rows = try await Self.rows(of: people.writing(edits))
            expectNoDifference(
                rows.map(\.short),
                ["0 edited", "1 failed 306", "2 edited", "3 edited", "4 failed 101"]
            )
            expectNoDifference(sandbox.people.map { $0.values["City"] }, ["Bath", "Deal"])
        }
    }

    @Test(.thorough) func aMissingLayoutEndsTheBatch() async throws {
        try await Self.run { people, sandbox in
            let other = people.layout.database.addLayout("Poeple").of(Member.self)
            let subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>()
            other.writing(Member.numbered(0..<10_000).map { .create($0) }).subscribe(subscriber)
            guard case .failure(let error) = await subscriber.completion() else {
                Issue.record("it fails")
                return
            }
            expectNoDifference(error.fileMakerCode, .layoutMissing)
            #expect(sandbox.counters.requests[.createRecord] ?? 0 <= 4)
            #expect(subscriber.values.first?.short.hasSuffix("failed 105") == true)
        }
    }

    @Test func credentialsThatAreRefusedEndTheBatch() async throws {
        try await Hosted.run(.people(), credentials: .init(user: "admin", password: "wrong")) { database, sandbox in
            let summary = try await database.layout(Member.self).writing(Member.numbered(0..<1_000).map { .create($0) })
                .stopped()
            expectNoDifference(summary.stop?.fileMakerCode, 212)
            expectNoDifference(sandbox.counters.failedLogins, 1)
            #expect(summary.failedCount > 0)
            expectNoDifference(summary.createdCount, 0)
            // None of these rows was refused itself, so all may be tried again.
            expectNoDifference(summary.problems.allSatisfy(\.cause.isRetryable), true)
        }
    }

    @Test(arguments: [1, nil]) func aFieldThatIsMissingInAllRowsEndsTheBatch(concurrency: Int?) async throws {
        try await Self.run { people, sandbox in
            let rows = (0..<500).map { ["Name": "A", "Nmae": FieldValue("\($0)")] as FieldData }
            let summary = try await people.layout.of(FieldData.self).writing(
                rows.map { .create($0) },
                options: .init(concurrency: concurrency)
            ).stopped()
            expectNoDifference(summary.stop?.fileMakerCode, 102)
            expectNoDifference(summary.stop?.fields, ["Nmae"])
            expectNoDifference(summary.createdCount, 0)
            // The third row's error ends the batch. With several calls at once, others may be under way then, and some
            // were sent before it.
            let sent = sandbox.counters.requests[.createRecord] ?? 0
            #expect(concurrency == 1 ? sent == 3 : sent < rows.count)
        }
    }

    @Test func tooManyFailuresEndTheBatch() async throws {
        try await Self.run { people, sandbox in
            let rows = Member.numbered(0..<10) + (0..<1_000).map { _ in Member(name: "") }
            let options = DataAPI.BatchOptions(onFailure: .stop(after: 3))
            let summary = try await people.writing(rows.map { .create($0) }, options: options).stopped()
            expectNoDifference(summary.createdCount, 10)
            expectNoDifference(summary.stop?.fileMakerCode, 509)
            #expect((3...6).contains(summary.failedCount))
        }
    }

    private struct Unreadable: Error {}

    @Test func anInputThatFailsEndsTheBatchAfterWhatHasCome() async throws {
        try await Self.run { people, sandbox in
            let rows = Member.numbered(0..<5).publisher.setFailureType(to: Unreadable.self)
                .append(Fail(error: Unreadable()))
            let summary = try await people.writing(rows.map { .create($0) }).stopped()
            expectNoDifference(summary.createdCount, 5)
            expectNoDifference(summary.stop?.text, "encoding: Unreadable")
        }
    }

    // MARK: Lost answers

    @Test func aCreateWithoutAKeyWhoseAnswerIsLostStaysUnknown() async throws {
        try await Self.run { people, sandbox in
            sandbox.inject(.resetAfterExecution, on: .createRecord)
            let rows = try await Self.rows(of: people.writing(Member.numbered(0..<1).map { .create($0) }))
            expectNoDifference(rows.map(\.short), ["0 unknown"])
            expectNoDifference(rows[0].error?.outcomeIsUnknown, true)
            expectNoDifference(sandbox.people.count, 1)
        }
    }

    @Test(arguments: [Sandbox.Fault.resetAfterExecution, .reset, .brokenJSON, .html(status: 502), .empty(status: 504)])
    func lostAnswersOfCreatesAreSettledByKey(fault: Sandbox.Fault) async throws {
        try await Self.run { people, sandbox in
            var options = Self.hasty
            options.retryTimeout = .seconds(60)
            sandbox.inject(fault, on: .createRecord, skipping: 3, count: 4)
            let rows = try await Self.rows(
                of: people.writing(Member.numbered(0..<30).map { .create($0) }, options: options)
            )
            expectNoDifference(rows.map(\.short), (0..<30).map { "\($0) created" })
            expectNoDifference(sandbox.people.count, 30)
            expectNoDifference(Set(sandbox.people.map { $0.values["UUID"] }).count, 30)
            expectNoDifference(rows.compactMap(\.key).compactMap(UUID.init(uuidString:)).count, 30)
            // Each row whose answer was lost was looked up before anything else.
            #expect(sandbox.counters.requests[.find] ?? 0 >= 4)
        }
    }

    @Test func aKeyOfTheCallersOwnIsUsed() async throws {
        try await Self.run { people, sandbox in
            sandbox.inject(.resetAfterExecution, on: .createRecord)
            let rows = [Member(name: "A", uuid: "mine"), Member(name: "B", uuid: "")]
            let made = try await Self.rows(of: people.writing(rows.map { .create($0) }, options: Self.hasty))
            expectNoDifference(made.map(\.short), ["0 created", "1 created"])
            expectNoDifference(made[0].key, "mine")
            expectNoDifference(sandbox.people.count, 2)
            expectNoDifference(sandbox.people.map { $0.values["UUID"] }.contains(made[1].key), true)
        }
    }

    @Test func lostEditsAreSentAgainByTheirModId() async throws {
        try await Self.run(count: 20) { people, sandbox in
            var options = Self.hasty
            options.retryTimeout = .seconds(60)
            sandbox.inject(.reset, on: .editRecord, skipping: 2, count: 3)
            let edits = (1...20).map {
                Write.edit($0, setting: ["City": "Bath", "Age": 36], modId: 0)
            }
            let rows = try await Self.rows(of: people.writing(edits, options: options))
            expectNoDifference(rows.map(\.short), (0..<20).map { "\($0) edited" })
            // No edit was made twice.
            expectNoDifference(Set(sandbox.people.map(\.modId)), [1])
        }
    }

    /// One row's own edit was carried out; the other's was not, and another client has written the same.
    @Test func anEqualEditOfAnotherClientIsNotTakenForOnesOwn() async throws {
        try await Self.run(count: 2) { people, sandbox in
            _ = try await people.edit(2, setting: ["Age": 36]).firstValue()
            sandbox.inject(.resetAfterExecution, on: .editRecord)
            sandbox.inject(.reset, on: .editRecord)
            var options = Self.hasty
            options.concurrency = 1
            let edits = (1...2).map { Write.edit($0, setting: ["Age": 36], modId: 0) }
            let rows = try await Self.rows(of: people.writing(edits, options: options))
            expectNoDifference(rows.map(\.short), ["0 unknown", "1 unknown"])
            for row in rows {
                expectNoDifference(row.error?.outcomeIsUnknown, true)
                #expect(row.error?.reason.contains("by an equal one of somebody else") == true)
            }
            expectNoDifference(sandbox.people.map(\.modId), [1, 1])
        }
    }

    @Test func aTokenThatIsRefusedTwiceIsWaitedFor() async throws {
        try await Self.run(count: 2) { people, sandbox in
            _ = try await people.record(id: 1).firstValue()
            sandbox.inject(.expireToken, on: .editRecord, count: 2)
            let rows = try await Self.rows(of: people.writing([Write.edit(1, setting: ["City": "Bath"])]))
            expectNoDifference(rows.map(\.short), ["0 edited"])
            expectNoDifference(sandbox.counters.requests[.editRecord], 3)
        }
    }

    @Test func anEditWithoutAModIdIsDoneWhenTheRecordHasItsFields() async throws {
        try await Self.run(count: 2) { people, sandbox in
            sandbox.inject(.resetAfterExecution, on: .editRecord)
            let edits = [Write.edit(1, setting: ["City": "Bath\nUpper town", "Age": 1.50])]
            let done = try await Self.rows(of: people.writing(edits, options: Self.hasty))
            expectNoDifference(done.map(\.short), ["0 edited"])
            expectNoDifference(sandbox.people[0].modId, 1)

            sandbox.inject(.reset, on: .editRecord)
            let lost = [Write.edit(2, setting: ["City": "Bath"])]
            let unknown = try await Self.rows(of: people.writing(lost, options: Self.hasty))
            expectNoDifference(unknown.map(\.short), ["0 unknown"])
            expectNoDifference(sandbox.people[1].modId, 0)
        }
    }

    @Test func lostAnswersOfUpsertsAreSettledByLookingAgain() async throws {
        try await Self.run(count: 5) { people, sandbox in
            var options = Self.hasty
            options.retryTimeout = .seconds(60)
            sandbox.inject(.resetAfterExecution, on: .createRecord)
            sandbox.inject(.reset, on: .createRecord)
            sandbox.inject(.resetAfterExecution, on: .editRecord)
            sandbox.inject(.reset, on: .editRecord)
            let rows = (1...10).map { Member(name: "New \($0)", uuid: "u\($0)") }
            let done = try await Self.rows(of: people.writing(rows.map { .upsert($0, by: .uuid) }, options: options))
            expectNoDifference(done.map(\.short), (0..<10).map { "\($0) \($0 < 5 ? "edited" : "created")" })
            expectNoDifference(
                sandbox.people.compactMap { $0.values["Name"] }.sorted(),
                rows.map(\.name).sorted()
            )
            expectNoDifference(Set(sandbox.people.map(\.modId)), [0, 1])
        }
    }

    /// Trap 11 of the reference on live data.
    @Test func fiftyRowsWithLostAnswersAndOneLockedRecord() async throws {
        try await Self.runOnMovingClock(count: 50) { people, sandbox in
            var options = Self.hasty
            options.retryTimeout = .seconds(60)
            try sandbox.setLocked(true, person: 30)

            for endpoint in [Sandbox.Endpoint.createRecord, .editRecord, .deleteRecord] {
                sandbox.inject(.resetAfterExecution, on: endpoint, skipping: 2, count: 5)
                sandbox.inject(.reset, on: endpoint, skipping: 20, count: 1)
            }
            let made = try await Self.rows(
                of: people.writing(Member.numbered(0..<50).map { .create($0) }, options: options)
            )
            expectNoDifference(made.map(\.short), (0..<50).map { "\($0) created" })
            expectNoDifference(sandbox.people.count, 100)
            #expect(sandbox.counters.requests[.find] ?? 0 >= 6)

            let edits = (1...50).map { Write.edit($0, setting: ["City": "Bath"], modId: 0) }
            let edited = try await Self.rows(of: people.writing(edits, options: options))
            // Five were carried out without an answer, and may be another client's as well.
            expectNoDifference(edited.count { $0.result.kind == .unknown }, 5)
            let told = edited.filter { !$0.isDone && $0.result.kind != .unknown }
            expectNoDifference(told.map(\.short), ["29 failed 301"])
            expectNoDifference(sandbox.people.count { $0.values["City"] == "Bath" }, 49)
            expectNoDifference(sandbox.people.count { $0.modId == 1 }, 49)

            let deleted = try await Self.rows(of: people.writing((1...50).map { .delete($0) }, options: options))
            expectNoDifference(deleted.map(\.index), Array(0..<50))
            expectNoDifference(deleted.filter { !$0.isDone }.map(\.short), ["29 failed 301"])
            expectNoDifference(sandbox.people.count, 51)
        }
    }
}
