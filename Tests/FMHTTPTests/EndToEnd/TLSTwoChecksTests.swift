import CustomDump
import FMTestSupport
import NIOCore
import Testing

@testable import FMHTTP

/// NIOSSL and this library's own check both compare a host's name with the certificate: it is accepted if both accept
/// it. The certificates are valid in every other way, and each name resolves to 127.0.0.1.
@Suite(.timeLimit(.minutes(15)))
struct TLSTwoChecksTests {
    typealias Name = TestCertificates.Name

    struct Case: Sendable, CustomTestStringConvertible {
        let host: String
        let names: [Name]
        var commonName = "x"
        let outcome: Outcome

        var testDescription: String { "\(host) and \(names), common name \(commonName)" }
    }

    struct Outcome: Equatable, Sendable {
        let nioSSL: Bool
        let ours: Bool

        static let bothAccept = Outcome(nioSSL: true, ours: true)
        static let bothRefuse = Outcome(nioSSL: false, ours: false)
        static let oursRefuses = Outcome(nioSSL: true, ours: false)
        static let nioSSLRefuses = Outcome(nioSSL: false, ours: true)
    }

    static let cases: [Case] = [
        Case(host: "fms.example.com", names: [.dns("fms.example.com")], outcome: .bothAccept),
        Case(host: "fms.example.com", names: [.dns("FMS.Example.COM")], outcome: .bothAccept),
        Case(host: "fms.example.com", names: [.dns("*.example.com")], outcome: .bothAccept),
        Case(host: "fms.example.com.", names: [.dns("fms.example.com")], outcome: .bothAccept),
        Case(host: "fms.example.com", names: [.dns("fms.example.com.")], outcome: .bothAccept),
        Case(host: "fms.example.com.", names: [.dns("*.example.com.")], outcome: .bothAccept),
        Case(host: "fms.example.com", names: [.dns("a.example"), .dns("fms.example.com")], outcome: .bothAccept),
        Case(host: "xn--strae-oqa.example", names: [.dns("XN--strae-oqa.example")], outcome: .bothAccept),
        Case(host: "fms.xn--strae-oqa.de", names: [.dns("*.xn--strae-oqa.de")], outcome: .bothAccept),
        Case(host: "127.1", names: [.dns("127.1")], outcome: .bothAccept),
        Case(host: "fms", names: [.dns("fms")], outcome: .bothAccept),

        // For this library a wildcard matches a whole label, if at least two labels follow it.
        Case(host: "fms.example.com", names: [.dns("f*.example.com")], outcome: .oursRefuses),
        Case(host: "fms.example.com", names: [.dns("*s.example.com")], outcome: .oursRefuses),
        Case(host: "fms.example.com", names: [.dns("f*s.example.com")], outcome: .oursRefuses),
        Case(host: "example.com", names: [.dns("*.com")], outcome: .oursRefuses),
        Case(host: "fms", names: [.dns("*")], outcome: .oursRefuses),
        // NIOSSL also accepts the common name, and the address of the connection.
        Case(host: "fms.example.com", names: [], commonName: "fms.example.com", outcome: .oursRefuses),
        Case(host: "fms.example.com", names: [], commonName: "*.example.com", outcome: .oursRefuses),
        Case(host: "fms.example.com", names: [.address([127, 0, 0, 1])], outcome: .oursRefuses),
        Case(host: "127.1", names: [.address([127, 0, 0, 1])], outcome: .oursRefuses),
        // An empty label is invalid.
        Case(host: "fms..example.com", names: [.dns("fms..example.com")], outcome: .oursRefuses),
        Case(host: "fms.example.com..", names: [.dns("fms.example.com")], outcome: .oursRefuses),

        // Names whose written form NIOSSL does not accept.
        Case(host: "xn--strae-oqa.example.com", names: [.dns("*.example.com")], outcome: .nioSSLRefuses),
        Case(host: "fms_1.example.com", names: [.dns("fms_1.example.com")], outcome: .nioSSLRefuses),
        Case(host: "fms_1.example.com", names: [.dns("*.example.com")], outcome: .nioSSLRefuses),

        Case(host: "fms.example.com", names: [.dns("fms.example.org")], outcome: .bothRefuse),
        Case(host: "fms.example.com", names: [.dns("example.com")], outcome: .bothRefuse),
        Case(host: "example.com", names: [.dns("*.example.com")], outcome: .bothRefuse),
        Case(host: "a.fms.example.com", names: [.dns("*.example.com")], outcome: .bothRefuse),
        Case(host: "fms.example.com", names: [.dns("fms.*.com")], outcome: .bothRefuse),
        Case(host: "fms.example.com", names: [.dns("*.*.com")], outcome: .bothRefuse),
        Case(host: "xn--strae-oqa.example.com", names: [.dns("xn--*.example.com")], outcome: .bothRefuse),
        Case(host: "fms.example.com", names: [.dns("fms.example.com\0.evil.example")], outcome: .bothRefuse),
        Case(host: "fms.example.com", names: [.dns("fms.example.com\0")], outcome: .bothRefuse),
        Case(host: "fms.example.com", names: [.dns(" fms.example.com")], outcome: .bothRefuse),
        Case(host: "fms.example.com", names: [.dns("")], outcome: .bothRefuse),
        Case(host: "fms.example.com", names: [.address([192, 0, 2, 1])], outcome: .bothRefuse),
        Case(host: "fms.example.com", names: [.email("fms.example.com")], outcome: .bothRefuse),
        Case(
            host: "fms.example.com",
            names: [.email("a@b.example")],
            commonName: "fms.example.com",
            outcome: .bothRefuse
        ),
        Case(
            host: "fms.example.com",
            names: [.dns("other.example")],
            commonName: "fms.example.com",
            outcome: .bothRefuse
        ),
    ]

