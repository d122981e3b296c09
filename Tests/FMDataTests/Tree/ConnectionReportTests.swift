import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMData

/// `server.connectionReport()`: the way that the calls of a server take.
@Suite(.timeLimit(.minutes(15))) struct ConnectionReportTests {
    @Test func aHostWithAPrivateAuthority() async throws {
        try await World.run(over: .tls, client: { $0.tls.roots = .system }) { world in
            let server = world.database.server
            let report = try await server.connectionReport().firstValue()
            expectNoDifference(report.failure, nil)
            let certificate = try #require(report.tls?.certificates.first)
            #expect(certificate.names.contains("localhost"))
            #expect(certificate.validFrom < .now && certificate.validUntil > .now)
            // What is shown is not what calls accept.
            let refusal = await server.getProductInfo().awaitSingleResult().failure
            expectNoDifference(refusal?.code, .tls)
        }
    }

    @Test func aHostThatIsNone() async {
        let error = await DataAPI.Server(host: "not a host").connectionReport().awaitSingleResult().failure
        expectNoDifference(error?.code, .invalidRequest)
    }

    @Test func nothingHappensBeforeDemandAndACancelEndsIt() async throws {
        let host = try await FaultServer.start(.init(reads: false)) { _ in .silence }
        let server = DataAPI.Server(host: "https://127.0.0.1:\(host.port)", config: .patient)
        let subscriber = TrackingSubscriber<DataAPI.ConnectionReport, FMRest.APIError>(initialDemand: .none)
        server.connectionReport().subscribe(subscriber)
        await settled { host.acceptedCount }
        expectNoDifference(host.acceptedCount, 0)
        subscriber.request(.max(1))
        await host.connectionCount(atLeast: 1)
        subscriber.cancel()
        await host.allConnectionsClosed()
        expectNoDifference(subscriber.values, [])
        try await host.stopped()
    }

    @Test func datesOfACertificate() {
        let (from, until) = (Date(timeIntervalSince1970: 86_400), Date(timeIntervalSince1970: 172_800))
        var certificate = DataAPI.ConnectionReport.Certificate(
            names: ["fms.example.com"],
            subject: "fms",
            issuer: "fms",
            validFrom: from,
            validUntil: until
        )
        expectNoDifference([certificate.validFrom, certificate.validUntil], [from, until])
        (certificate.validFrom, certificate.validUntil) = (until, from)
        expectNoDifference([certificate.validFrom, certificate.validUntil], [until, from])
        #expect(certificate.isSelfSigned)
    }
}
