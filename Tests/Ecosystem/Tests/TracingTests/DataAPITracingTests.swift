import FMData
import FMDataTracing
import FMSandbox
import InMemoryTracing
import OpenCombine
import Testing
import Tracing

@Suite struct DataAPITracingTests {
    private func spans(
        injectsContext: Bool = false,
        _ body: (Sandbox, DataAPI.Database, InMemoryTracer) async throws -> Void
    ) async throws -> [FinishedInMemorySpan] {
        let tracer = InMemoryTracer()
        let sandbox = try await Sandbox.start([.sample])
        var config = DataAPI.Config()
        DataAPITracing(tracer: tracer, injectsContext: injectsContext).install(in: &config)
        let server = DataAPI.Server(host: sandbox.url, config: config)
        let database = server.addDatabase(
            "World",
            credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
        )
        try await body(sandbox, database, tracer)
        _ = try await server.shutdown().firstValue()
        await sandbox.stop()
        #expect(tracer.activeSpans.isEmpty)
        return tracer.finishedSpans
    }

    @Test func aCallHasASpanAndEachAttemptOneBelowIt() async throws {
        let spans = try await spans { sandbox, database, tracer in
            sandbox.inject(.html(status: 503), on: .getRecords, count: 1)
            let patient = database.retrying(.init(firstPause: .milliseconds(1)))
            try await tracer.withSpan("work") { _ in
                _ = try await patient.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
            }
        }
        let work = try #require(spans.first { $0.operationName == "work" })
        let call = try #require(spans.first { $0.operationName == "getRecords Countries" })
        #expect(call.parentSpanID == work.spanID)
        #expect(call.attributes["db.namespace"]?.toSpanAttribute() == "World".toSpanAttribute())
        let attempts = spans.filter { $0.parentSpanID == call.spanID }
        #expect(attempts.map(\.operationName) == ["GET", "GET"])
        #expect(attempts.first?.attributes["http.response.status_code"]?.toSpanAttribute() == 503.toSpanAttribute())
        #expect(attempts.last?.attributes["http.request.resend_count"]?.toSpanAttribute() == 1.toSpanAttribute())
        #expect(spans.contains { $0.operationName == "logIn POST" })
    }

    @Test func aFailureIsAnErrorAndACancelledCallIsNone() async throws {
        let spans = try await spans { sandbox, database, _ in
            let missing = database.addLayout("Contacts").deleteRecord(recordId: 999_999)
            await #expect(throws: FMRest.APIError.self) { try await missing.firstValue() }
            sandbox.inject(.holdAnswer, on: .getRecords, count: 1)
            let cancelled = database.addLayout("Countries").getRecords().returnAs(FieldData.self)
                .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            cancelled.cancel()
        }
        let failed = try #require(spans.first { $0.operationName == "deleteRecord Contacts" })
        #expect(failed.status?.code == .error)
        #expect(failed.attributes["db.response.status_code"]?.toSpanAttribute() == "101".toSpanAttribute())
        let cancelled = try #require(spans.first { $0.operationName == "getRecords Countries" })
        #expect(cancelled.status == nil)
    }

    @Test func aHundredSubscriptionsKeepTheirParentsApart() async throws {
        let spans = try await spans { _, database, tracer in
            let countries = database.addLayout("Countries")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...100 {
                    group.addTask {
                        try await tracer.withSpan("work \(number)") { _ in
                            _ = try await countries.tagged("\(number)").getRecords().returnAs(FieldData.self)
                                .firstValue()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let parents = Dictionary(uniqueKeysWithValues: spans.map { ($0.spanID, $0.operationName) })
        let calls = spans.filter { $0.operationName == "getRecords Countries" }
        #expect(calls.count == 100)
        for call in calls {
            let parent = call.parentSpanID.flatMap { parents[$0] }?.split(separator: " ").last
            #expect(call.attributes["filemaker.tag"]?.toSpanAttribute() == parent.map { "\($0)" }?.toSpanAttribute())
        }
    }

    @Test func theContextTravelsInAHeaderOnRequestOnly() async throws {
        for injects in [false, true] {
            _ = try await spans(injectsContext: injects) { _, database, tracer in
                _ = try await database.addLayout("Countries").getRecords().returnAs(FieldData.self).firstValue()
                #expect(tracer.performedContextInjections.isEmpty == !injects)
            }
        }
    }
}
