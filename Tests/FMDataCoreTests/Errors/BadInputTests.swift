import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Mistakes of servers, networks and users: each gives a typed error that says what is wrong and where.
@Suite(.timeLimit(.minutes(15))) struct BadInputTests {
    struct Country: Decodable, Sendable {
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    // MARK: The network

    @Test func unknownHost() async {
        let error = await failure(from: "no-such-host.invalid")
        expectNoDifference(error?.code, .network)
        #expect(error?.description.contains("no-such-host.invalid") == true)
        expectNoDifference(error?.outcomeIsUnknown, false)
    }

    @Test func refusedConnection() async throws {
        let closed = try ClosedPort()
        let error = await failure(from: "http://127.0.0.1:\(closed.port)")
        expectNoDifference(error?.code, .network)
        expectNoDifference(error?.isRetryable, true)
    }

    @Test func aHostThatIsNone() async {
        let error = await failure(from: "not a host")
        expectNoDifference(error?.code, .invalidRequest)
        #expect(error?.description.contains("not a host") == true)
    }

    @Test func plainHTTPToAnotherMachineIsRefused() async {
        let error = await failure(from: "http://fms.example.com")
        expectNoDifference(error?.code, .invalidRequest)
        #expect(error?.hint?.contains("plainHTTP") == true)
    }

    @Test func aCertificateNobodyVouchesFor() async throws {
        try await World.run(over: .tls, client: { $0.tls.roots = .system }) { world in
            let result = await world.database.server.getProductInfo().awaitSingleResult()
            expectNoDifference(result.failure?.code, .tls)
        }
    }

    @Test func aCertificateForAnotherName() async throws {
        try await World.run(over: .tls) { world in
            var config = DataAPI.Config.patient
            config.tls.roots = .only(file: Sandbox.certificateAuthorityFile)
            // The certificate names localhost, 127.0.0.1 and ::1; this is another name of the same machine.
            let server = DataAPI.Server(host: "https://127.0.0.2:\(world.sandbox.port)", config: config)
            let error = await server.getProductInfo().awaitSingleResult().failure
            #expect([.tls, .network].contains(error?.code), "127.0.0.2 may not even be served")
        }
    }

    @Test func skippingVerificationIsSaidOutLoud() async throws {
        try await World.run(
            over: .tls,
            client: {
                $0.tls.roots = .system
                $0.tls.dangerouslySkipsVerification = true
            }
        ) { world in
            let product = try await world.database.server.getProductInfo().firstValue()
            expectNoDifference(product.dateFormat, "MM/dd/yyyy")
        }
    }

    // MARK: FileMaker's refusals

    @Test func wrongPassword() async throws {
        try await World.run(credentials: Credentials(user: "admin", password: "wrong")) { world in
            let error = await world.countries.getRecords().returnAs(Country.self).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode?.rawValue, 212)
            expectNoDifference(error?.httpStatus, 401)
            expectNoDifference(error?.isRetryable, false)
            expectNoDifference(world.database.credentials, .invalid)
            // The client does not send the same password again, since servers lock accounts.
            _ = await world.countries.getRecords().returnAs(Country.self).awaitSingleResult()
            expectNoDifference(world.sandbox.counters.failedLogins, 1)
        }
    }

    @Test func noCredentials() async throws {
        try await World.run(credentials: nil) { world in
            let error = await world.countries.getRecords().returnAs(Country.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .unauthorized)
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
        }
    }

    @Test func anAccountNameWithAColon() async throws {
        try await World.run(credentials: Credentials(user: "a:b", password: "c")) { world in
            let error = await world.countries.getRecords().returnAs(Country.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
        }
    }

    @Test func missingLayoutRecordAndScript() async throws {
        try await World.run { world in
            let layout = await world.database.addLayout("Nowhere").getRecords().returnAs(Country.self)
                .awaitSingleResult().failure
            expectNoDifference(layout?.fileMakerCode, .layoutMissing)
            #expect(layout?.request?.path.contains("Nowhere") == true)
            let record = await world.countries.record(id: 999_999).returnAs(Country.self)
                .awaitSingleResult().failure
            expectNoDifference(record?.fileMakerCode, .recordMissing)
            let script = await world.countries.runScript("Nothing").awaitSingleResult().failure
            expectNoDifference(script?.fileMakerCode?.rawValue, 104)
        }
    }

    @Test func anUnknownDatabase() async throws {
        try await World.run { world in
            let database = world.database.server.addDatabase(
                "Nowhere",
                credentials: Credentials(user: "admin", password: "secret")
            )
            let error = await database.getLayoutNames().awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode?.rawValue, 802)
        }
    }

    // MARK: Answers that do not come from a Data API

    @Test(arguments: [Sandbox.Fault.html(status: 502), .html(status: 200), .empty(status: 200), .empty(status: 404)])
    func whatIsNoAnswerOfADataAPI(fault: Sandbox.Fault) async throws {
        try await World.run { world in
            world.sandbox.inject(fault, on: .getRecords)
            let error = await world.countries.getRecords().returnAs(Country.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .notDataAPI)
            #expect(error?.hint != nil)
            #expect(error?.request?.path.contains("Countries") == true)
        }
    }

    @Test func brokenJSON() async throws {
        try await World.run { world in
            world.sandbox.inject(.brokenJSON, on: .getRecords)
            let error = await world.countries.getRecords().returnAs(Country.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .decoding)
        }
    }

    @Test func aBodyThatIsCutShort() async throws {
        try await World.run { world in
            world.sandbox.inject(.cut(afterBodyBytes: 100), on: .getRecords)
            let error = await world.countries.getRecords().returnAs(Country.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .network)
            expectNoDifference(error?.outcomeIsUnknown, false)
        }
    }

    @Test func aWriteWhoseAnswerIsLostMayHaveHappenedAndIsNotRepeated() async throws {
        try await World.run { world in
            world.sandbox.inject(.resetAfterExecution, on: .createRecord)
            let error = await world.contacts.createRecord().awaitSingleResult().failure
            expectNoDifference(error?.outcomeIsUnknown, true)
            expectNoDifference(error?.isRetryable, false)
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
        }
    }

    @Test(arguments: [Sandbox.Fault.html(status: 502), .empty(status: 503), .brokenJSON])
    func aWriteWhoseAnswerCannotBeReadMayHaveHappened(fault: Sandbox.Fault) async throws {
        try await World.run { world in
            world.sandbox.inject(fault, on: .createRecord)
            let error = await world.contacts.createRecord().awaitSingleResult().failure
            expectNoDifference(error?.outcomeIsUnknown, true)
            expectNoDifference(error?.isRetryable, false)
            world.sandbox.inject(fault, on: .getRecords)
            let read = await world.contacts.getRecords().returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(read?.outcomeIsUnknown, false)
        }
    }

    @Test func aValueOfAnotherTypeSaysWhichRecordAndField() async throws {
        struct Odd: Decodable, Sendable {
            var name: Int
            enum CodingKeys: String, CodingKey { case name = "Name" }
        }
        try await World.run { world in
            let error = await world.countries.getRecords().returnAs(Odd.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .decoding)
            #expect(error?.description.contains("Name") == true)
            let failure = try #require(error?.underlying as? DecodingFailure)
            expectNoDifference(failure.recordNumber, 1)
            expectNoDifference(failure.field, "Name")
            #expect(failure.rawValue?.contains("Andorra") == true)
            #expect(error?.description.contains("Andorra") == false, "values are not printed")
        }
    }

    // MARK: Other errors

    private func failure(from host: String) async -> FMRest.APIError? {
        await DataAPI.Server(host: host).getProductInfo().awaitSingleResult().failure
    }

    @Test(.tags(.earlierClients))
    func whateverIsThrownOnTheWayBecomesTheOneErrorType() async throws {
        struct Stranger: Error {}
        struct Angry: Codable, Sendable {
            init() {}
            init(from decoder: any Decoder) throws { throw Stranger() }
            func encode(to encoder: any Encoder) throws { throw Stranger() }
        }
        try await World.run { world in
            let read = await world.contacts.getRecords().returnAs(Angry.self).awaitSingleResult().failure
            expectNoDifference(read?.code, .decoding)
            let write = await world.contacts.createRecord(record: EditRecord(createRecord: Angry()))
                .awaitSingleResult().failure
            expectNoDifference(write?.code, .encoding)
        }
    }

    @Test(.tags(.earlierClients))
    func networkHTTPAndFileMakerFailuresAreToldApart() async throws {
        try await World.run { world in
            var codes: [FMRest.APIError.Code?] = []
            for fault in [Sandbox.Fault.reset, .html(status: 502), .error(FileMakerError(105)), .brokenJSON] {
                world.sandbox.inject(fault, on: .scripts, count: 2)
                codes.append(await world.database.getScriptNames().awaitSingleResult().failure?.code)
                world.sandbox.clearFaults()
            }
            expectNoDifference(codes, [.network, .notDataAPI, .fileMaker, .decoding])
        }
    }

    @Test(
        .tags(.earlierClients),
        arguments: [
            Sandbox.Fault.expireToken, .cut(afterBodyBytes: 3), .reset, .resetAfterExecution, .html(status: 200),
            .brokenJSON, .empty(status: 200), .error(FileMakerError(9)), .fullHost, .restart,
        ]
    )
    func everyWayEndsInExactlyOneCompletion(fault: Sandbox.Fault) async throws {
        try await World.run { world in
            world.sandbox.inject(fault, on: .getRecords)
            let subscriber = TrackingSubscriber<DataAPI.RecordResponse<FieldData, EmptyPortal>, FMRest.APIError>()
            world.countries.getRecords(recordQuery: RecordQuery(script: ScriptQuery(script: "Echo")))
                .subscribe(subscriber)
            _ = await subscriber.completion()
            // Another completion would come before the next request has been answered.
            _ = await world.database.getScriptNames().awaitSingleResult()
            let completions = subscriber.history.filter { if case .completion = $0 { true } else { false } }
            expectNoDifference(completions.count, 1)
            #expect(subscriber.values.count <= 1)
        }
    }

    @Test(
        .tags(.earlierClients),
        arguments: [
            #"{"response":{},"messages":[]}"#, #"{"response":{}}"#, "{}", "[]", "null",
        ]
    )
    func anAnswerWithoutMessagesIsATypedError(body: String) async throws {
        try await ScriptedHost.run(answer: { _ in .json(200, body) }) { host in
            let error = await host.layout.runScript("S").awaitSingleResult().failure
            #expect([.decoding, .notDataAPI].contains(error?.code))
        }
    }

    @Test(
        .tags(.earlierClients),
        arguments: [" fms.example.com", "", "a b", "http://", "h:99999", "h/path"]
    )
    func aHostThatIsNoneIsATypedError(host: String) async {
        let error = await DataAPI.Server(host: host).getProductInfo().awaitSingleResult().failure
        expectNoDifference(error?.code, .invalidRequest)
    }

    @Test(.tags(.earlierClients), arguments: [200, 401, 404, 502])
    func aPageInsteadOfJSONIsATypedErrorWithItsTitle(status: Int) async throws {
        try await ScriptedHost.run(answer: { _ in .html(status) }) { host in
            let error = await host.layout.getRecords().returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .notDataAPI)
            expectNoDifference(error?.httpStatus, status)
            #expect(error?.reason.contains("\(status)") == true)
            #expect(error?.hint != nil)
        }
    }
}
