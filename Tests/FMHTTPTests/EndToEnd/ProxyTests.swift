import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

/// The origin's name does not exist, so an answer proves that it came through the proxy.
@Suite(.timeLimit(.minutes(15)))
struct ProxyTests {
    private let origin = Origin(scheme: .http, host: "fms.invalid", port: 8888)

    /// A client behind a proxy that answers the "forwarded" requests itself.
    private func withProxy(
        credentials: HTTPProxy.Credentials? = nil,
        connectAnswer: [FaultServer.Step],
        _ body: (HTTPClient, FaultServer) async throws -> Void
    ) async throws {
        let server = try await FaultServer.start { $0.method == .CONNECT ? connectAnswer : ok("tunnelled") }
        let proxy = HTTPProxy(host: "127.0.0.1", port: server.port, credentials: credentials)
        let configuration = HTTPClientConfiguration {
            $0.timeouts = .patient
            $0.plainHTTP = .anywhereUnencrypted
            $0.proxy = .proxy(proxy)
        }
        let client = HTTPClient(configuration: configuration)
        try await body(client, server)
        await client.shutdown(grace: .zero)
        await server.allConnectionsClosed()
        try await server.stopped()
    }

    @Test func opensATunnel() async throws {
        let credentials = HTTPProxy.Credentials(user: "Aladdin", password: "open sesame")
        let answer = "HTTP/1.1 200 Connection Established\r\n\r\n"
        try await withProxy(credentials: credentials, connectAnswer: [.send(answer)]) { client, server in
            for _ in 0..<2 { #expect(await client.get(origin, "/x").value?.text == "tunnelled") }
            #expect(server.acceptedCount == 1)
            let connect = server.requests[0]
            #expect(connect.target == "fms.invalid:8888")
            #expect(connect.headers["host"] == ["fms.invalid:8888"])
            #expect(connect.headers["proxy-authorization"] == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
            let request = server.requests[1]
            #expect(request.target == "/x")
            #expect(request.headers["proxy-authorization"] == [], "that is the proxy's business alone")
        }
    }

    /// The usual case: the proxy sees a name and a port, and the server's certificate is checked.
    @Test func encryptsThroughTheTunnel() async throws {
        // A name that does not belong to this machine, for which there is a certificate.
        let name = "wrong.example"
        let context = try TestCertificates.serverContext(TestCertificates.wrongName)
        let server = try await FaultServer.start(.init(tls: context)) { _ in ok("x") }
        let proxy = try await TunnelProxy.start(to: server.port)
        let configuration = HTTPClientConfiguration {
            $0.timeouts = .patient
            $0.tls = TLSOptions(roots: .only([.bytes(Array(TestCertificates.authority.utf8))]))
            $0.proxy = .proxy(
                HTTPProxy(host: "127.0.0.1", port: proxy.port, credentials: .init(user: "a", password: "b"))
            )
        }
        let client = HTTPClient(configuration: configuration)
        let known = Origin(scheme: .https, host: name, port: 8443)
        for _ in 0..<2 { #expect(await client.get(known).value?.text == "x") }
        #expect(server.acceptedCount == 1)
        #expect(
            proxy.requests == [
                "CONNECT \(name):8443 HTTP/1.1\r\nHost: \(name):8443\r\n"
                    + "Proxy-Authorization: Basic YTpi\r\n\r\n"
            ]
        )
        // A name that is not in the certificate, through the same proxy.
        let error = await client.get(Origin(scheme: .https, host: "other.invalid")).failure
        #expect(error?.code == .certificateNameMismatch)
        await client.shutdown()
        #expect(client.counts == PoolCounts())
        await server.allConnectionsClosed()
        try await server.stopped()
        try await proxy.stopped()
    }

    @Test func aProxyThatWantsCredentials() async throws {
        let answer = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
        try await withProxy(connectAnswer: [.send(answer)]) { client, _ in
            let error = await client.get(origin).failure
            #expect(error?.code == .proxyAuthenticationRequired)
            #expect(error?.outcome == .notSent)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK",
    ])
    func aProxyThatDoesNotOpenATunnel(answer: String) async throws {
        try await withProxy(connectAnswer: [.send(answer)]) { client, server in
            let error = await client.get(origin).failure
            #expect(error?.code == .proxyFailure)
            #expect(error?.outcome == .notSent)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aProxyThatGoesAway() async throws {
        try await withProxy(connectAnswer: [.close]) { client, _ in
            #expect(await client.get(origin).failure?.code == .proxyFailure)
        }
    }

    @Test func aProxyThatSaysNothing() async throws {
        let server = try await FaultServer.start { _ in [] }
        let configuration = HTTPClientConfiguration {
            $0.timeouts = HTTPTimeouts(connect: .milliseconds(20))
            $0.plainHTTP = .anywhereUnencrypted
            $0.proxy = .proxy(HTTPProxy(host: "127.0.0.1", port: server.port))
        }
        let client = HTTPClient(configuration: configuration)
        let error = await client.get(origin).failure
        #expect(error?.code == .connectTimeout)
        #expect(error?.outcome == .notSent)
        await client.shutdown(grace: .zero)
        await server.allConnectionsClosed()
        try await server.stopped()
    }
}
