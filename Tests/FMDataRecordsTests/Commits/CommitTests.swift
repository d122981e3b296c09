import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Many writes in one transaction, executed by the sandbox's script.
@Suite(.timeLimit(.minutes(15))) struct CommitTests {
    private typealias Write = DataAPI.RecordWrite<Member>

    private static func run(
        count: Int = 3,
        _ body: (DataAPI.TypedLayout<Member>, DataAPI.CommitScript, Sandbox) async throws -> Void
    ) async throws {
        var solution = Solution.people(count: count)
        solution.addJobs()
        solution.addScript("Do Nothing") { _ in .result("") }
        try await Hosted.run(solution) { database, sandbox in
            let script = DataAPI.CommitScript("Run Job", in: database.addLayout("Jobs"))
            try await body(database.layout(Member.self), script, sandbox)
        }
    }

    private static let patient = DataAPI.CommitOptions(retryTimeout: .seconds(600), settlingTime: .milliseconds(1))

    @Test func writesOfAllKindsAreOneRequest() async throws {
        try await Self.run { people, script, sandbox in
            let writes: [Write] = [
                .create(Member(name: "Ada", uuid: "a")), .edit(1, setting: ["City": "London"]),
                .edit(2, setting: ["City": "Kiel"], modId: 0), .delete(3),
            ]
            let rows = try await people.writing(writes, committing: script).outcome().get()
            expectNoDifference(rows.map(\.short), ["0 created", "1 edited", "2 edited", "3 deleted"])
            expectNoDifference(rows.map(\.recordId), [4, 1, 2, nil])
            expectNoDifference(rows.map(\.key), [nil, "1", "2", "3"])
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Old 1", "Old 2", "Ada"])
            expectNoDifference(sandbox.people.map { $0.values["City"] }, ["London", "Kiel", nil])
            expectNoDifference(sandbox.counters.requests[.createRecord], 1)
            expectNoDifference(sandbox.counters.requests[.getRecord], 1)
        }
    }

    /// Rows, progress and summary belong to the one run, whether they are subscribed to before or after its end.
    @Test func aCommitIsOneRunHoweverManyLookAtIt() async throws {
        try await Self.run { people, script, sandbox in
            let writes = (1...4).map { Write.create(Member(name: "New \($0)", uuid: "n\($0)")) }
            let batch = people.writing(writes, committing: script, options: .init(rowsPerCommit: 2), isolation: nil)
            typealias Subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>
            let rows = [Subscriber(initialDemand: .none), Subscriber(initialDemand: .none)]
            let progress = TrackingSubscriber<DataAPI.BatchSummary, FMRest.APIError>()
            for subscriber in rows { batch.subscribe(subscriber) }
            batch.progress.subscribe(progress)
            for subscriber in rows { subscriber.request(.unlimited) }
            for subscriber in rows {
                await subscriber.completion()
                expectNoDifference(subscriber.values.map(\.short), (0..<4).map { "\($0) created" })
            }
            await progress.completion()
            expectNoDifference(progress.values.last?.createdCount, 4)
            expectNoDifference(sandbox.counters.requests[.createRecord], 2)

            expectNoDifference(awaited: try await batch.summary.firstValue().createdCount, 4)
            expectNoDifference(awaited: await batch.outcome().failure?.code, .noValue)
            expectNoDifference(sandbox.people.count, 7)
            expectNoDifference(sandbox.counters.requests[.createRecord], 2)
        }
    }

    @Test func draftsAreWrittenAsTheyDifferFromWhatWasRead() async throws {
        try await Self.run { people, script, sandbox in
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Bath"
            var late = try await people.record(id: 2).firstValue().draft()
            late.city = "Rome"
            _ = try await people.edit(2, setting: ["City": "Oslo"]).firstValue()
            let options = DataAPI.CommitOptions(isAtomic: false)
            let rows = try await people.writing([Write.save(draft), .save(late)], committing: script, options: options)
                .outcome().get()
            expectNoDifference(rows.map(\.short), ["0 edited", "1 failed 306"])
            expectNoDifference(rows.map(\.key), ["1", "2"])
            expectNoDifference(sandbox.people.map { $0.values["City"] }, ["Bath", "Oslo", nil])
        }
    }

    @Test func aRowThatFailsTakesItsCommitWithItAndNoOther() async throws {
        try await Self.run { people, script, sandbox in
            let writes: [Write] = [
                .create(Member(name: "Ada", uuid: "a")), .create(Member(name: "Double", uuid: "u1")),
                .create(Member(name: "Ben", uuid: "b")), .edit(1, setting: ["City": "Kiel"], modId: 8),
                .edit(2, setting: ["City": "Oslo"]),
            ]
            let rows = try await people.writing(writes, committing: script, options: .init(rowsPerCommit: 2)).outcome()
                .get()
            expectNoDifference(
                rows.map(\.short),
                ["0 failed rolledBack", "1 failed 504", "2 failed rolledBack", "3 failed 306", "4 edited"]
            )
            expectNoDifference((rows[0].error?.underlying as? FMRest.APIError)?.fileMakerCode, 504)
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Old 1", "Old 2", "Old 3"])
            expectNoDifference(sandbox.people.map { $0.values["City"] }, [nil, "Oslo", nil])
            expectNoDifference(sandbox.counters.requests[.createRecord], 3)
        }
    }

    @Test func rowsMayFailAlone() async throws {
        try await Self.run { people, script, sandbox in
            try sandbox.setLocked(true, person: 3)
            let writes: [Write] = [
                .create(Member(name: "Ada", uuid: "a")), .create(Member(name: "Double", uuid: "u1")),
                .edit(99, setting: ["City": "x"]), .edit(3, setting: ["City": "x"]), .delete(1),
            ]
            let options = DataAPI.CommitOptions(isAtomic: false, retryTimeout: .zero)
            let rows = try await people.writing(writes, committing: script, options: options).outcome().get()
            expectNoDifference(
                rows.map(\.short),
                ["0 created", "1 failed 504", "2 failed 101", "3 failed 301", "4 deleted"]
            )
            let summary = try await people.writing(writes.prefix(1), committing: script).summary
                .firstValue()
            expectNoDifference(summary.failedCount, 1)
        }
    }

    /// A row that cannot be encoded is not sent and, in a transaction, neither is any other row.
    @Test func aRowThatCannotBeWrittenDown() async throws {
        struct Odd: LayoutRecord {
            static let layout = "People"
            var name: String
            var isOdd = false
            enum CodingKeys: String, CodingKey { case name = "Name" }
            func encode(to encoder: any Encoder) throws {
                struct Refused: Error {}
                if isOdd { throw Refused() }
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(name, forKey: .name)
            }
        }
        try await Self.run { people, script, sandbox in
            let odd = people.layout.of(Odd.self)
            let writes: [DataAPI.RecordWrite<Odd>] = [.create(Odd(name: "Ada")), .create(Odd(name: "x", isOdd: true))]
            let all = try await odd.writing(writes, committing: script).outcome().get()
            expectNoDifference(all.map(\.short), ["0 failed rolledBack", "1 failed encoding"])
            expectNoDifference(sandbox.counters.requests[.createRecord], nil)
            let alone = try await odd.writing(writes, committing: script, options: .init(isAtomic: false))
                .outcome().get()
            expectNoDifference(alone.map(\.short), ["0 created", "1 failed encoding"])
        }
    }

    @Test(.thorough) func manyRowsAreAFewRequests() async throws {
        try await Self.run(count: 0) { people, script, sandbox in
            let writes = Member.numbered(0..<250).map(Write.create)
            let options = DataAPI.CommitOptions(rowsPerCommit: 100)
            let summary = try await people.writing(writes, committing: script, options: options).summary
                .firstValue()
            expectNoDifference(summary.createdCount, 250)
            expectNoDifference(sandbox.people.count, 250)
            expectNoDifference(sandbox.counters.requests[.createRecord], 3)
        }
    }

    // MARK: Journals

    /// A job whose line is lost is looked up by its key, and rows whose outcomes are lost get their own.
    @Test func aCommitIsFoundAgainWithoutTheEndOfItsJournal() async throws {
        try await withTemporaryFolder { folder in
            try await Self.run { people, script, sandbox in
                let url = folder.appendingPathComponent("writes.journal")
                let writes = Member.numbered(0..<6).map(Write.create)
                let options = DataAPI.CommitOptions(rowsPerCommit: 3, settlingTime: .milliseconds(1))
                func rows() async throws -> [DataAPI.BatchRow] {
                    try await people.writing(writes, committing: script, journal: .file(url), options: options)
                        .outcome()
                        .get()
                }
                let first = try await rows()
                let whole = try Data(contentsOf: url)
                let ends = whole.indices.filter { whole[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
                for cut in ends.flatMap({ [$0, $0 + 9] }).filter({ $0 < whole.count }) {
                    try whole.prefix(cut).write(to: url)
                    let again = try await rows()
                    expectNoDifference(again.map(\.short), (0..<6).map { "\($0) created" }, "cut at \(cut)")
                    expectNoDifference(again.map(\.recordId), first.map(\.recordId), "cut at \(cut)")
                    expectNoDifference(sandbox.people.count, 9, "cut at \(cut)")
                }
            }
        }
    }

    @Test func aCommitIsTakenUpByItsJournal() async throws {
        try await Self.run { people, script, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes: [Write] = [
                .create(Member(name: "Ada", uuid: "a")), .edit(1, setting: ["City": "Kiel"]),
                .create(Member(name: "Ben", uuid: "b")),
                .delete(3),
            ]
            let options = DataAPI.CommitOptions(
                rowsPerCommit: 2,
                retryTimeout: .milliseconds(1),
                settlingTime: .milliseconds(1)
            )
            func commit() async throws -> DataAPI.BatchSummary {
                try await people.writing(writes, committing: script, journal: journal, options: options).summary
                    .firstValue()
            }
            // The first commit is executed, but its lookup fails, so its outcome is unknown. The second is refused.
            sandbox.inject(.resetAfterExecution, on: .createRecord, count: 1)
            sandbox.inject(.error(.init(802)), on: .find, count: nil)
            sandbox.inject(.error(.init(301)), on: .createRecord, count: nil)
            let first = try await commit()
            expectNoDifference(first.unknownCount, 2)
            expectNoDifference(first.failedCount, 2)
            sandbox.clearFaults()
            let second = try await commit()
            expectNoDifference(second.isComplete, true)
            expectNoDifference(second.journalCount, 0)
            let third = try await commit()
            expectNoDifference(third.journalCount, 4)
            expectNoDifference(third.description, second.description)
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Old 1", "Old 2", "Ada", "Ben"])
            expectNoDifference(sandbox.people.map(\.modId), [1, 0, 0, 0])
        }
    }

    @Test(.thorough) func aCommitThatALockHasRevertedIsMadeAgain() async throws {
        try await Self.run { people, script, sandbox in
            try sandbox.setLocked(true, person: 3)
            let writes: [Write] = [.create(Member(name: "Ada", uuid: "a")), .edit(3, setting: ["City": "Kiel"])]
            let subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>()
            people.writing(writes, committing: script, options: Self.patient, isolation: nil).subscribe(subscriber)
            await until { sandbox.counters.requests[.getRecord] ?? 0 >= 1 }
            try sandbox.setLocked(false, person: 3)
            await subscriber.completion()
            expectNoDifference(subscriber.values.map(\.short), ["0 created", "1 edited"])
            expectNoDifference(sandbox.people.count, 4)
        }
    }

    /// Only the row that met the lock is sent again.
    @Test(.thorough) func aLockedRowOfACommitThatIsNotAtomicIsWaitedFor() async throws {
        try await Self.run { people, script, sandbox in
            try sandbox.setLocked(true, person: 3)
            let writes: [Write] = [
                .create(Member(name: "Ada", uuid: "a")), .edit(3, setting: ["City": "Kiel"]),
                .create(Member(name: "", uuid: "b")),
            ]
            var options = Self.patient
            options.isAtomic = false
            let journal = DataAPI.WriteJournal.memory()
            let subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>()
            people.writing(writes, committing: script, journal: journal, options: options, isolation: nil)
                .subscribe(subscriber)
            await until { sandbox.counters.requests[.getRecord] ?? 0 >= 1 }
            try sandbox.setLocked(false, person: 3)
            await subscriber.completion()
            expectNoDifference(subscriber.values.map(\.short), ["0 created", "1 edited", "2 failed 509"])
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Old 1", "Old 2", "Old 3", "Ada"])

            // The refused row is reported again as before or, on request, sent again in its corrected form.
            let again = try await people.writing(writes, committing: script, journal: journal, options: options)
                .outcome().get()
            expectNoDifference(again.map(\.short), ["0 created", "1 edited", "2 failed 509"])
            expectNoDifference(again.map(\.isFromJournal), [true, true, true])
            var corrected = writes
            corrected[2] = .create(Member(name: "Ben", uuid: "b"))
            options.retriesRefused = true
            let whole = try await people.writing(corrected, committing: script, journal: journal, options: options)
                .outcome().get()
            expectNoDifference(whole.map(\.short), ["0 created", "1 edited", "2 created"])
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Old 1", "Old 2", "Old 3", "Ada", "Ben"])
        }
    }

    // MARK: Lost answers and missing scripts

    @Test(arguments: [Sandbox.Fault.resetAfterExecution, .cutAnswer(afterBytes: 10), .reset])
    func aLostAnswerIsReadFromTheJob(fault: Sandbox.Fault) async throws {
        try await Self.run { people, script, sandbox in
            sandbox.inject(fault, on: .createRecord)
            let writes: [Write] = [.create(Member(name: "Ada", uuid: "a")), .delete(3)]
            let rows = try await people.writing(writes, committing: script, options: Self.patient)
                .outcome().get()
            expectNoDifference(rows.map(\.short), ["0 created", "1 deleted"])
            expectNoDifference(sandbox.people.map { $0.values["Name"] }, ["Old 1", "Old 2", "Ada"])
        }
    }

    @Test func aResultThatCannotBeReadIsUnknown() async throws {
        try await Self.run { people, script, sandbox in
            var other = script
            other.name = "Do Nothing"
            let options = DataAPI.CommitOptions(retryTimeout: .zero)
            let writes: [Write] = [.create(Member(name: "Ada")), .delete(3)]
            let rows = try await people.writing(writes, committing: other, options: options).outcome().get()
            expectNoDifference(rows.map(\.short), ["0 unknown", "1 unknown"])
            expectNoDifference(rows[0].error?.outcomeIsUnknown, true)
        }
    }

    @Test func withoutTheScriptNothingIsWrittenAndAllRowsFail() async throws {
        try await Self.run { people, script, sandbox in
            var other = script
            other.name = "Nowhere"
            let rows = try await people.writing([Write.delete(3)], committing: other).outcome().get()
            expectNoDifference(rows.map(\.short), ["0 failed 104"])
            expectNoDifference(sandbox.people.count, 3)
        }
    }

    @Test func withoutTheLayoutOfJobsTheFirstCommitIsTheLast() async throws {
        try await Self.run { people, _, sandbox in
            let script = DataAPI.CommitScript("Run Job", in: people.layout.database.addLayout("Nowhere"))
            let subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>()
            people.writing([Write.delete(1), .delete(2)], committing: script, options: .init(rowsPerCommit: 1))
                .subscribe(subscriber)
            guard case .failure(let error) = await subscriber.completion() else {
                Issue.record("It finished without a failure")
                return
            }
            expectNoDifference(subscriber.values.map(\.short), ["0 failed 105"])
            expectNoDifference(error.fileMakerCode, 105)
            expectNoDifference(sandbox.people.count, 3)
        }
    }

    /// A commit that an earlier run has left open comes before the rows that are new.
    @Test func withoutTheLayoutOfJobsNothingFollowsACommitThatWasLeftOpen() async throws {
        try await Self.run { people, script, sandbox in
            let journal = DataAPI.WriteJournal.memory()
            let writes: [Write] = [.edit(1, setting: ["City": "Kiel"]), .edit(2, setting: ["City": "Oslo"])]
            let options = DataAPI.CommitOptions(retryTimeout: .milliseconds(1), settlingTime: .milliseconds(1))
            sandbox.inject(.resetAfterExecution, on: .createRecord, count: 1)
            sandbox.inject(.error(.init(802)), on: .find, count: nil)
            let first = try await people.writing(
                writes.prefix(1),
                committing: script,
                journal: journal,
                options: options
            ).outcome().get()
            expectNoDifference(first.map(\.short), ["0 unknown"])
            sandbox.clearFaults()
            sandbox.inject(.error(.init(105)), on: .find, count: nil)
            let sent = sandbox.counters.requests[.createRecord]
            let second = await people.writing(writes, committing: script, journal: journal, options: options)
                .outcome()
            #expect(throws: FMRest.APIError.self) { try second.get() }
            expectNoDifference(sandbox.counters.requests[.createRecord], sent)
        }
    }

    // MARK: The contract

    @Test func nothingIsSentBeforeDemandAndNoMoreThanACommitForARow() async throws {
        try await Self.run { people, script, sandbox in
            let writes = Member.numbered(0..<6).map(Write.create)
            let subscriber = TrackingSubscriber<DataAPI.BatchRow, FMRest.APIError>(initialDemand: .none)
            people.writing(writes, committing: script, options: .init(rowsPerCommit: 2)).subscribe(subscriber)
            await settled { sandbox.counters.requests.count }
            expectNoDifference(sandbox.counters.requests, [:])
            subscriber.request(.max(1))
            await subscriber.valueCount(atLeast: 1)
            await settled { sandbox.counters.requests.count }
            expectNoDifference(subscriber.values.count, 1)
            expectNoDifference(sandbox.counters.requests[.createRecord], 1)
            subscriber.request(.unlimited)
            _ = await subscriber.completion()
            expectNoDifference(subscriber.values.map(\.index), Array(0..<6))
        }
    }

    @Test func resultsOfScriptsInEveryForm() throws {
        let payload = CommitPayload(
            layout: "People",
            atomic: true,
            rows: [.init(op: .create), .init(op: .edit, id: "7"), .init(op: .delete, id: "8")]
        )
        let each = CommitPayload(layout: payload.layout, atomic: false, rows: payload.rows)
        func outcomes(_ json: String, of payload: CommitPayload) throws -> [String] {
            let results = try FMDecoder().decode([CommitResult].self, from: json.utf8)
            return payload.outcomes(of: results).map { DataAPI.BatchRow(index: 0, result: $0).short }
        }
        let all = #"[{"i":2,"id":"8"},{"i":0,"id":58,"mod":"0"},{"i":1,"mod":3}]"#
        expectNoDifference(try outcomes(all, of: payload), ["0 created", "0 edited", "0 deleted"])
        expectNoDifference(
            try outcomes(#"[{"i":1,"err":504}]"#, of: payload),
            ["0 failed rolledBack", "0 failed 504", "0 failed rolledBack"]
        )
        expectNoDifference(
            try outcomes(#"[{"err":5000}]"#, of: each),
            ["0 failed 5000", "0 failed 5000", "0 failed 5000"]
        )
        expectNoDifference(
            try outcomes(#"[{"i":0,"id":"58"},{"i":1,"err":"5306"}]"#, of: each),
            ["0 created", "0 failed 306", "0 unknown"]
        )
        expectNoDifference(
            try outcomes("[{\"i\":0},{\"i\":9,\"err\":0}]", of: each),
            ["0 unknown", "0 unknown", "0 unknown"]
        )
        expectNoDifference(try outcomes("[]", of: payload), ["0 unknown", "0 unknown", "0 unknown"])
    }
}
