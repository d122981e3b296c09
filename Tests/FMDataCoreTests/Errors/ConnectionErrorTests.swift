import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import Testing

@testable import FMDataCore

/// The full texts of errors when the server cannot be reached: what is wrong, where, and what to do.
@Suite(.timeLimit(.minutes(15))) struct ConnectionErrorTests {
    /// The error of `GET …/productInfo` sent to a server on loopback that uses this certificate.
    private func failure(
        _ certificate: TestCertificates.Pair?,
        scheme: String = "https",
        host: String = "localhost",
        onAccept: @escaping @Sendable (Int) -> [FaultServer.Step] = { _ in [] },
        answer: @escaping FaultServer.Answer = { _ in [] },
        client configure: (inout DataAPI.Config) -> Void = { _ in }
    ) async throws -> (FMRest.APIError, url: String) {
        let options = FaultServer.Options(
            tls: try certificate.map { try TestCertificates.serverContext($0) },
            onAccept: onAccept
        )
        let server = try await FaultServer.start(options, answer)
        defer { server.stop() }
        var config = DataAPI.Config.patient
        configure(&config)
        let url = "\(scheme)://\(host):\(server.port)"
        let result = await DataAPI.Server(host: url, config: config).getProductInfo().awaitSingleResult()
        return (try #require(result.failure), url)
    }

    private func expect(
        _ failure: (error: FMRest.APIError, url: String),
        _ reason: String,
        hint: String,
        code: FMRest.APIError.Code = .tls,
        status: String = ""
    ) {
        let (error, url) = failure
        let reason = reason.replacingOccurrences(of: "ORIGIN", with: url)
        let hint = hint.replacingOccurrences(of: "ORIGIN", with: url)
        expectNoDifference(
            error.description,
            "\(code): \(reason)\(status) (GET \(url)/fmi/data/vLatest/productInfo) Hint: \(hint)"
        )
        expectNoDifference(error.outcomeIsUnknown, false)
    }

    // MARK: Certificates

    @Test func anUnknownAuthority() async throws {
        let hint =
            "If this is your server, trust its authority (or its self-signed certificate): "
            + "config.tls.roots = .systemAnd(file: \"ca.pem\")."
        expect(
            try await failure(TestCertificates.server),
            "no trusted authority stands behind the server's certificate (ORIGIN): "
                + "it is for localhost, 127.0.0.1 and was issued by \"FMData Test CA\"",
            hint: hint
        )
        expect(
            try await failure(TestCertificates.selfSigned),
            "no trusted authority stands behind the server's certificate (ORIGIN): "
                + "it is for localhost, 127.0.0.1, ::1 and self-signed",
            hint: hint
        )
    }

    /// Following the hint helps, for an unknown authority and for a self-signed certificate.
    @Test func theHintHelps() async throws {
        for pair in [TestCertificates.server, TestCertificates.selfSigned] {
            let authority = pair.key == TestCertificates.server.key ? TestCertificates.authority : pair.certificate
            try await withTemporaryFile(Data(authority.utf8)) { path in
                let (error, _) = try await failure(
                    pair,
                    answer: { _ in [.close] },
                    client: {
                        $0.tls.roots = .systemAnd(file: path)
                    }
                )
                expectNoDifference(error.code, .network, "TLS is done; the answer is missing")
            }
        }
    }

    @Test func datesAndNames() async throws {
        try await withTemporaryFile(Data(TestCertificates.authority.utf8)) { path in
            let trusting = { (config: inout DataAPI.Config) in config.tls.roots = .only(file: path) }
            expect(
                try await failure(TestCertificates.expired, client: trusting),
                "the server's certificate has expired (ORIGIN): it was valid until 2020-01-02 00:00:00 UTC",
                hint: "Renew the certificate on the server, with those of its chain."
            )
            expect(
                try await failure(TestCertificates.future, client: trusting),
                "the server's certificate is not valid yet (ORIGIN): it is valid from 2100-01-01 00:00:00 UTC on",
                hint: "Is the clock of this machine right?"
            )
            for host in ["localhost", "127.0.0.1"] {
                expect(
                    try await failure(TestCertificates.wrongName, host: host, client: trusting),
                    "the server's certificate is for another name (ORIGIN): "
                        + "\"\(host)\" was asked for, and it holds wrong.example",
                    hint:
                        "Write the server's host as its certificate does, or give the server a certificate for this name."
                )
            }
        }
    }

    /// The pin in the message is the right one when it is pasted where the hint says.
    @Test func aPinToCompareAndPaste() async throws {
        let pins = ["AAAA", "BBBB"]
        let (error, url) = try await failure(
            TestCertificates.server,
            client: {
                $0.tls.dangerouslySkipsVerification = true
                $0.tls.pinnedPublicKeys = pins
            }
        )
        expect(
            (error, url),
            "the server's key is not pinned (ORIGIN): "
                + "its pin \"\(TestCertificates.serverKeyPin)\" is not among the 2 configured",
            hint: "If the server's key was replaced on purpose, add this pin to config.tls.pinnedPublicKeys. "
                + "If not, somebody may stand in between."
        )
        let pasted = try #require(error.reason.split(separator: "\"").dropFirst().first.map(String.init))
        let (answered, _) = try await failure(
            TestCertificates.server,
            answer: { _ in [.close] },
            client: {
                $0.tls.dangerouslySkipsVerification = true
                $0.tls.pinnedPublicKeys = pins + [pasted]
            }
        )
        expectNoDifference(answered.code, .network)
    }

    @Test func filesThatCannotBeUsed() async throws {
        let hint =
            "See config.tls.roots and config.tls.clientCertificate. A relative path counts from the working directory."
        expect(
            try await failure(TestCertificates.server, client: { $0.tls.roots = .systemAnd(file: "/no/such/ca.pem") }),
            "the TLS options cannot be used (ORIGIN): "
                + "the file \"/no/such/ca.pem\" cannot be read: No such file or directory",
            hint: hint
        )
        try await withTemporaryFile(Data("no certificate".utf8)) { path in
            expect(
                try await failure(TestCertificates.server, client: { $0.tls.roots = .only(file: path) }),
                "the TLS options cannot be used (ORIGIN): the file \"\(path)\" holds no certificate in PEM",
                hint: hint
            )
            expect(
                try await failure(
                    TestCertificates.server,
                    client: {
                        $0.tls.clientCertificate = .init(chainFile: "/no/such/chain.pem", keyFile: path)
                    }
                ),
                "the TLS options cannot be used (ORIGIN): "
                    + "the file \"/no/such/chain.pem\" cannot be read: No such file or directory",
                hint: hint
            )
        }
        try await withTemporaryFile(Data(TestCertificates.client.certificate.utf8)) { path in
            expect(
                try await failure(
                    TestCertificates.server,
                    client: {
                        $0.tls.clientCertificate = .init(chainFile: path, keyFile: path)
                    }
                ),
                "the TLS options cannot be used (ORIGIN): "
                    + "the file \"\(path)\" holds no private key in PEM, but CERTIFICATE",
                hint: hint
            )
        }
    }

    @Test func noTLSInCommon() async throws {
        expect(
            try await failure(nil, onAccept: { _ in [.close] }),
            "the TLS handshake failed (ORIGIN): the connection was closed during the handshake",
            hint: "Does this port speak TLS 1.2 (or config.tls.minimumVersion) or later? A server that asks for a "
                + "certificate needs config.tls.clientCertificate."
        )
    }

    // MARK: The wrong protocol

    @Test func httpsToAPortForPlainHTTP() async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        let origin = try #require(URL(string: sandbox.url)?.port).description
        let error = await DataAPI.Server(host: "127.0.0.1:\(origin)", config: .patient).getProductInfo()
            .awaitSingleResult().failure
        await sandbox.stop()
        expect(
            (try #require(error), "https://127.0.0.1:\(origin)"),
            "the server speaks plain HTTP on this port, not HTTPS (ORIGIN)",
            hint: "Name the port for HTTPS in the server's host (it is 443 if none is named), "
                + "or write \"\(sandbox.url)\"."
        )
        // Hosts other than loopback need plain HTTP to be allowed first.
        let far = HTTPClientError(
            code: .plainHTTPServer,
            outcome: .notSent,
            origin: Origin(scheme: .https, host: "fms.example.com", port: 80)
        )
        expectNoDifference(
            FMRest.APIError(far).hint,
            "Name the port for HTTPS in the server's host (it is 443 if none is named), "
                + "or write \"http://fms.example.com\" and allow it out loud: config.plainHTTP = .anywhereUnencrypted."
        )
    }

    @Test func plainHTTPToAPortForHTTPS() async throws {
        let hint = "Write \"https://\" in the server's host, or leave the scheme out."
        let alert = ByteBuffer(bytes: [21, 3, 1, 0, 2, 2, 70])
        expect(
            try await failure(nil, scheme: "http", answer: { _ in [.send(alert), .close] }),
            "the server speaks HTTPS on this port, not plain HTTP (ORIGIN)",
            hint: hint
        )
        let pages = [
            "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>",
            "<title>400 Bad Request</title> Reason: You're speaking plain HTTP to an SSL-enabled server port.",
            "Client sent an HTTP request to an HTTPS server.",
        ]
        for page in pages {
            let answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)"
            expect(
                try await failure(nil, scheme: "http", answer: { _ in [.send(answer)] }),
                "The server speaks HTTPS on this port, and was asked in plain HTTP.",
                hint: hint,
                code: .notDataAPI,
                status: " [HTTP 400]"
            )
        }
        // BoringSSL only closes the connection, which may have other causes.
        expect(
            try await failure(TestCertificates.server, scheme: "http"),
            "the connection was closed before an answer (ORIGIN)",
            hint: "A port for HTTPS closes so, too: then write \"https://\" in the server's host.",
            code: .network
        )
    }

    /// A port that has answered in plain HTTP is not a port for HTTPS.
    @Test(arguments: [0, 1, 20])
    func aServerThatHasAnsweredIsNotSaidToSpeakHTTPS(answers: Int) async throws {
        let sandbox = try await Sandbox.start(configuration: .patient)
        let server = DataAPI.Server(host: sandbox.url, config: .patient)
        for _ in 0..<answers { _ = try await server.getProductInfo().firstValue() }
        sandbox.inject(.reset, on: .productInfo, count: nil)
        let error = await server.getProductInfo().awaitSingleResult().failure
        await sandbox.stop()
        expectNoDifference(error?.transportError?.code, .connectionClosed)
        expectNoDifference(
            error?.hint,
            answers == 0 ? "A port for HTTPS closes so, too: then write \"https://\" in the server's host." : nil
        )
    }

    // MARK: No connection

    @Test func nobodyListens() async throws {
        let closed = try ClosedPort()
        let address = "127.0.0.1:\(closed.port)"
        let url = "http://\(address)"
        let error = await DataAPI.Server(host: url).getProductInfo().awaitSingleResult().failure
        expect(
            (try #require(error), url),
            "the connection was refused (ORIGIN): \(address): Connection refused",
            hint: "Is the server running, and listening on this port? A firewall may refuse, too.",
            code: .network
        )
    }

    @Test func nobodyAnswersInTime() async throws {
        let silent = try SilentPort()
        let url = "http://127.0.0.1:\(silent.port)"
        var config = DataAPI.Config()
        config.timeouts.connect = .milliseconds(1)
        let error = await DataAPI.Server(host: url, config: config).getProductInfo().awaitSingleResult().failure
        expect(
            (try #require(error), url),
            "the connection was not ready in time (ORIGIN). The call waited for a connection; the limit was timeouts.connect, "
                + "0.001 seconds.",
            hint:
                "Firewalls that drop what they forbid look like this. Config.timeouts.connect says how long all calls wait, "
                + ".timeouts { $0.connect = … } how long one does.",
            code: .timeout
        )
    }

    @Test func plainHTTPElsewhere() async throws {
        let url = "http://fms.example.com"
        let error = await DataAPI.Server(host: url).getProductInfo().awaitSingleResult().failure
        expect(
            (try #require(error), url),
            "plain HTTP is allowed for loopback hosts only (ORIGIN)",
            hint: "Use HTTPS, or allow it out loud: config.plainHTTP = .anywhereUnencrypted.",
            code: .invalidRequest
        )
    }
}
