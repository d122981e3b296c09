import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import Logging
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Retried calls, from the public API down to the requests. The client's clock stands still until a test advances it: a
/// call in a pause shows as an alarm.
@Suite(.timeLimit(.minutes(15))) struct RetryingTests {
    private typealias Call<Value> = TrackingSubscriber<Value, FMRest.APIError>

    /// Pauses of 1 s, 2 s and 4 s.
    private static let policy = DataAPI.RetryPolicy(firstPause: .seconds(1), jitter: 0)

    /// A server with its sample file, and a client whose clock stands still.
    private struct Still {
        let sandbox: Sandbox
        let time: TestClock
        let database: DataAPI.Database

        var contacts: DataAPI.Layout { database.retrying(RetryingTests.policy).addLayout("Contacts") }
        var requests: [Sandbox.Endpoint: Int] { sandbox.counters.requests }

        /// Lets pauses pass; each must have the expected length.
        func pass(_ pauses: Int64...) async {
            for pause in pauses {
                await until { time.timers.contains(.seconds(pause)) }
                time.advance(by: .seconds(pause))
            }
        }

        /// Lets pauses of any length up to 4 s pass.
        func passPauses(until isOver: () -> Bool) async {
            while !isOver(), !Task.isCancelled {
                await until { isOver() || time.timers.contains { $0 <= .seconds(4) } }
                if let pause = time.timers.first, pause <= .seconds(4) { time.advance(by: pause) }
            }
        }
    }

    private func run(
        client configure: (inout DataAPI.Config) -> Void = { _ in },
        _ body: (Still) async throws -> Void
    ) async throws {
        let time = TestClock()
        try await World.run(client: configure, clock: time) { world in
            try await body(Still(sandbox: world.sandbox, time: time, database: world.database))
        }
    }

    private func edit(_ layout: DataAPI.Layout) -> AnyPublisher<DataAPI.EditRecordResponse, FMRest.APIError> {
        layout.editRecord(record: EditRecord(editRecord: ["City": "Kiel"]), recordId: 1)
    }

    // MARK: What is retried

    @Test func aWriteThatFindsALockWaitsForIt() async throws {
        try await run { still in
            still.sandbox.inject(.error(FileMakerError(301)), on: .editRecord, count: 2)
            let call = Call<DataAPI.EditRecordResponse>()
            edit(still.contacts).subscribe(call)
            await still.pass(1, 2)
            await call.completion()
            expectNoDifference(call.values.map(\.modId), [1])
            expectNoDifference(still.requests[.editRecord], 3)
            expectNoDifference(still.sandbox.counters.executedWrites, 1)
        }
    }

    @Test(arguments: [
        Sandbox.Fault.html(status: 503), .empty(status: 504), .html(status: 429), .reset, .resetAfterExecution,
        .cut(afterBodyBytes: 10), .error(FileMakerError(812)),
    ])
    func aReadIsTriedAgainWhateverPasses(fault: Sandbox.Fault) async throws {
        try await run { still in
            // The HTTP client itself sends a read once more when the connection that it used was closed.
            let repeats = fault == .reset || fault == .resetAfterExecution
            still.sandbox.inject(fault, on: .getRecords, count: repeats ? 4 : 2)
            let call = Call<DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal>>()
            still.contacts.getRecords().returnAs(FieldData.self).subscribe(call)
            await still.passPauses(until: { call.completionIfAny != nil })
            expectNoDifference(call.values.map(\.data.count), [3])
        }
    }

    @Test func aServerThatIsDownIsAskedAsOftenAsThePolicySays() async throws {
        try await run { still in
            still.sandbox.inject(.html(status: 503), on: .productInfo, count: nil)
            let call = Call<DataAPI.Server.ProductInfo>()
            still.database.server.retrying(Self.policy).getProductInfo().subscribe(call)
            await still.pass(1, 2, 4)
            guard case .failure(let error) = await call.completion() else {
                Issue.record("it did not fail")
                return
            }
            expectNoDifference(error.httpStatus, 503)
            #expect(error.hint?.hasSuffix("The call was tried 4 times.") == true, "\(error)")
            expectNoDifference(still.requests[.productInfo], 4)
            still.sandbox.clearFaults()
        }
    }

    @Test func theFormOfDatesIsAskedForAgain() async throws {
        try await run(client: { $0.dateFormats = .server }) { still in
            still.sandbox.inject(.html(status: 503), on: .productInfo)
            let call = Call<DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal>>()
            still.contacts.getRecords().returnAs(FieldData.self).subscribe(call)
            await still.pass(1)
            await call.completion()
            expectNoDifference(call.values.map(\.data.count), [3])
            expectNoDifference(still.requests[.productInfo], 2)
        }
    }

    @Test func contentThatCannotBeHadForAMomentIsTriedAgain() async throws {
        try await run { still in
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data("hello".utf8))
            _ = try await still.contacts.uploadContainer(file, to: "Photo", recordId: 1).firstValue()
            still.sandbox.inject(.html(status: 503), on: .downloadContainer)
            let call = Call<DataAPI.ContainerContent>()
            still.contacts.downloadContainer(fieldName: "Photo", recordId: 1).toMemory().subscribe(call)
            await still.pass(1)
            await call.completion()
            expectNoDifference(call.values.map(\.data), [Data("hello".utf8)])
        }
    }

    // MARK: What is not retried

    @Test func aWriteWhoseOutcomeIsUnknownIsSentOnce() async throws {
        try await run { still in
            _ = try await still.contacts.getRecords().returnAs(FieldData.self).firstValue()
            for fault in [Sandbox.Fault.resetAfterExecution, .brokenJSON, .html(status: 503)] {
                still.sandbox.inject(fault, on: .createRecord)
                let error = await still.contacts.createRecord().awaitSingleResult().failure
                expectNoDifference(error?.outcomeIsUnknown, true)
            }
            expectNoDifference(still.requests[.createRecord], 3)
            expectNoDifference(still.sandbox.counters.executedWrites, 2)
        }
    }

    @Test func aStreamThatHasBegunIsNotBegunAgain() async throws {
        try await run { still in
            let zones = still.database.retrying(Self.policy).addLayout("Zones")
            let query = RecordQuery(portal: [], limit: 300)
            still.sandbox.inject(.html(status: 502), on: .getRecords)
            still.sandbox.inject(.cutAnswer(afterBytes: 40_000), on: .getRecords)
            let call = Call<DataAPI.Record<FieldData, DataAPI.EmptyPortal>>()
            zones.records(FieldData.self, recordQuery: query).subscribe(call)
            await still.pass(1)
            guard case .failure = await call.completion() else {
                Issue.record("it did not fail")
                return
            }
            #expect(!call.values.isEmpty)
            // Each record was published once.
            expectNoDifference(Set(call.values.map(\.recordId)).count, call.values.count)
            expectNoDifference(still.requests[.getRecords], 2)
        }
    }

    @Test func aScriptThatMayHaveRunDoesNotRunAgain() async throws {
        try await run { still in
            let before = ScriptQuery(scriptPreRequest: "Echo", scriptPreRequestParam: "x")
            let after = ScriptQuery(script: "Echo", scriptParam: "x")
            still.sandbox.inject(.error(FileMakerError(301)), on: .deleteRecord)
            let error = await still.contacts.deleteRecord(recordId: 1, scriptQuery: before).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .recordInUse)
            still.sandbox.inject(.error(FileMakerError(301)), on: .runScript)
            let alone = await still.contacts.runScript("Echo").awaitSingleResult().failure
            expectNoDifference(alone?.fileMakerCode, .recordInUse)

            // After a refused request no script runs, and a full host runs no script either, so both calls are safe to
            // retry.
            still.sandbox.inject(.error(FileMakerError(301)), on: .deleteRecord)
            still.sandbox.inject(.error(FileMakerError(812)), on: .runScript)
            let call = Call<DataAPI.ScriptResponse>()
            still.contacts.deleteRecord(recordId: 1, scriptQuery: after).subscribe(call)
            await still.pass(1)
            await call.completion()
            let script = Call<DataAPI.ScriptResponse>()
            still.contacts.runScript("Echo").subscribe(script)
            await still.pass(1)
            await script.completion()
            expectNoDifference(call.values.count + script.values.count, 2)
            expectNoDifference(still.requests[.deleteRecord], 3)
            expectNoDifference(still.requests[.runScript], 3)
        }
    }

    @Test func anUploadThatCannotBeReadTwiceIsSentOnce() async throws {
        try await run { still in
            let bytes = Data("hello".utf8)
            for isReplayable in [false, true] {
                let file = FMRest.ContainerFile(
                    fileName: "a.txt",
                    length: bytes.count,
                    isReplayable: isReplayable
                ) { Just(bytes).setFailureType(to: (any Error).self).eraseToAnyPublisher() }
                still.sandbox.inject(.error(FileMakerError(301)), on: .uploadContainer)
                let call = Call<DataAPI.UploadResponse>()
                still.contacts.uploadContainer(file, to: "Photo", recordId: 1).subscribe(call)
                if isReplayable { await still.pass(1) }
                await call.completion()
                expectNoDifference(call.values.count, isReplayable ? 1 : 0)
            }
            expectNoDifference(still.requests[.uploadContainer], 3)
        }
    }

    @Test func aFieldIsNamedAtOnceEvenIfTheLayoutCannotBeAsked() async throws {
        try await run { still in
            still.sandbox.inject(.html(status: 503), on: .layoutMetadata)
            let error = await still.contacts.createRecord(["Nmae": "Ada"]).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .fieldMissing)
            expectNoDifference(still.requests[.layoutMetadata], 1)
        }
    }

    // MARK: Time

    @Test func theServerIsLeftAloneAsLongAsItAsks() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let time = TestClock()
        try await ScriptedHost.run(answer: { call in
            switch call.number {
            case 0: .response(429, ["Retry-After": "7", "Content-Type": "text/plain"], "slow down")
            case 1: .response(503, ["Retry-After": "Sun, 06 Nov 1994 08:49:50 GMT", "Date": date])
            default: .record("Name", "Ada")
            }
        }) { host in
            let database = DataAPI.Server(host: "http://127.0.0.1:\(host.server.port)", config: .patient, clock: time)
                .addDatabase("Harbor", credentials: Credentials(user: "api", password: "secret"))
            let call = Call<DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal>>()
            database.retrying(Self.policy).addLayout("People").getRecords().returnAs(FieldData.self).subscribe(call)
            for pause in [Duration.seconds(7), .seconds(13)] {
                await until { time.timers.contains(pause) }
                time.advance(by: pause)
            }
            await call.completion()
            expectNoDifference(call.values.map(\.data.count), [1])
            expectNoDifference(host.calls.count, 3)
            _ = await database.logOut().awaitSingleResult()
        }
    }

    @Test func noPauseGoesBeyondTheTimeOfTheCall() async throws {
        try await run { still in
            still.sandbox.inject(.error(FileMakerError(301)), on: .editRecord, count: nil)
            let call = Call<DataAPI.EditRecordResponse>()
            // The HTTP client's own clock does not stand still: on a busy machine an attempt may take some seconds.
            // Sessions end after 15 minutes, so no pause is longer.
            let policy = DataAPI.RetryPolicy(
                firstPause: .seconds(300),
                maximumPause: .seconds(600),
                jitter: 0,
                deadline: nil
            )
            edit(still.database.retrying(policy).addLayout("Contacts").timeouts { $0.total = .seconds(700) })
                .subscribe(call)
            await still.pass(300)
            guard case .failure(let error) = await call.completion() else {
                Issue.record("it did not fail")
                return
            }
            // The error is that of the last attempt, not a timeout.
            expectNoDifference(error.fileMakerCode, .recordInUse)
            #expect(error.hint?.contains("tried 2 times: there is no time") == true, "\(error)")
            still.sandbox.clearFaults()
        }
    }

    @Test func cancellingInAPauseSendsNothingMore() async throws {
        try await run { still in
            still.sandbox.inject(.error(FileMakerError(301)), on: .editRecord, count: nil)
            let call = Call<DataAPI.EditRecordResponse>()
            edit(still.contacts).subscribe(call)
            await until { still.time.timers.contains(.seconds(1)) }
            call.cancel()
            #expect(!still.time.timers.contains(.seconds(1)))
            still.time.advance(by: .seconds(60))
            expectNoDifference(still.requests[.editRecord], 1)
            expectNoDifference(still.database.sessionStatus.leased, 0)
            still.sandbox.clearFaults()
        }
    }

    // MARK: The budget

    @Test func callsOfAServerShareItsBudget() async throws {
        try await run { still in
            still.sandbox.inject(.html(status: 503), on: .getRecords, count: nil)
            still.sandbox.inject(.holdAnswer, on: .login)
            let policy = DataAPI.RetryPolicy(maximumAttempts: 2, firstPause: .zero)
            let calls = (0..<40).map { number in
                let call = Call<DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal>>()
                // Each call has a view of its own.
                still.database.tagged("\(number)").retrying(policy).addLayout("Contacts").getRecords()
                    .returnAs(FieldData.self).subscribe(call)
                return call
            }
            // All calls begin before one fails, so what they add to the budget is lost: it is full.
            await still.sandbox.untilAnswersHeld(1)
            still.sandbox.releaseAnswers()
            await still.passPauses(until: { calls.allSatisfy { $0.completionIfAny != nil } })
            // Forty calls, and a burst of ten retries.
            expectNoDifference(still.requests[.getRecords], 50)
            still.sandbox.clearFaults()
        }
    }

    @Test func aBudgetMayBeShared() async throws {
        try await run { still in
            let policy = DataAPI.RetryPolicy(budget: DataAPI.RetryBudget(share: 0, burst: 0))
            still.sandbox.inject(.html(status: 503), on: .getRecords)
            let error = await still.contacts.retrying(policy).getRecords().returnAs(FieldData.self)
                .awaitSingleResult().failure
            #expect(error?.hint?.contains("budget") == true, "\(String(describing: error))")
            expectNoDifference(still.requests[.getRecords], 1)
        }
    }

    // MARK: Views

    @Test func withoutAPolicyNothingIsTriedAgain() async throws {
        try await run { still in
            still.sandbox.inject(.error(FileMakerError(301)), on: .editRecord, count: 2)
            let plain = await edit(still.database.addLayout("Contacts")).awaitSingleResult().failure
            expectNoDifference(plain?.fileMakerCode, .recordInUse)
            expectNoDifference(plain?.hint, FileMakerErrorCode.recordInUse.hint)
            let without = still.contacts.callOptions { $0.retryPolicy = nil }
            let switchedOff = await edit(without).awaitSingleResult().failure
            expectNoDifference(switchedOff?.fileMakerCode, .recordInUse)
            expectNoDifference(still.requests[.editRecord], 2)
        }
    }

    @Test func callsInAPinnedSessionAreTriedAgainInIt() async throws {
        try await run { still in
            still.sandbox.inject(.error(FileMakerError(301)), on: .editRecord)
            let call = Call<DataAPI.EditRecordResponse>()
            still.database.retrying(Self.policy).withSessionPublisher { pinned in
                self.edit(pinned.addLayout("Contacts"))
            }
            .subscribe(call)
            await still.pass(1)
            await call.completion()
            expectNoDifference(call.values.count, 1)
            expectNoDifference(still.sandbox.counters.logins, 1)
        }
    }

    @Test func valuesArriveOnTheCallersActor() async throws {
        try await run { still in
            still.sandbox.inject(.html(status: 503), on: .getRecords)
            let call = Call<Bool>()
            await Self.ask(still.contacts, for: call)
            await still.pass(1)
            await call.completion()
            expectNoDifference(call.values, [true])
        }
    }

    @MainActor private static func ask(_ layout: DataAPI.Layout, for call: Call<Bool>) {
        layout.getRecords().returnAs(FieldData.self)
            .map { _ in
                MainActor.assertIsolated()
                return MainQueue.isCurrent
            }
            .subscribe(call)
    }

    @Test func theLogTellsOfThePause() async throws {
        let log = LogLines()
        try await run(client: { $0.logger = log.logger(.debug) }) { still in
            still.sandbox.inject(.error(FileMakerError(301)), on: .editRecord)
            let call = Call<DataAPI.EditRecordResponse>()
            edit(still.contacts.tagged("import")).subscribe(call)
            await still.pass(1)
            await call.completion()
        }
        let line = try #require(log.all.first { $0.contains("tried again") })
        for part in ["fm.attempt=2", "pause_ms=1000", "error=fileMaker", "fm.code=301", "fm.tag=import"] {
            #expect(line.contains(part), "\(line)")
        }
    }
}
