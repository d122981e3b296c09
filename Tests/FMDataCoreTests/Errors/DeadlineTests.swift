import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Time limits of single calls, and the errors that they cause. The limits are short and always strike, since what the
/// call waits for never comes.
@Suite(.timeLimit(.minutes(15))) struct DeadlineTests {
    private typealias Call<Value> = TrackingSubscriber<Value, FMRest.APIError>
    private static let short = Duration.milliseconds(30)

    private static func silentHost(
        client configure: (inout DataAPI.Config) -> Void = { _ in },
        _ body: (ScriptedHost) async throws -> Void
    ) async throws {
        try await ScriptedHost.run(client: configure, answer: { _ in .silence }, body)
    }

    /// Repeats a call with a limit that doubles until the limit strikes while the call waits for `awaited`. A busy
    /// machine needs some time to get this far, so earlier limits may strike while the call waits for a session or a
    /// connection. The error must then say that the call had no effect.
    ///
    /// - Parameter isThere: whether the call has got this far.
    private static func strike(
        while awaited: String,
        isThere: () -> Bool = { true },
        _ call: (Duration) async -> FMRest.APIError?
    ) async throws -> FMRest.APIError {
        var limit = Duration.milliseconds(20)
        while true {
            let error = try #require(await call(limit))
            expectNoDifference(error.code, .timeout)
            #expect(error.reason.contains("the limit was timeouts.total, \(limit)"), "\(error)")
            if error.reason.contains("waited for \(awaited);"), isThere() { return error }
            try #require(!Task.isCancelled, "\(error)")
            if error.reason.contains("waited for a session") || error.reason.contains("waited for a connection") {
                #expect(error.isRetryable && !error.outcomeIsUnknown, "\(error)")
            }
            limit = limit * 2
        }
    }

    // MARK: What the call waited for

    @Test func aReadThatGetsNoAnswerIsRetryable() async throws {
        try await Self.silentHost { host in
            let error = try await Self.strike(while: "the answer") { limit in
                await host.layout.timeouts { $0.total = limit }
                    .getRecords().returnAs(FieldData.self).awaitSingleResult().failure
            }
            #expect(error.isRetryable && !error.outcomeIsUnknown)
        }
    }

    @Test func aWriteThatGetsNoAnswerMayHaveBeenCarriedOut() async throws {
        try await Self.silentHost { host in
            let error = try await Self.strike(while: "the answer") { limit in
                await host.layout.timeouts { $0.total = limit }.createRecord().awaitSingleResult().failure
            }
            #expect(!error.isRetryable && error.outcomeIsUnknown)
        }
    }

    @Test func aWriteThatGetsNoSessionWasNotSent() async throws {
        try await Self.silentHost(client: { $0.sessions.maximumSessions = 1 }) { host in
            let first = Call<DataAPI.CreateResponse>()
            host.layout.createRecord().subscribe(first)
            await until { host.calls.count == 1 }
            let error = await host.layout.timeouts { $0.total = Self.short }.createRecord().awaitSingleResult().failure
            expectNoDifference(error?.code, .timeout)
            expectNoDifference(error?.outcomeIsUnknown, false)
            expectNoDifference(error?.isRetryable, true)
            #expect(error?.reason.contains("waited for a session") == true, "\(error as Any)")
            #expect(error?.reason.contains("the limit was timeouts.total, 0.03 seconds") == true, "\(error as Any)")
            expectNoDifference(host.calls.count, 1)
            first.cancel()
        }
    }

    @Test func thePoolsOwnLimitSaysItsName() async throws {
        try await Self.silentHost(client: {
            $0.sessions.maximumSessions = 1
            $0.sessions.waitingDeadline = Self.short
        }) { host in
            // The first call must not wait for its login, which may take longer than the limit.
            _ = try await host.database.login(credentials: Credentials(user: "api", password: "secret")).firstValue()
            let first = Call<DataAPI.CreateResponse>()
            host.layout.createRecord().subscribe(first)
            await until { host.calls.count == 1 }
            let error = await host.layout.createRecord().awaitSingleResult().failure
            let reason = try #require(error?.reason)
            #expect(reason.contains("the limit was sessions.waitingDeadline, 0.03 seconds"), "\(reason)")
            first.cancel()
        }
    }

    /// The host accepts the connection and the request, but does not answer. More sessions would not help.
    @Test(arguments: ["sessions.waitingDeadline", "timeouts.total"])
    func aHostThatNeverAnswersTheLoginIsToldAsThat(limit: String) async throws {
        let server = try await FaultServer.start { _ in .silence }
        defer { server.stop() }
        // On a busy machine, a short limit may strike before the connection is open, and that of the request, which
        // ends at the same time, before that of the call.
        var time = Self.short
        var error: FMRest.APIError
        repeat {
            time = time * 2
            error = try #require(await Self.namesFailure(port: server.port, limit, time))
            expectNoDifference(error.code, .timeout)
            expectNoDifference(error.isRetryable && !error.outcomeIsUnknown, true)
        } while !error.reason.hasPrefix("The call waited for its login") && !Task.isCancelled
        let reason =
            "The call waited for its login, which the server has not answered; the limit was \(limit), \(time): "
        #expect(error.reason.hasPrefix(reason), "\(error)")
        #expect(error.hint?.contains("accepts connections and says nothing") == true, "\(error)")
        #expect(!"\(error)".contains("maximumSessions"), "\(error)")
    }

    private static func namesFailure(port: Int, _ limit: String, _ time: Duration) async -> FMRest.APIError? {
        var config = DataAPI.Config.patient
        if limit == "timeouts.total" {
            config.timeouts.total = time
        } else {
            config.sessions.waitingDeadline = time
        }
        return await DataAPI.Server(host: "http://127.0.0.1:\(port)", config: config)
            .addDatabase("Harbor", credentials: Credentials(user: "api", password: "secret"))
            .getLayoutNames().awaitSingleResult().failure
    }

    /// There are two sessions and one connection: the second call has a session, but waits for the first call's
    /// connection.
    @Test(arguments: ["total", "connect", "queue"])
    func aWriteThatGetsNoConnectionWasNotSent(limit: String) async throws {
        try await Self.silentHost(client: { $0.maximumConnections = 1 }) { host in
            let first = Call<DataAPI.CreateResponse>()
            let error = await host.database.withSessionPublisher { one in
                host.database.withSessionPublisher { other in
                    one.addLayout("People").createRecord().subscribe(first)
                    return other.addLayout("People")
                        .timeouts { timeouts in
                            switch limit {
                            case "total": timeouts.total = Self.short
                            case "connect": timeouts.connect = Self.short
                            default: timeouts.queue = Self.short
                            }
                        }
                        .createRecord()
                }
                // Free the connection for the logouts.
                .handleEvents(receiveCompletion: { _ in first.cancel() })
                .eraseToAnyPublisher()
            }
            .awaitSingleResult().failure
            expectNoDifference(error?.code, .timeout)
            expectNoDifference(error?.outcomeIsUnknown, false)
            expectNoDifference(error?.isRetryable, true)
            #expect(error?.reason.contains("waited for a connection") == true, "\(error as Any)")
            let name = limit == "total" ? error?.reason : error?.hint
            #expect(name?.contains("timeouts.\(limit)") == true, "\(error as Any)")
        }
    }

    @Test func aLongScriptHasALimitOfItsOwn() async throws {
        try await Self.silentHost { host in
            let error = await host.layout.timeouts { $0.firstByte = Self.short }
                .runScript("Long").awaitSingleResult().failure
            expectNoDifference(error?.outcomeIsUnknown, true)
            #expect(error?.reason.contains("the limit was timeouts.firstByte, 0.03 seconds") == true, "\(error as Any)")
        }
    }

    // MARK: Streams and transfers

    /// A host that begins its answers and never ends them, except those about sessions.
    private static func stallingHost(_ body: (ScriptedHost) async throws -> Void) async throws {
        let host = try await ScriptedHost.start { _ in
            [.send(FaultServer.head(200, length: 1000)), .send(#"{"response":{"data":["#)]
        }
        defer { host.server.stop() }
        try await body(host)
    }

    @Test func aStreamThatStallsEndsWithItsTotal() async throws {
        try await Self.stallingHost { host in
            let layout = host.database.addLayout("L")
            let error = try await Self.strike(while: "the rest of the answer") { limit in
                await layout.timeouts { $0.total = limit }.records(FieldData.self).awaitSingleResult().failure
            }
            #expect(error.isRetryable && !error.outcomeIsUnknown)
        }
    }

    @Test func aStreamThatStallsEndsWhenNothingMoves() async throws {
        try await Self.stallingHost { host in
            let error = await host.database.addLayout("L").timeouts { $0.idle = Self.short }
                .records(FieldData.self).awaitSingleResult().failure
            #expect(
                error?.reason.contains("the rest of the answer; the limit was timeouts.idle, 0.03 seconds") == true,
                "\(error as Any)"
            )
        }
    }

    @Test func aDownloadThatStallsEndsWithItsTotal() async throws {
        try await Self.stallingHost { host in
            let database = host.database
            _ = try await Self.strike(while: "the rest of the answer") { limit in
                await database.timeouts { $0.total = limit }.download(host.url()).toMemory().awaitSingleResult().failure
            }
        }
    }

    @Test func aDownloadThatStallsEndsWhenNothingMoves() async throws {
        try await Self.stallingHost { host in
            let error = await host.database.timeouts { $0.idle = Self.short }
                .download(host.url()).toMemory().awaitSingleResult().failure
            #expect(
                error?.reason.contains("the rest of the answer; the limit was timeouts.idle, 0.03 seconds") == true,
                "\(error as Any)"
            )
        }
    }

    /// The record with the container's reference arrives; the content does not.
    @Test func allStepsOfADownloadShareItsTime() async throws {
        let host = try await ScriptedHost.start { request in
            guard !request.target.hasPrefix("/Streaming_SSL") else { return [] }
            let port = request.headers.first(name: "Host")?.split(separator: ":").last ?? ""
            let record =
                #"{"data":[{"fieldData":{"Photo":"http://127.0.0.1:\#(port)/Streaming_SSL/x"},"recordId":"1","modId":"0","#
                + #""portalData":{}}]}"#
            return .json(record)
        }
        defer { host.server.stop() }
        let layout = host.database.addLayout("L")
        // The wait for an answer may still be that of the first step.
        _ = try await Self.strike(while: "the answer", isThere: { !host.downloads.isEmpty }) { limit in
            await layout.timeouts { $0.total = limit }
                .downloadContainer(fieldName: "Photo", recordId: 1).toMemory().awaitSingleResult().failure
        }
    }

    // MARK: Setting limits

    @Test func limitsThatAreNotTouchedStay() {
        var config = DataAPI.Config()
        config.timeouts.firstByte = .seconds(7)
        let database = DataAPI.Server(host: "fms.example.com", config: config).addDatabase("Contacts")
        let layout = database.timeouts { $0.idle = nil }.addLayout("People").timeouts { $0.total = .seconds(2) }
        var expected = config.timeouts
        expected.idle = nil
        expected.total = .seconds(2)
        expectNoDifference(layout.database.calls.options.timeouts, expected)
        expectNoDifference(database.calls.options.timeouts, config.timeouts)
    }

    @Test func withTheServersLimitsTheHTTPClientNeedsNoOthers() {
        let calls = CallContext(DataAPI.Timeouts())
        expectNoDifference(calls.ofOneCall.next(at: .now()).limits, nil)
    }

    @Test func theServersLimitOfTheWholeCountsFromTheFirstStepOfEachCall() {
        var timeouts = DataAPI.Timeouts()
        timeouts.total = .seconds(10)
        let calls = CallContext(timeouts)
        let call = calls.ofOneCall
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        func total(_ call: CallContext, at instant: NIODeadline) -> Duration? {
            call.next(at: instant).limits?.left.total
        }
        expectNoDifference(total(call, at: start), .seconds(10))
        expectNoDifference(total(call, at: start + .seconds(4)), .seconds(6))
        expectNoDifference(total(call.ofOneCall, at: start + .seconds(9)), .seconds(1))
        let late = call.next(at: start + .seconds(11)).limits
        #expect(throws: FMRest.APIError.self) { try late?.checked() }
        // Another call has the full time.
        expectNoDifference(total(calls.ofOneCall, at: start + .seconds(11)), .seconds(10))
        expectNoDifference(total(call.ofOtherCalls.ofOneCall, at: start + .seconds(11)), .seconds(10))
    }

    @Test func aCallsOwnLimitsReachTheHTTPClientAsTheyAre() {
        let calls = CallContext(DataAPI.Timeouts()).changed {
            $0.timeouts.connect = .seconds(1)
            $0.timeouts.queue = nil
        }
        expectNoDifference(calls.next(at: .now()).limits?.left, calls.options.timeouts)
    }

    @Test func aCallOfTheServerAndALoginHaveTheirLimitsToo() async throws {
        let server = try await FaultServer.start { _ in [] }
        defer { server.stop() }
        let host = DataAPI.Server(host: "http://127.0.0.1:\(server.port)", config: .patient)
            .timeouts { $0.firstByte = Self.short }
        let info = await host.getProductInfo().awaitSingleResult().failure
        #expect(info?.reason.contains("the limit was timeouts.firstByte, 0.03 seconds") == true, "\(info as Any)")
        let login = await host.addDatabase("Harbor")
            .login(credentials: Credentials(user: "api", password: "secret")).awaitSingleResult().failure
        #expect(login?.reason.contains("the limit was timeouts.firstByte, 0.03 seconds") == true, "\(login as Any)")
    }

    @Test func aDatabaseWithOtherLimitsIsTheSameDatabase() async throws {
        try await World.run { world in
            let patient = world.database.timeouts { $0.firstByte = .seconds(900) }
            expectNoDifference(patient.addLayout("Contacts"), world.contacts)
            expectNoDifference(Set([patient.addLayout("Contacts"), world.contacts]).count, 1)
            _ = try await patient.getLayoutNames().firstValue()
            _ = try await patient.getScriptNames().firstValue()
            expectNoDifference(patient.credentials.kind, .token)
            expectNoDifference(world.database.credentials, patient.credentials)
            expectNoDifference(world.database.scriptList, patient.scriptList)
            #expect(!world.database.scriptList.isEmpty && !world.database.layoutList.isEmpty)
            _ = try await world.contacts.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(world.sandbox.counters.logins, 1)
        }
    }

    /// The copy that `timeouts` returns keeps the database alive, and its release does not end the sessions of the
    /// other.
    @Test func theSessionsEndWithTheLastWhoUsesThem() async throws {
        try await World.run { world in
            let server = world.database.server
            let user = world.database.identity.given
            do {
                let view = DataAPI.Server(host: server.host, config: server.config)
                    .addDatabase(world.database.name, credentials: user)
                    .timeouts { $0.total = .seconds(3600) }
                _ = try await view.timeouts { $0.idle = nil }.getScriptNames().firstValue()
                expectNoDifference(world.sandbox.counters.openSessions, 1)
                _ = try await view.getScriptNames().firstValue()
                expectNoDifference(world.sandbox.counters.logins, 1)
            }
            await until { world.sandbox.counters.openSessions == 0 }
        }
    }
}
