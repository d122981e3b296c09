import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// A transport of the program's own, in place of the HTTP client.
@Suite(.timeLimit(.minutes(15))) struct TransportTests {
    private static let secret = "s3cret"

    /// A database on a host that exists in memory only.
    private func database(
        _ transport: MemoryTransport,
        client configure: (inout DataAPI.Config) -> Void = { _ in }
    ) -> DataAPI.Database {
        var config = DataAPI.Config()
        config.transport = transport
        configure(&config)
        return DataAPI.Server(host: "fms.example.com", config: config)
            .addDatabase("Harbor", credentials: Credentials(user: "api", password: Self.secret))
    }

    private static func failure(
        _ code: DataAPI.TransportError.Code,
        _ outcome: DataAPI.TransportError.Outcome
    ) -> MemoryTransport.Answer {
        .failure(DataAPI.TransportError(code: code, outcome: outcome))
    }

    @Test func everyRequestGoesThroughIt() async throws {
        let transport = MemoryTransport { request, _ in
            if request.target.hasPrefix("/Streaming_SSL") {
                return .success([.head(status: 200, headers: ["Content-Length": "5"]), .body(Data("hello".utf8))])
            }
            if request.method == "POST", request.target.hasSuffix("/records") {
                return .success(.json(#"{"recordId":"7","modId":"0"}"#))
            }
            if request.target.hasSuffix("/productInfo") {
                return .success(
                    .json(
                        #"{"productInfo":{"name":"FMS","buildDate":"","version":"21","dateFormat":"MM/dd/yyyy","timeFormat":"HH:mm:ss","timeStampFormat":"MM/dd/yyyy HH:mm:ss"}}"#
                    )
                )
            }
            return .success(.records("Ada", "Zoe"))
        }
        let database = database(transport)
        let people = database.addLayout("People")
        _ = try await database.server.getProductInfo().firstValue()
        let records = try await people.getRecords().returnAs(FieldData.self).firstValue()
        expectNoDifference(records.data.map { $0.fieldData["Name"]?.text }, ["Ada", "Zoe"])
        let streamed = try await people.records(FieldData.self).collect().firstValue()
        expectNoDifference(streamed.map(\.recordId), [1, 2])
        let created = try await people.createRecord(["Name": "Zoe"]).firstValue()
        expectNoDifference(created.recordId, 7)
        let photo = DataAPI.ContainerReference.url("https://fms.example.com/Streaming_SSL/MainDB/AB.txt")
        let content = try await database.download(photo).toMemory().firstValue()
        expectNoDifference(String(decoding: content.data, as: UTF8.self), "hello")
        _ = try await database.webhooks(Credentials(user: "hooks", password: "b")).firstValue()
        let end = try await database.server.shutdown().firstValue()
        expectNoDifference(end.sessionsLeft, 0)
        let root = "/fmi/data/vLatest"
        expectNoDifference(
            transport.lines,
            [
                "GET \(root)/productInfo",
                "POST \(root)/databases/Harbor/sessions",
                "GET \(root)/databases/Harbor/layouts/People/records",
                "GET \(root)/databases/Harbor/layouts/People/records",
                "POST \(root)/databases/Harbor/layouts/People/records",
                "GET /Streaming_SSL/MainDB/AB.txt",
                "GET /fmi/odata/v4/Harbor/Webhook.GetAll",
                "DELETE \(root)/databases/Harbor/sessions/T1",
            ]
        )
        expectNoDifference(transport.shutdowns, 1)
    }

    @Test func itGetsTheWholeRequestAndPrintsNothingOfIt() async throws {
        let transport = MemoryTransport { _, _ in .success(.json(#"{"recordId":"7","modId":"0"}"#)) }
        let database = database(transport) { $0.timeouts.firstByte = .seconds(7) }
        let people = database.addLayout("People").timeouts { $0.firstByte = .seconds(8) }
        _ = try await people.createRecord(["Name": .text(Self.secret)]).firstValue()
        let request = transport.requests[0]
        expectNoDifference(request.method, "POST")
        expectNoDifference(request.origin, "https://fms.example.com")
        expectNoDifference(
            request.url,
            "https://fms.example.com/fmi/data/vLatest/databases/Harbor/layouts/People/records"
        )
        expectNoDifference(request.headers["Authorization"], "Bearer T1")
        expectNoDifference(request.headers["Content-Type"], "application/json")
        expectNoDifference(request.isSafeToRepeat, false)
        expectNoDifference(request.timeouts?.firstByte, .seconds(8))
        expectNoDifference(request.bodyLength, 31)
        let bodies = Locked(Data())
        let body = request.body.sink(
            receiveCompletion: { _ in },
            receiveValue: { part in bodies.change { $0 += part } }
        )
        expectNoDifference(String(decoding: bodies.value, as: UTF8.self), #"{"fieldData":{"Name":"s3cret"}}"#)
        body.cancel()

        var printed = "\(request) \(String(reflecting: request)) \(request.headers)"
        dump(request, to: &printed)
        customDump(request, to: &printed)
        for word in [Self.secret, "T1", "Bearer"] { #expect(!printed.contains(word)) }
        _ = try await database.logOut().firstValue()
    }

    @Test func itIsAskedForAsMuchAsIsRead() async throws {
        let transport = MemoryTransport { _, _ in .success(.records("Ada", "Zoe", "Eve")) }
        let database = database(transport)
        _ = try await database.login().firstValue()
        let known = transport.demanded.count
        let records = TrackingSubscriber<DataAPI.Record<FieldData, EmptyPortal>, FMRest.APIError>(
            initialDemand: .max(1)
        )
        database.addLayout("People").records(FieldData.self, isolation: nil).subscribe(records)
        await records.valueCount(atLeast: 1)
        // A head and the first piece of the body hold the first record.
        expectNoDifference(Array(transport.demanded.dropFirst(known)), [1, 1])
        records.request(.unlimited)
        await records.completion()
        expectNoDifference(records.values.count, 3)
        _ = try await database.logOut().firstValue()
    }

    // MARK: Failures

    private static let policy = DataAPI.RetryPolicy(firstPause: .zero, jitter: 0)

    @Test func aWriteThatWasNotSentIsSentAgainIfThePolicySaysSo() async throws {
        let transport = MemoryTransport { _, number in
            number == 1
                ? Self.failure(.connectionRefused, .notSent) : .success(.json(#"{"recordId":"7","modId":"0"}"#))
        }
        let people = database(transport).addLayout("People")
        let error = await people.createRecord().awaitSingleResult().failure
        expectNoDifference(error?.code, .network)
        expectNoDifference(error?.outcomeIsUnknown, false)
        expectNoDifference(error?.transportError?.code, .connectionRefused)
        expectNoDifference(transport.requests.count, 1)

        let second = MemoryTransport { _, number in
            number == 1
                ? Self.failure(.connectionRefused, .notSent) : .success(.json(#"{"recordId":"7","modId":"0"}"#))
        }
        let patient = database(second).addLayout("People").retrying(Self.policy)
        let created = try await patient.createRecord().firstValue()
        expectNoDifference(created.recordId, 7)
        expectNoDifference(second.requests.count, 2)
    }

    @Test(arguments: [DataAPI.TransportError.Outcome.unknown, .answered])
    func aWriteThatMayHaveBeenSentIsNot(outcome: DataAPI.TransportError.Outcome) async throws {
        let transport = MemoryTransport { _, _ in Self.failure(.connectionClosed, outcome) }
        let people = database(transport).addLayout("People").retrying(Self.policy)
        let error = await people.createRecord().awaitSingleResult().failure
        expectNoDifference(error?.outcomeIsUnknown, true)
        expectNoDifference(transport.requests.count, 1)
    }

    @Test func aReadIsSentAgainInEitherCase() async throws {
        let transport = MemoryTransport { _, number in
            switch number {
            case 1: Self.failure(.connectionRefused, .notSent)
            case 2: Self.failure(.connectionClosed, .unknown)
            default: .success(.records("Ada"))
            }
        }
        let people = database(transport).addLayout("People").retrying(Self.policy)
        let records = try await people.getRecords().returnAs(FieldData.self).firstValue()
        expectNoDifference(records.data.count, 1)
        expectNoDifference(transport.requests.count, 3)
    }

    /// As without middleware: a port for HTTPS has not read a request in plain HTTP.
    @Test func aWriteToAPortForHTTPSHasAKnownOutcome() async throws {
        let transport = MemoryTransport { _, _ in Self.failure(.tlsServer, .answered) }
        let error = await database(transport).addLayout("People").createRecord().awaitSingleResult().failure
        expectNoDifference(error?.code, .tls)
        expectNoDifference(error?.outcomeIsUnknown, false)
    }

    @Test func aRefusedSessionIsRenewedThroughIt() async throws {
        let transport = MemoryTransport { _, number in
            number == 1 ? .success(.error(952, status: 401)) : .success(.records("Ada"))
        }
        let database = database(transport)
        _ = try await database.addLayout("People").getRecords().returnAs(FieldData.self).firstValue()
        expectNoDifference(
            // The token that was refused may still be logged out.
            transport.lines.filter { !$0.hasPrefix("DELETE") }.map { $0.split(separator: "/").last ?? "" },
            ["sessions", "records", "sessions", "records"]
        )
    }

    @Test func plainHTTPGoesToThisMachineOnlyWhateverCarriesIt() async throws {
        let transport = MemoryTransport { _, _ in .success(.json("{}")) }
        var config = DataAPI.Config()
        config.transport = transport
        let server = DataAPI.Server(host: "http://fms.example.com", config: config)
        let error = await server.getProductInfo().awaitSingleResult().failure
        expectNoDifference(error?.code, .invalidRequest)
        expectNoDifference(transport.lines, [])
    }

    // MARK: When a request is sent

    @Test func aRequestIsReportedAsSentOnce() async throws {
        let transport = MemoryTransport { _, _ in
            .success(
                .json(
                    #"{"productInfo":{"name":"FMS","buildDate":"","version":"21","dateFormat":"MM/dd/yyyy","timeFormat":"HH:mm:ss","timeStampFormat":"MM/dd/yyyy HH:mm:ss"}}"#
                )
            )
        }
        let own = database(transport).server
        try await World.run(client: { $0.middleware = [.headers([:])] }) { world in
            for server in [own, world.database.server] {
                let sent = Locked(0)
                var context = RequestContext()
                context.willBeSent = { sent.change { $0 += 1 } }
                let call: AnyPublisher<DataAPI.Server.ProductInfoContainer, FMRest.APIError> =
                    server.exchange(.productInfo().within(context))
                _ = try await call.firstValue()
                expectNoDifference(sent.value, 1)
            }
        }
    }
}
