import CustomDump
import FMTestSupport
import NIOCore
import NIOSSL
import Testing

@testable import FMHTTP

/// What a report says of each way that leads to a host, or ends before it.
@Suite(.timeLimit(.minutes(15))) struct ConnectionReportTests {
    private func report(
        on origin: Origin,
        limit: Duration? = nil,
        _ configure: (inout HTTPClientConfiguration) -> Void = { _ in }
    ) async -> ConnectionReport {
        var configuration = HTTPClientConfiguration()
        configure(&configuration)
        let client = HTTPClient(configuration: configuration)
        let report = await client.connectionReport(on: origin, limit: limit)
        await client.shutdown()
        return report
    }

    /// A report on a server that answers no request, and a check that none came.
    private func withServer(
        _ options: FaultServer.Options = .init(),
        answer: @escaping FaultServer.Answer = { _ in .silence },
        _ body: (FaultServer) async throws -> Void
    ) async throws {
        let server = try await FaultServer.start(options, answer)
        try await body(server)
        await server.allConnectionsClosed()
        expectNoDifference(server.requests.filter { $0.method != .CONNECT }.count, 0)
        try await server.stopped()
    }

    // MARK: Addresses

    @Test func anAddressThatTakesConnections() async throws {
        try await withServer { server in
            let report = await report(on: Origin(scheme: .http, host: "127.0.0.1", port: server.port))
            expectNoDifference(report.addresses.map(\.text), ["127.0.0.1"])
            let expected = ConnectionReport(host: "127.0.0.1", port: server.port, addresses: report.addresses)
            expectNoDifference(report, expected)
            expectNoDifference(report.addresses.compactMap(\.failure), [])
        }
    }

    @Test func aNameWithoutAnAddress() async {
        let report = await report(on: Origin(scheme: .https, host: "fms.invalid")) {
            $0.lookUp = { _, _ in throw NoSuchName() }
        }
        expectNoDifference(report.addresses, [])
        expectNoDifference(report.failure?.code, .unknownHost)
        expectNoDifference(report.failure?.underlying, "no such name")
        #expect(report.lookUpTime != nil)
        let empty = await self.report(on: Origin(scheme: .https, host: "fms.invalid")) { $0.lookUp = { _, _ in [] } }
        expectNoDifference(empty.failure?.code, .unknownHost)
    }

    private struct NoSuchName: Error, CustomStringConvertible { let description = "no such name" }

    @Test func aLookUpThatHangs() async {
        let gate = Gate()
        let origin = Origin(scheme: .https, host: "fms.invalid")
        let report = await report(on: origin, limit: .milliseconds(1)) {
            $0.lookUp = { _, _ in
                gate.blockThread()
                return []
            }
        }
        gate.open()
        expectNoDifference(report.failure?.code, .unknownHost)
        expectNoDifference(report.failure?.underlying, "the look-up of the name did not end in time")
    }

    /// Each address is tried, also after one has answered.
    @Test func anAddressThatRefusesBesideOneThatDoesNot() async throws {
        try await withServer { server in
            let closed = try ClosedPort(server.port, of: "::1")
            let report = await report(on: Origin(scheme: .http, host: "localhost", port: closed.port))
            expectNoDifference(report.addresses.map(\.text), ["::1", "127.0.0.1"])
            expectNoDifference(report.addresses.map { $0.failure?.code }, [.connectionRefused, nil])
            expectNoDifference(report.addresses.map(\.isIPv6), [true, false])
            expectNoDifference(report.failure, nil)
            expectNoDifference(report.lookUpTime, nil, "this name needs no look-up")
        }
    }

    /// The silent address is given up some time after the other one has answered, without any limit.
    @Test(.thorough) func anAddressThatIsSilentBesideOneThatIsNot() async throws {
        try await withServer { server in
            let silent = try SilentPort(server.port, of: "::1")
            let report = await report(on: Origin(scheme: .http, host: "localhost", port: silent.port))
            expectNoDifference(report.addresses.map { $0.failure?.code }, [.connectTimeout, nil])
            expectNoDifference(report.failure, nil)
        }
    }

    @Test func noAddressTakesConnections() async throws {
        let closed = try ClosedPort()
        let refused = await report(on: Origin(scheme: .https, host: "127.0.0.1", port: closed.port))
        expectNoDifference(refused.addresses.map { $0.failure?.code }, [.connectionRefused])
        expectNoDifference(refused.failure?.code, .connectionRefused)
        expectNoDifference(refused.failure?.underlying, "Connection refused")
        let silent = try SilentPort()
        let origin = Origin(scheme: .https, host: "127.0.0.1", port: silent.port)
        let dropped = await report(on: origin, limit: .milliseconds(1))
        expectNoDifference(dropped.addresses.map { $0.failure?.code }, [.connectTimeout])
        expectNoDifference(dropped.failure?.code, .connectTimeout)
    }

    // MARK: TLS

    private func tls(
        _ pair: TestCertificates.Pair = TestCertificates.server,
        maximumVersion: TLSVersion? = nil
    ) throws -> FaultServer.Options {
        .init(tls: try TestCertificates.serverContext(pair, maximumVersion: maximumVersion))
    }

    /// No authority of the system stands behind the certificate; the report shows it all the same.
    @Test func certificatesAreShownWhoeverHasSignedThem() async throws {
        try await withServer(try tls()) { server in
            let report = await report(on: Origin(scheme: .https, host: "localhost", port: server.port))
            expectNoDifference(report.failure, nil)
            let shown = try #require(report.tls)
            expectNoDifference(shown.version, "TLS 1.3")
            expectNoDifference(shown.applicationProtocol, nil)
            let fingerprint = """
                D2:27:E9:1D:0D:A8:C0:36:95:97:B6:91:A7:83:2D:F2:0C:25:91:B9:4A:87:48:19:B5:31:0F:A0:A7:C9:5E:E1
                """
            let expected = ConnectionReport.Certificate(
                names: ["localhost", "127.0.0.1"],
                subject: "localhost",
                issuer: "FMData Test CA",
                notBefore: 1_577_836_800,
                notAfter: 4_733_510_400,
                fingerprint: fingerprint,
                pem: TestCertificates.server.certificate + "\n"
            )
            expectNoDifference(shown.certificates, [expected])
            #expect(!expected.isSelfSigned)
        }
    }

    @Test(arguments: [TestCertificates.expired, TestCertificates.wrongName, TestCertificates.selfSigned])
    func certificatesThatNoRequestWouldAccept(_ pair: TestCertificates.Pair) async throws {
        try await withServer(try tls(pair)) { server in
            let report = await report(on: Origin(scheme: .https, host: "localhost", port: server.port))
            expectNoDifference(report.failure, nil)
            expectNoDifference(report.tls?.certificates.map(\.pem), [pair.certificate + "\n"])
        }
    }

    @Test func aVersionThatRequestsDoNotUse() async throws {
        try await withServer(try tls(maximumVersion: .tlsv11)) { server in
            let report = await report(on: Origin(scheme: .https, host: "localhost", port: server.port))
            expectNoDifference(report.tls?.version, "TLS 1.1")
            expectNoDifference(report.failure, nil)
        }
    }

    @Test func aPortForPlainHTTP() async throws {
        let plain = FaultServer.Options(onAccept: { _ in [.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close] })
        let server = try await FaultServer.start(plain) { _ in .silence }
        let report = await report(on: Origin(scheme: .https, host: "127.0.0.1", port: server.port))
        expectNoDifference(report.tls, nil)
        expectNoDifference(report.failure?.code, .plainHTTPServer)
        await server.allConnectionsClosed()
        try await server.stopped()
    }

    @Test func aHandshakeThatIsNotAnswered() async throws {
        try await withServer(.init(reads: false)) { server in
            let origin = Origin(scheme: .https, host: "127.0.0.1", port: server.port)
            let report = await report(on: origin, limit: .milliseconds(100))
            expectNoDifference(report.failure?.code, .connectTimeout)
            expectNoDifference(report.tls, nil)
        }
    }

    @Test func anAuthorityThatIsNotThere() async throws {
        try await withServer(try tls()) { server in
            let report = await report(on: Origin(scheme: .https, host: "127.0.0.1", port: server.port)) {
                $0.tls.roots = .only(file: "/nowhere/ca.pem")
            }
            expectNoDifference(report.failure?.code, .invalidTLSOptions)
            #expect(report.failure?.underlying?.contains("/nowhere/ca.pem") == true)
        }
    }

    // MARK: Proxies

    @Test func throughAProxyTheCertificateIsThatOfTheHost() async throws {
        try await withServer(try tls(TestCertificates.wrongName)) { server in
            let proxy = try await TunnelProxy.start(to: server.port)
            let report = await report(on: Origin(scheme: .https, host: "wrong.example")) {
                $0.proxy = .proxy(HTTPProxy(host: "127.0.0.1", port: proxy.port))
            }
            expectNoDifference(report.failure, nil)
            #expect(report.isProxy)
            expectNoDifference([report.host, "\(report.port)"], ["127.0.0.1", "\(proxy.port)"])
            expectNoDifference(report.tls?.certificates.map(\.names), [["wrong.example"]])
            try await proxy.stopped()
        }
    }

    @Test(
        arguments: [(200, nil), (403, .proxyFailure), (407, .proxyAuthenticationRequired)]
            as [(Int, HTTPClientError.Code?)]
    )
    func whatAProxyAnswers(_ status: Int, _ code: HTTPClientError.Code?) async throws {
        let answer = [FaultServer.Step.send("HTTP/1.1 \(status) So\r\n\r\n")]
        try await withServer(answer: { _ in answer }) { server in
            let report = await report(on: Origin(scheme: .http, host: "fms.invalid")) {
                $0.proxy = .proxy(HTTPProxy(host: "127.0.0.1", port: server.port))
            }
            expectNoDifference(report.failure?.code, code)
            expectNoDifference(report.tls, nil)
        }
    }

    // MARK: Cancelling

    @Test func aReportThatNobodyWantsClosesItsConnections() async throws {
        try await withServer(.init(reads: false)) { server in
            let client = HTTPClient()
            let origin = Origin(scheme: .https, host: "127.0.0.1", port: server.port)
            let task = Task { await client.connectionReport(on: origin, limit: nil) }
            await server.connectionCount(atLeast: 1)
            task.cancel()
            let report = await task.value
            expectNoDifference(report.tls, nil)
            #expect(report.failure != nil)
            await client.shutdown()
        }
    }
}