    /// The result of a request to the host at a server with a certificate for these names, and the number of requests
    /// that arrived.
    private func get(
        _ host: String,
        names: [Name],
        commonName: String = "x",
        _ change: (inout HTTPClientConfiguration) -> Void = { _ in }
    ) async throws -> (Result<HTTPResponse, HTTPClientError>, requests: Int) {
        let pair = TestCertificates.made(commonName: commonName, names: names)
        let server = try await FaultServer.start(.init(tls: try TestCertificates.serverContext(pair))) { _ in ok("x") }
        var configuration = HTTPClientConfiguration {
            $0.timeouts = .patient
            $0.tls = TLSOptions(roots: .only([.bytes(Array(pair.certificate.utf8))]))
        }
        configuration.lookUp = Self.toThisMachine
        change(&configuration)
        let client = HTTPClient(configuration: configuration)
        let result = await client.get(Origin(scheme: .https, host: host, port: server.port))
        await client.shutdown()
        await server.allConnectionsClosed()
        try await server.stopped()
        return (result, server.requests.count)
    }

    private static let toThisMachine: @Sendable (String, Int) throws -> [SocketAddress] = { _, port in
        [try SocketAddress(ipAddress: "127.0.0.1", port: port)]
    }

    @Test(.thorough, arguments: cases)
    func accepted(_ each: Case) async throws {
        let (answer, requests) = try await get(each.host, names: each.names, commonName: each.commonName)
        // With a faulty own check, which accepts any certificate for any host.
        let (careless, carelessRequests) = try await get(
            each.host,
            names: each.names,
            commonName: each.commonName
        ) { $0.nameCheck = { _, _ in true } }

        let ours = HostIdentity(host: each.host).isAmong(each.names.compactMap(\.inCertificate))
        expectNoDifference(Outcome(nioSSL: careless.value != nil, ours: ours), each.outcome)
        #expect((answer.value != nil) == (each.outcome == .bothAccept))
        for error in [answer.failure, careless.failure].compactMap({ $0 }) {
            #expect(error.code == .certificateNameMismatch)
            #expect(error.outcome == .notSent)
        }
        // No rejected server received a request.
        #expect(requests == (answer.value == nil ? 0 : 1))
        #expect(carelessRequests == (careless.value == nil ? 0 : 1))
    }

    @Test func eachIsNeeded() {
        for outcome in [Outcome.bothAccept, .bothRefuse, .oursRefuses, .nioSSLRefuses] {
            #expect(Self.cases.contains { $0.outcome == outcome })
        }
    }

    /// If only NIOSSL rejects the certificate, it looks right, so the error says more.
    @Test(arguments: [
        (
            "xn--strae-oqa.example.com", "*.example.com",
            "\"xn--strae-oqa.example.com\" was asked for, and it holds *.example.com"
                + " (a wildcard does not stand for an international name)"
        ),
        (
            "fms_1.example.com", "fms_1.example.com",
            "a certificate is compared only with names of letters, digits, \"-\" and \".\""
        ),
    ])
    func whatOnlyNIOSSLRefuses(host: String, name: String, detail: String) async throws {
        let error = try await get(host, names: [.dns(name)]).0.failure
        #expect(error?.underlying == detail)
    }

    /// One client may use hosts of both kinds, in any order.
    @Test func namesAndAddressesSideBySide() async throws {
        let options = FaultServer.Options(tls: try TestCertificates.serverContext())
        let server = try await FaultServer.start(options) { _ in ok("x") }
        let roots = TLSOptions.Roots.only([.bytes(Array(TestCertificates.authority.utf8))])
        var configuration = HTTPClientConfiguration {
            $0.timeouts = .patient
            $0.tls = TLSOptions(roots: roots)
        }
        configuration.lookUp = Self.toThisMachine
        let client = HTTPClient(configuration: configuration)
        for host in ["127.0.0.1", "localhost", "127.0.0.1", "fms.example.com"] {
            let result = await client.get(Origin(scheme: .https, host: host, port: server.port))
            #expect(result.failure?.code == (host == "fms.example.com" ? .certificateNameMismatch : nil))
        }
        await client.shutdown()
        await server.allConnectionsClosed()
        try await server.stopped()
    }
}

extension TestCertificates.Name {
    /// The name in the form of this library's own check.
    fileprivate var inCertificate: CertificateName? {
        switch self {
        case .dns(let name): .dns(Array(name.utf8))
        case .address(let bytes): .address(bytes)
        case .email: nil
        }
    }
}
