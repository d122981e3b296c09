import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Runs that resume an earlier run by its journal.
@Suite(.timeLimit(.minutes(15))) struct JournalRunTests {
    private typealias Write = DataAPI.RecordWrite<Member>

    private static func run(
        count: Int = 0,
        _ body: (DataAPI.TypedLayout<Member>, Sandbox) async throws -> Void
    ) async throws {
        try await Hosted.run(.people(count: count), client: { $0.sessions.maximumSessions = 4 }) {
            try await body($0.layout(Member.self), $1)
        }
    }

    /// Requests other than logins, of which one may still be under way when all rows are done.
    private static func calls(to sandbox: Sandbox) -> Int {
        sandbox.counters.totalRequests - (sandbox.counters.requests[.login] ?? 0)
    }

    private static let options = DataAPI.BatchOptions(
        idempotencyKey: "UUID",
        retryTimeout: .milliseconds(1),
        settlingTime: .milliseconds(1)
    )

    private static func rows(of batch: DataAPI.Batch) async throws -> [DataAPI.BatchRow] {
        try await batch.outcome().get().sorted { $0.index < $1.index }
    }

    @Test func whatWasDoneIsToldAgainAndWhatMayPassIsSentAgain() async throws {
        try await Self.run { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes = (Member.numbered(0..<20) + [Member(name: "")]).map(Write.create)
            sandbox.inject(.error(.init(301)), on: .createRecord, skipping: 4, count: nil)
            let first = try await people.writing(writes, journal: journal, options: Self.options).summary.firstValue()
            expectNoDifference(first.createdCount, 4)
            expectNoDifference(first.failedCount, 17)
            sandbox.clearFaults()
            let second = try await people.writing(writes, journal: journal, options: Self.options).summary.firstValue()
            expectNoDifference(second.createdCount, 20)
            expectNoDifference(second.journalCount, 4)
            expectNoDifference(second.problems.map(\.index), [20])
            expectNoDifference(sandbox.people.count, 20)

            // The invalid row failed permanently: it is reported again and not sent, unless that is asked for.
            let requests = sandbox.counters.requests[.createRecord]
            let third = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(third.map(\.isFromJournal), Array(repeating: true, count: 21))
            expectNoDifference(third.last?.short, "20 failed 509")
            expectNoDifference(third[3].recordId.map { $0 > 0 }, true)
            expectNoDifference(sandbox.counters.requests[.createRecord], requests)

            var corrected = writes
            corrected[20] = .create(Member(name: "Zoe"))
            var options = Self.options
            options.retriesRefused = true
            let whole = try await people.writing(corrected, journal: journal, options: options).summary.firstValue()
            expectNoDifference(whole.isComplete, true)
            expectNoDifference(sandbox.people.count, 21)
        }
    }

    @Test func aChangedInputIsToldRowByRow() async throws {
        try await Self.run(count: 2) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes: [Write] = [
                .create(Member(name: "Ada")), .edit(1, setting: ["City": "Bath"]), .delete(2),
                .upsert(Member(name: "Cy", uuid: "c"), by: .uuid),
            ]
            let first = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(first.map(\.short), ["0 created", "1 edited", "2 deleted", "3 created"])
            let requests = Self.calls(to: sandbox)
            let others: [Write] = [
                .create(Member(name: "Ida")), .edit(1, setting: ["City": "Bath"], modId: 1), .delete(3),
                .upsert(Member(name: "Cy", city: "Rom", uuid: "c"), by: .uuid),
            ]
            let changed = try await Self.rows(of: people.writing(others, journal: journal, options: Self.options))
            expectNoDifference(changed.map(\.short), (0..<4).map { "\($0) failed invalidRequest" })
            let shorter = try await people.writing(writes.prefix(2), journal: journal, options: Self.options)
                .stopped()
            expectNoDifference(shorter.stop?.code, "journal")
            expectNoDifference(shorter.doneCount, 2)
            let same = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(same.map(\.short), first.map(\.short))
            expectNoDifference(Self.calls(to: sandbox), requests)
        }
    }

    @Test func draftsAreKeptInAJournal() async throws {
        try await Self.run(count: 3) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            var drafts: [DataAPI.Draft<Member>] = []
            for recordId in 1...3 { drafts.append(try await people.record(id: recordId).firstValue().draft()) }
            drafts[0].city = "Bath"
            drafts[2].city = "Rome"
            // Another client changes the third record first.
            _ = try await people.edit(3, setting: ["City": "Oslo"]).firstValue()
            let writes = drafts.map(Write.save)
            let before = sandbox.counters.requests[.editRecord] ?? 0
            let first = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(first.map(\.short), ["0 edited", "1 unchanged", "2 failed 306"])
            expectNoDifference((sandbox.counters.requests[.editRecord] ?? 0) - before, 2)
            expectNoDifference(sandbox.people.map { $0.values["City"] }, ["Bath", nil, "Oslo"])
            let requests = Self.calls(to: sandbox)
            let same = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(same.map(\.short), first.map(\.short))
            expectNoDifference(same.map(\.isFromJournal), [true, true, true])
            expectNoDifference(Self.calls(to: sandbox), requests)
        }
    }

    @Test func aRowWhoseOutcomeIsOpenIsLookedUpAndNotSent() async throws {
        try await Self.run(count: 3) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes: [Write] = [
                .create(Member(name: "Ada")), .create(Member(name: "Ben", uuid: "mine")),
                .edit(1, setting: ["City": "Bath"], modId: 0), .delete(2),
                .upsert(Member(name: "Cy", uuid: "c"), by: .uuid), .upsert(Member(name: "Di", uuid: "u3"), by: .uuid),
            ]
            for endpoint in [Sandbox.Endpoint.createRecord, .editRecord, .deleteRecord] {
                sandbox.inject(.resetAfterExecution, on: endpoint, count: nil)
            }
            // Every lookup fails.
            sandbox.inject(.error(.init(802)), on: .find, count: nil)
            sandbox.inject(.error(.init(802)), on: .getRecord, count: nil)
            var options = Self.options
            options.concurrency = 1
            let first = try await Self.rows(of: people.writing(writes, journal: journal, options: options))
            #expect(first.filter { $0.result.kind == .unknown }.count >= 3)
            let reason = first.first { $0.result.kind == .unknown }?.error?.reason
            #expect(reason?.contains("look") == true)
            let executed = sandbox.counters.executedWrites
            sandbox.clearFaults()

            let second = try await Self.rows(of: people.writing(writes, journal: journal, options: options))
            // The edit may be an equal one of another client.
            expectNoDifference(second.map(\.isDone), [true, true, false, true, true, true])
            expectNoDifference(second[2].result.kind, .unknown)
            let names = sandbox.people.compactMap { $0.values["Name"] }.sorted()
            expectNoDifference(names, ["Ada", "Ben", "Cy", "Di", "Old 1"])
            expectNoDifference(sandbox.people.first?.modId, 1)
            #expect(sandbox.counters.executedWrites - executed <= 3)
        }
    }

    @Test func aCreateWithoutAKeyStaysUnknownInEveryRun() async throws {
        try await Self.run { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            sandbox.inject(.resetAfterExecution, on: .createRecord, count: 1)
            for _ in 0..<3 {
                let rows = try await Self.rows(of: people.writing([.create(Member(name: "Ada"))], journal: journal))
                expectNoDifference(rows.map(\.short), ["0 unknown"])
            }
            expectNoDifference(sandbox.people.count, 1)
        }
    }

    /// A record that was made without a key cannot be found by a key.
    @Test func aKeyThatIsAskedForOnlyWhenResumingDoublesNothing() async throws {
        try await Self.run { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes = [Write.create(Member(name: "Ada"))]
            sandbox.inject(.resetAfterExecution, on: .createRecord, count: 1)
            let first = try await Self.rows(of: people.writing(writes, journal: journal))
            expectNoDifference(first.map(\.short), ["0 unknown"])
            let second = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(second.map(\.short), ["0 unknown"])
            #expect(second[0].error?.reason.contains("idempotencyKey") == true)
            expectNoDifference(sandbox.people.count, 1)
        }
    }

    @Test func aKeyInAnotherFieldIsToldAndNotSent() async throws {
        try await Self.run { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes = [Write.create(Member(name: "Ada")), .create(Member(name: "Ben", city: "Bath", uuid: "mine"))]
            sandbox.inject(.resetAfterExecution, on: .createRecord, count: 2)
            sandbox.inject(.error(.init(802)), on: .find, count: nil)
            let first = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(first.map(\.short), ["0 unknown", "1 unknown"])
            sandbox.clearFaults()
            var other = Self.options
            other.idempotencyKey = "City"
            let second = try await Self.rows(of: people.writing(writes, journal: journal, options: other))
            expectNoDifference(second.map(\.short), ["0 unknown", "1 unknown"])
            #expect(second.allSatisfy { $0.error?.reason.contains("idempotencyKey") == true })
            expectNoDifference(sandbox.people.count, 2)
            let third = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(third.map(\.isDone), [true, true])
            expectNoDifference(sandbox.people.count, 2)
        }
    }

    /// A row that failed is not written over a later row's write.
    @Test func aRowIsNotSentWhenALaterOneHasWrittenItsRecord() async throws {
        try await Self.run(count: 2) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes: [Write] = [
                .edit(1, setting: ["City": "Old"]), .edit(1, setting: ["City": "New"]),
                .upsert(Member(name: "Old", uuid: "k"), by: .uuid), .upsert(Member(name: "New", uuid: "k"), by: .uuid),
                .delete(2), .delete(2),
            ]
            var options = Self.options
            options.concurrency = 1
            // Each row is tried twice and then given up.
            sandbox.inject(.error(.init(301)), on: .editRecord, count: 2)
            sandbox.inject(.error(.init(802)), on: .find, count: 2)
            sandbox.inject(.error(.init(301)), on: .deleteRecord, count: 2)
            let first = try await Self.rows(of: people.writing(writes, journal: journal, options: options))
            expectNoDifference(
                first.map(\.short),
                ["0 failed 301", "1 edited", "2 failed 802", "3 created", "4 failed 301", "5 deleted"]
            )
            let requests = sandbox.counters.requests
            for _ in 0..<2 {
                let again = try await Self.rows(of: people.writing(writes, journal: journal, options: options))
                expectNoDifference(
                    again.map(\.short),
                    [
                        "0 failed invalidRequest", "1 edited", "2 failed invalidRequest", "3 created",
                        // An earlier row cannot write to a deleted record, so this row is sent.
                        "4 deleted, was gone", "5 deleted",
                    ]
                )
                #expect(again[0].error?.reason.contains("Row 1") == true)
            }
            expectNoDifference(sandbox.counters.requests[.editRecord], requests[.editRecord])
            expectNoDifference(sandbox.counters.requests[.createRecord], requests[.createRecord])
            expectNoDifference(sandbox.people.map { $0.values["City"] }, ["New", nil])
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Old 1", "New"])
        }
    }

    @Test func anOpenRowStaysUnknownWhenALaterOneHasWrittenItsRecord() async throws {
        try await Self.run(count: 1) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes: [Write] = [.edit(1, setting: ["City": "Old"]), .edit(1, setting: ["City": "New"])]
            sandbox.inject(.resetAfterExecution, on: .editRecord, count: 1)
            sandbox.inject(.error(.init(802)), on: .getRecord, count: nil)
            let first = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(first.map(\.short), ["0 unknown", "1 edited"])
            sandbox.clearFaults()
            var options = Self.options
            options.repeatsEditsWithoutModId = true
            let second = try await Self.rows(of: people.writing(writes, journal: journal, options: options))
            expectNoDifference(second.map(\.short), ["0 unknown", "1 edited"])
            #expect(second[0].error?.reason.contains("later row") == true)
            expectNoDifference(sandbox.people.map { $0.values["City"] }, ["New"])
            expectNoDifference(sandbox.people.map(\.modId), [2])
        }
    }

    /// A change that another client has made to the record since is not overwritten.
    @Test(arguments: [false, true])
    func anUpsertThatIsTakenUpOverwritesNobody(somebodyWrites: Bool) async throws {
        try await Self.run(count: 1) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes: [Write] = [.upsert(Member(name: "Ada", city: "Bath", uuid: "u1"), by: .uuid)]
            sandbox.inject(.reset, on: .editRecord, count: 1)
            sandbox.inject(.error(.init(802)), on: .find, skipping: 1, count: nil)
            let first = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(first.map(\.short), ["0 unknown"])
            sandbox.clearFaults()
            if somebodyWrites { _ = try await people.edit(1, setting: ["City": "Oslo"]).firstValue() }
            let second = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(second.map(\.short), [somebodyWrites ? "0 unknown" : "0 edited"])
            expectNoDifference(sandbox.people.map { $0.values["City"] }, [somebodyWrites ? "Oslo" : "Bath"])
        }
    }

    /// Rows that were only looked up are sent by the run that resumes.
    @Test func aRunThatWasStoppedIsTakenUp() async throws {
        try await Self.run(count: 20) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes = (1...40).map { Write.upsert(Member(name: "New \($0)", uuid: "u\($0)"), by: .uuid) }
            sandbox.inject(.error(.init(105)), on: .createRecord, count: 1)
            let first = try await people.writing(writes, journal: journal, options: Self.options).stopped()
            expectNoDifference(first.stop?.fileMakerCode, 105)
            let second = try await people.writing(writes, journal: journal, options: Self.options).summary.firstValue()
            expectNoDifference(second.problems, [])
            expectNoDifference(second.doneCount, 40)
            expectNoDifference(
                sandbox.people.compactMap { $0.values["Name"] }.sorted(),
                (1...40).map { "New \($0)" }.sorted()
            )
        }
    }

    @Test func aChangedRowSaysThatTheOneBeforeMayHaveBeenCarriedOut() async throws {
        try await Self.run { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            sandbox.inject(.resetAfterExecution, on: .createRecord, count: 1)
            _ = try await Self.rows(of: people.writing([Write.create(Member(name: "Ada"))], journal: journal))
            let rows = try await Self.rows(of: people.writing([Write.create(Member(name: "Ida"))], journal: journal))
            expectNoDifference(rows.map(\.short), ["0 failed invalidRequest"])
            #expect(rows[0].error?.reason.contains("nobody knows whether that one was carried out") == true)
        }
    }

    @Test func aRunThatIsCancelledIsTakenUp() async throws {
        try await Self.run { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes = (0..<200).map { Write.create(Member(name: "Member \($0)", uuid: "key-\($0)")) }
            let subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>(initialDemand: .max(80))
            people.writing(writes, journal: journal, options: Self.options).subscribe(subscriber)
            await subscriber.valueCount(atLeast: 80)
            subscriber.cancel()
            // By now the writes that were under way at the cancel have been executed, or never will be.
            await settled { sandbox.counters.executedWrites }
            #expect(sandbox.people.count < 200)
            let whole = try await people.writing(writes, journal: journal, options: Self.options).summary.firstValue()
            expectNoDifference(whole.problems, [])
            expectNoDifference(whole.createdCount, 200)
            expectNoDifference(whole.isComplete, true)
            #expect(whole.journalCount >= 80)
            expectNoDifference(
                sandbox.people.compactMap { $0.values["UUID"] }.sorted(),
                (0..<200).map { "key-\($0)" }.sorted()
            )
        }
    }

    private struct Full: Error {}

    @Test func aJournalThatCannotBeWrittenEndsTheBatchAndNothingIsSentWithoutIt() async throws {
        try await Self.run { people, sandbox in
            let appends = Locked(0)
            let journal = DataAPI.WriteJournal(
                load: { $0(.success([])) },
                append: { _, done in
                    appends.change { $0 += 1 }
                    done(appends.value > 3 ? .failure(Full()) : .success(()))
                }
            )
            let writes = Member.numbered(0..<500).map(Write.create)
            let summary = try await people.writing(writes, journal: journal, options: Self.options).stopped()
            expectNoDifference(summary.stop?.code, "journal")
            #expect(sandbox.people.count <= 8)
            expectNoDifference(summary.rowCount, 500)
            expectNoDifference(summary.createdCount, sandbox.people.count)
        }
    }

    @Test func aForeignJournalSendsNothing() async throws {
        try await Self.run(count: 1) { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            _ = try await people.writing([.delete(1)], journal: journal).summary.firstValue()
            let other = people.layout.database.addLayout("Others").of(Member.self)
            let summary = try await other.writing([.delete(1)], journal: journal).stopped()
            expectNoDifference(summary.stop?.code, "journal")
            expectNoDifference(summary.stop?.text.contains("People"), true)
            expectNoDifference(summary.rowCount, 0)
        }
    }

    // MARK: Keys

    /// FileMaker's `==` ignores case and accents.
    @Test(arguments: [Sandbox.Fault.reset, .resetAfterExecution])
    func aStrangersRecordIsNotTakenForOnesOwn(fault: Sandbox.Fault) async throws {
        let solution = Solution.single(
            "People",
            fields: [.init("Name"), .init("City"), .init("UUID")],
            layoutFields: ["Name", "City", "UUID"],
            records: [.init(["Name": "Stranger", "UUID": "AB3X"])]
        )
        try await Hosted.run(solution) { database, sandbox in
            let people = database.layout(Member.self)
            sandbox.inject(fault, on: .createRecord, count: 1)
            var options = Self.options
            options.retryTimeout = .seconds(60)
            let rows = try await Self.rows(
                of: people.writing([.create(Member(name: "Ada", uuid: "ab3x"))], journal: nil, options: options)
            )
            expectNoDifference(rows.map(\.short), ["0 created"])
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Stranger", "Ada"])
            expectNoDifference(rows[0].recordId, 2)

            // The very same key, with other values.
            sandbox.inject(fault, on: .createRecord, count: 1)
            let same = try await Self.rows(
                of: people.writing([.create(Member(name: "Ben", uuid: "AB3X"))], journal: nil, options: options)
            )
            expectNoDifference(same.map(\.short), ["0 unknown"])
            expectNoDifference(sandbox.people.filter { $0.values["Name"] == "Ben" }.count, fault == .reset ? 0 : 1)
        }
    }

    @Test(arguments: [false, true])
    func anUpsertOfAnotherSpellingFails(isUnique: Bool) async throws {
        let solution = Solution.single(
            "People",
            fields: [.init("Name"), .init("City"), .init("UUID", validation: .init(unique: isUnique))],
            layoutFields: ["Name", "City", "UUID"],
            records: [.init(["Name": "Stranger", "UUID": "AB3X"])]
        )
        try await Hosted.run(solution) { database, sandbox in
            let people = database.layout(Member.self)
            let writes = [Write.upsert(Member(name: "Ada", uuid: "ab3x"), by: .uuid)]
            let rows = try await Self.rows(of: people.writing(writes, journal: nil, options: Self.options))
            expectNoDifference(rows.map(\.short), ["0 failed invalidRequest"])
            expectNoDifference(rows[0].error?.reason.contains("another spelling"), true)
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Stranger"])
            guard !isUnique else { return }
            // The record beside the other spelling is found: the key is not ambiguous.
            _ = try await people.create(Member(name: "Ada", uuid: "ab3x")).firstValue()
            let again = [Write.upsert(Member(name: "Ida", uuid: "ab3x"), by: .uuid)]
            let second = try await Self.rows(of: people.writing(again, journal: nil, options: Self.options))
            expectNoDifference(second.map(\.short), ["0 edited"])
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Stranger", "Ida"])
        }
    }

    @Test(.thorough) func aKeyThatComesAgainMuchLaterIsNotSent() async throws {
        let solution = Solution.single(
            "People",
            fields: [.init("Name"), .init("City"), .init("UUID")],
            layoutFields: ["Name", "City", "UUID"]
        )
        try await Hosted.run(solution) { database, sandbox in
            let writes = (0..<400).map { Write.create(Member(name: "M", uuid: $0 == 399 ? "k0" : "k\($0)")) }
            let rows = try await Self.rows(
                of: database.layout(Member.self).writing(writes, journal: nil, options: Self.options)
            )
            expectNoDifference(rows.filter { !$0.isDone }.map(\.short), ["399 failed invalidRequest"])
            expectNoDifference(sandbox.people.count, 399)
        }
    }

    @Test func keysThatCannotBeToldApartAreToldBeforeAnythingIsSent() async throws {
        try await Self.run { people, sandbox in
            let writes: [Write] = [
                .create(Member(name: "A", uuid: "one")), .create(Member(name: "B", uuid: " two")),
                .create(Member(name: "C", uuid: "one")), .upsert(Member(name: "D", uuid: "three "), by: .uuid),
            ]
            let rows = try await Self.rows(of: people.writing(writes, journal: nil, options: Self.options))
            expectNoDifference(
                rows.map(\.short),
                ["0 created", "1 failed invalidRequest", "2 failed invalidRequest", "3 failed invalidRequest"]
            )
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["A"])
        }
    }

    // MARK: Temporary states and messages

    @Test func aFileThatIsClosedForAWhileIsWaitedFor() async throws {
        try await Self.run { people, sandbox in
            sandbox.inject(.error(.init(802)), on: .createRecord, skipping: 3, count: 20)
            sandbox.inject(.error(.init(112)), on: .createRecord, skipping: 60, count: 3)
            let rows = try await Self.rows(
                of: people.writing(Member.numbered(0..<60).map(Write.create), journal: nil)
            )
            expectNoDifference(rows.map(\.short), (0..<60).map { "\($0) created" })
        }
    }

    /// The answer to a login says nothing about the rows that waited for it.
    @Test func rowsThatMetAGarbledLoginAreSentByTheNextRun() async throws {
        try await Self.run { people, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes = Member.numbered(0..<5).map(Write.create)
            sandbox.inject(.badChunkSize(.overflow), on: .login, count: nil)
            let first = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(first.map(\.short), (0..<5).map { "\($0) failed network" })
            sandbox.clearFaults()
            // Ends the sessions whose tokens the client never received.
            sandbox.expireSessions()
            let second = try await Self.rows(of: people.writing(writes, journal: journal, options: Self.options))
            expectNoDifference(second.map(\.short), (0..<5).map { "\($0) created" })
            expectNoDifference(second.map(\.isFromJournal), Array(repeating: false, count: 5))
        }
    }

    @Test func rowsBehindTheWindowAreToldAfterAStop() async throws {
        try await Self.run { people, _ in
            let writes = Array(repeating: Write.create(Member(name: "")), count: 2_000)
            let options = DataAPI.BatchOptions(onFailure: .stop(after: 3))
            let summary = try await people.writing(writes, journal: nil, options: options).stopped()
            expectNoDifference(summary.rowCount, 2_000)
            #expect(summary.failedCount >= 3)
            expectNoDifference(summary.skippedCount, 2_000 - summary.failedCount)
            expectNoDifference(summary.isInputUnread, false)
        }
    }

    @Test func anInputThatTakesItsTimeIsNotWaitedForAfterAStop() async throws {
        try await Self.run { people, _ in
            let rows = PassthroughSubject<Write, Never>()
            let options = DataAPI.BatchOptions(onFailure: .stop(after: 1))
            let batch = people.writing(
                rows.buffer(size: 10, prefetch: .byRequest, whenFull: .dropNewest),
                journal: nil,
                options: options
            )
            let subscriber = TrackingSubscriber<DataAPI.BatchSummary, FMRest.APIError>()
            batch.summary.subscribe(subscriber)
            rows.send(.create(Member(name: "")))
            guard case .failure(let error) = await subscriber.completion() else {
                Issue.record("it fails")
                return
            }
            expectNoDifference(error.batchSummary?.isInputUnread, true)
            expectNoDifference(error.batchSummary?.failedCount, 1)
        }
    }

    @Test func theHostsMessagesAreTold() async throws {
        try await Self.run(count: 1) { people, _ in
            let writes: [Write] = [.create(Member(name: "Ada")), .edit(1, setting: ["City": "Bath"]), .delete(1)]
            let rows = try await Self.rows(of: people.writing(writes, journal: nil))
            expectNoDifference(rows.map(\.result.messages.isEmpty), [false, false, false])
        }
    }
}
