import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// `server.connectionReport()`: the way that the calls of a server take.
@Suite(.timeLimit(.minutes(15))) struct ConnectionReportTests {
    @Test func aHostWithAPrivateAuthority() async throws {
        try await World.run(over: .tls, client: { $0.tls.roots = .system }) { world in
            let server = world.database.server
            let report = try await server.connectionReport()
            expectNoDifference(report.failure, nil)
            let certificate = try #require(report.tls?.certificates.first)
            #expect(certificate.names.contains("localhost"))
            let now = Int(Date.now.timeIntervalSince1970)
            #expect(certificate.notBefore < now && certificate.notAfter > now)
            // What is shown is not what calls accept.
            let refusal = await server.getProductInfo().awaitSingleResult().failure
            expectNoDifference(refusal?.code, .tls)
        }
    }

    @Test func aHostThatIsNone() async {
        let error = await #expect(throws: FMRest.APIError.self) {
            try await DataAPI.Server(host: "not a host").connectionReport()
        }
        expectNoDifference(error?.code, .invalidRequest)
    }
}
