import CustomDump
import FMTestSupport
import Foundation
import Logging
import NIOCore
import NIOSSL
import Testing

@testable import FMHTTP

/// An operator is told when a certificate is about to expire.
@Suite(.timeLimit(.minutes(15))) struct CertificateWatchTests {
    private static let day = 24 * 3600
    private static let origin = Origin(scheme: .https, host: "fms.example.com")
    /// 2025-06-15 15:06:40 UTC.
    private static let end = 1_750_000_000

    /// What is told of certificates of this life, when they are seen this long before their end.
    private static func told(life: Int, left: [Int], _ level: Logger.Level = .notice) -> [String] {
        let log = LogLines()
        for left in left {
            CertificateWatch(log.logger(level), now: { end - left })?.saw(validFrom: end - life, until: end, of: origin)
        }
        return log.all
    }

    private static let line =
        "notice certificate of the host is about to expire|origin=https://fms.example.com "
        + "valid_until=2025-06-15 15:06:40 UTC"

    @Test func twoWeeksBeforeTheEnd() {
        expectNoDifference(Self.told(life: 365 * Self.day, left: [14 * Self.day]), [])
        expectNoDifference(Self.told(life: 365 * Self.day, left: [14 * Self.day - 1]), [Self.line])
    }

    @Test func aQuarterBeforeTheEndOfAShortLife() {
        expectNoDifference(Self.told(life: 6 * Self.day, left: [2 * Self.day]), [])
        expectNoDifference(Self.told(life: 6 * Self.day, left: [Self.day]), [Self.line])
    }

    @Test func eachCertificateIsToldOnce() {
        let log = LogLines()
        let watch = CertificateWatch(log.logger(.notice), now: { Self.end - Self.day })
        let other = Origin(scheme: .https, host: "other.example.com")
        for _ in 1...3 {
            watch?.saw(validFrom: 0, until: Self.end, of: Self.origin)
            watch?.saw(validFrom: 0, until: Self.end, of: other)
        }
        watch?.saw(validFrom: 0, until: Self.end + Self.day, of: Self.origin)
        expectNoDifference(log.all.count, 3)
    }

    @Test func whereNoticesAreNotLoggedNothingIsWatched() {
        #expect(CertificateWatch(nil, now: { 0 }) == nil)
        #expect(CertificateWatch(LogLines().logger(.warning), now: { 0 }) == nil)
    }

    @Test(arguments: [(left: 15, lines: 0), (left: 3, lines: 1)])
    func theCertificateOfAConnectionIsSeen(_ each: (left: Int, lines: Int)) async throws {
        let log = LogLines()
        let certificate = try NIOSSLCertificate(bytes: Array(TestCertificates.server.certificate.utf8), format: .pem)
        let end = Int(certificate.notValidAfter)
        let server = try await FaultServer.start(.init(tls: try TestCertificates.serverContext())) { _ in ok("x") }
        var configuration = HTTPClientConfiguration.patient
        configuration.tls = TLSOptions(roots: .only([.bytes(Array(TestCertificates.authority.utf8))]))
        configuration.wallClock = { end - each.left * Self.day }
        let client = HTTPClient(configuration: configuration, logger: log.logger(.notice))
        let origin = Origin(scheme: .https, host: "localhost", port: server.port)
        #expect(await client.get(origin).value != nil)
        await client.shutdown()
        try await server.stopped()
        expectNoDifference(log.messages.count, each.lines)
        expectNoDifference(log.all.allSatisfy { $0.contains("origin=\(origin) valid_until=") }, true)
    }
}
