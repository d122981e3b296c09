import CustomDump
import FMTestSupport
import Foundation
import NIOCore
import NIOSSL
import Testing

@testable import FMHTTP

/// The exact error texts when TLS fails.
@Suite(.timeLimit(.minutes(15)))
struct TLSMessageTests {
    private static let trusted = TLSOptions(roots: .only([.bytes(Array(TestCertificates.authority.utf8))]))

    /// The error of a request to a server.
    private func failure(
        _ options: FaultServer.Options,
        _ tls: TLSOptions,
        scheme: Origin.Scheme = .https,
        host: String = "localhost",
        answer: @escaping FaultServer.Answer = { _ in ok("x") }
    ) async throws -> HTTPClientError {
        let server = try await FaultServer.start(options, answer)
        let client = HTTPClient(
            configuration: HTTPClientConfiguration {
                $0.timeouts = .patient
                $0.tls = tls
            }
        )
        let origin = Origin(scheme: scheme, host: host, port: server.port)
        let error = try #require(await client.get(origin).failure)
        await client.shutdown()
        try await server.stopped()
        return error
    }

    /// The text has `ORIGIN` for the server's origin.
    private func expect(
        _ error: HTTPClientError,
        _ code: HTTPClientError.Code,
        _ text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(error.code == code, sourceLocation: sourceLocation)
        let origin = error.origin?.description ?? "?"
        #expect(
            error.description.replacingOccurrences(of: origin, with: "ORIGIN") == text,
            sourceLocation: sourceLocation
        )
        #expect(!"\(error)".contains("/boringssl/"), sourceLocation: sourceLocation)
    }

    // MARK: Certificates

    @Test func anUnknownAuthority() async throws {
        expect(
            try await failure(.init(tls: TestCertificates.serverContext()), TLSOptions()),
            .certificateUntrusted,
            "no trusted authority stands behind the server's certificate (ORIGIN): "
                + "it is for localhost, 127.0.0.1 and was issued by \"FMData Test CA\""
        )
    }

    @Test func aCertificateSignedByItself() async throws {
        expect(
            try await failure(
                .init(tls: TestCertificates.serverContext(TestCertificates.selfSigned)),
                Self.trusted
            ),
            .certificateUntrusted,
            "no trusted authority stands behind the server's certificate (ORIGIN): "
                + "it is for localhost, 127.0.0.1, ::1 and self-signed"
        )
    }

    @Test func anExpiredCertificate() async throws {
        expect(
            try await failure(.init(tls: TestCertificates.serverContext(TestCertificates.expired)), Self.trusted),
            .certificateExpired,
            "the server's certificate has expired (ORIGIN): it was valid until 2020-01-02 00:00:00 UTC"
        )
    }

    @Test func aCertificateOfTheFuture() async throws {
        expect(
            try await failure(.init(tls: TestCertificates.serverContext(TestCertificates.future)), Self.trusted),
            .certificateNotYetValid,
            "the server's certificate is not valid yet (ORIGIN): it is valid from 2100-01-01 00:00:00 UTC on"
        )
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func aCertificateForAnotherName(host: String) async throws {
        expect(
            try await failure(
                .init(tls: TestCertificates.serverContext(TestCertificates.wrongName)),
                Self.trusted,
                host: host
            ),
            .certificateNameMismatch,
            "the server's certificate is for another name (ORIGIN): "
                + "\"\(host)\" was asked for, and it holds wrong.example"
        )
    }

    @Test func aKeyThatIsNotPinned() async throws {
        var options = Self.trusted
        options.pinnedPublicKeys = ["AAAA", "BBBB"]
        expect(
            try await failure(.init(tls: TestCertificates.serverContext()), options),
            .certificatePinMismatch,
            "the server's key is not pinned (ORIGIN): "
                + "its pin \"\(TestCertificates.serverKeyPin)\" is not among the 2 configured"
        )
    }

    /// The contents of a server's certificate cannot make a message long, or move a terminal's cursor.
    @Test func textsOfACertificateAreCutAndCleaned() {
        let certificate = PeerCertificate(
            names: (1...10).map { "n\($0)" },
            issuer: "i",
            isSelfSigned: false,
            validFrom: 0,
            validUntil: 10
        )
        #expect(certificate.refusal(now: 5).detail.hasPrefix("it is for n1, n2, n3, n4, n5, n6, n7, n8 and 2 more and"))
        #expect(certificate.refusal(now: 11).detail == "it was valid until 1970-01-01 00:00:10 UTC")
        #expect(PeerCertificate.shown("a\u{1B}[2J\r\nb\u{202E}") == "a[2Jb")
        #expect(PeerCertificate.shown(String(repeating: "x", count: 200)).count == 100)
    }

    // MARK: The wrong protocol

    @Test func httpsToAPortForPlainHTTP() async throws {
        let plain = FaultServer.Options(onAccept: { _ in [.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close] })
        let slow = FaultServer.Options(onAccept: { _ in [.sendByteByByte("HTTP/1.1 400 Bad Request\r\n\r\n")] })
        for options in [plain, slow] {
            expect(
                try await failure(options, Self.trusted),
                .plainHTTPServer,
                "the server speaks plain HTTP on this port, not HTTPS (ORIGIN)"
            )
        }
    }

    @Test func httpsToSomethingElse() async throws {
        expect(
            try await failure(.init(onAccept: { _ in [.send("SSH-2.0-OpenSSH_9.6\r\n")] }), Self.trusted),
            .tlsFailure,
            "the TLS handshake failed (ORIGIN): wrong version number"
        )
        expect(
            try await failure(.init(onAccept: { _ in [.close] }), Self.trusted),
            .tlsFailure,
            "the TLS handshake failed (ORIGIN): the connection was closed during the handshake"
        )
    }

    /// Some servers answer what they cannot parse with a fatal alert (RFC 8446 §6); others just close.
    @Test func plainHTTPToAPortForHTTPS() async throws {
        let alert = ByteBuffer(bytes: [21, 3, 1, 0, 2, 2, 70])
        for step in [FaultServer.Step.send(alert), .sendByteByByte(alert)] {
            expect(
                try await failure(.init(), Self.trusted, scheme: .http) { _ in [step, .close] },
                .tlsServer,
                "the server speaks HTTPS on this port, not plain HTTP (ORIGIN)"
            )
        }
        let error = try await failure(.init(tls: TestCertificates.serverContext()), Self.trusted, scheme: .http)
        #expect(error.code == .connectionClosed)
    }

    @Test func plainHTTPToSomethingElse() async throws {
        expect(
            try await failure(.init(), Self.trusted, scheme: .http) { _ in [.send("SSH-2.0-OpenSSH_9.6\r\n")] },
            .malformedResponse,
            "the response is not valid HTTP (ORIGIN): the response does not begin with HTTP/1."
        )
    }

    @Test func noCommonVersion() async throws {
        expect(
            try await failure(.init(tls: TestCertificates.serverContext(maximumVersion: .tlsv11)), Self.trusted),
            .tlsFailure,
            "the TLS handshake failed (ORIGIN): tlsv1 alert protocol version"
        )
    }

    @Test func aServerThatWantsACertificate() async throws {
        let server = try TestCertificates.serverContext(maximumVersion: .tlsv12, asksForClient: true)
        let error = try await failure(.init(tls: server), Self.trusted)
        #expect(error.code == .tlsFailure)
        #expect(error.underlying?.contains("alert") == true)
        #expect(error.underlying?.contains("/") == false)
    }

    // MARK: Files

    private func expectUnusable(_ options: TLSOptions, _ text: String) async throws {
        expect(
            try await failure(.init(tls: TestCertificates.serverContext()), options),
            .invalidTLSOptions,
            "the TLS options cannot be used (ORIGIN): " + text
        )
    }

    @Test func aFileOfAuthoritiesThatCannotBeUsed() async throws {
        for roots in [TLSOptions.Roots.only(file: "/no/such/ca.pem"), .systemAnd(file: "/no/such/ca.pem")] {
            try await expectUnusable(
                TLSOptions(roots: roots),
                "the file \"/no/such/ca.pem\" cannot be read: No such file or directory"
            )
        }
        let directory = FileManager.default.temporaryDirectory.path
        try await expectUnusable(
            TLSOptions(roots: .only([.file(directory)])),
            "the file \"\(directory)\" cannot be read: Is a directory"
        )
        try await withTemporaryFile(Data("".utf8)) { path in
            try await expectUnusable(
                TLSOptions(roots: .only([.file(path)])),
                "the file \"\(path)\" holds no certificate in PEM"
            )
        }
        try await withTemporaryFile(Data(TestCertificates.server.key.utf8)) { path in
            try await expectUnusable(
                TLSOptions(roots: .only([.file(path)])),
                "the file \"\(path)\" holds no certificate in PEM, but PRIVATE KEY"
            )
        }
        try await withTemporaryFile(Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)) {
            path in
            try await expectUnusable(
                TLSOptions(roots: .only([.file(path)])),
                "the file \"\(path)\" holds a certificate that cannot be read"
            )
        }
        try await expectUnusable(TLSOptions(roots: .only([.bytes([])])), "the text holds no certificate in PEM")
    }

    @Test(.enabled(if: geteuid() != 0, "the administrator may read everything"))
    func aFileThatMayNotBeRead() async throws {
        try await withTemporaryFile(Data(TestCertificates.authority.utf8)) { path in
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
            try await expectUnusable(
                TLSOptions(roots: .only([.file(path)])),
                "the file \"\(path)\" cannot be read: Permission denied"
            )
        }
    }

    @Test func anIdentityThatCannotBeUsed() async throws {
        func options(_ certificate: TLSOptions.PEM, _ key: TLSOptions.PEM) -> TLSOptions {
            var options = Self.trusted
            options.clientCertificate = .init(chain: certificate, key: key)
            return options
        }
        let pair = TestCertificates.client
        let certificate = TLSOptions.PEM.bytes(Array(pair.certificate.utf8))
        try await expectUnusable(
            options(.file("/no/such/chain.pem"), .bytes([])),
            "the file \"/no/such/chain.pem\" cannot be read: No such file or directory"
        )
        try await expectUnusable(
            options(certificate, .file("/no/such/key.pem")),
            "the file \"/no/such/key.pem\" cannot be read: No such file or directory"
        )
        try await withTemporaryFile(Data(pair.certificate.utf8)) { path in
            try await expectUnusable(
                options(certificate, .file(path)),
                "the file \"\(path)\" holds no private key in PEM, but CERTIFICATE"
            )
        }
        try await withTemporaryFile(Data(TestCertificates.encryptedClientKey.utf8)) { path in
            try await expectUnusable(
                options(certificate, .file(path)),
                "the file \"\(path)\" holds an encrypted private key, and no passphrase opens it"
            )
        }
        try await expectUnusable(
            options(certificate, .bytes(Array(TestCertificates.server.key.utf8))),
            "the private key does not belong to the client's certificate"
        )
    }
}
