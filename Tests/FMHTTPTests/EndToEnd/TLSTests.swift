import FMHTTP
import FMTestSupport
import Foundation
import NIOCore
import NIOSSL
import Testing

@Suite(.timeLimit(.minutes(15)))
struct TLSTests {
    private static let trusted = TLSOptions(roots: .only([.bytes(Array(TestCertificates.authority.utf8))]))

    private func get(
        _ server: NIOSSLContext,
        _ tls: TLSOptions,
        host: String = "localhost"
    ) async throws -> Result<HTTPResponse, HTTPClientError> {
        let server = try await FaultServer.start(.init(tls: server)) { _ in ok("x") }
        let client = HTTPClient(
            configuration: HTTPClientConfiguration {
                $0.timeouts = .patient
                $0.tls = tls
            }
        )
        let result = await client.get(Origin(scheme: .https, host: host, port: server.port))
        await client.shutdown()
        #expect(client.counts == PoolCounts())
        await server.allConnectionsClosed()
        try await server.stopped()
        return result
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func aCertificateOfATrustedAuthority(host: String) async throws {
        let result = try await get(TestCertificates.serverContext(), Self.trusted, host: host)
        #expect(try result.get().text == "x")
    }

    @Test func reusesEncryptedConnections() async throws {
        let options = FaultServer.Options(tls: try TestCertificates.serverContext())
        let configuration = HTTPClientConfiguration { $0.tls = Self.trusted }
        try await withServer(options, configuration: configuration, answer: { _ in ok("x") }) {
            client,
            server,
            origin in
            for _ in 0..<3 { #expect(await client.get(origin).value?.text == "x") }
            #expect(server.acceptedCount == 1)
        }
    }

    @Test func anUnknownAuthority() async throws {
        let error = try #require(try await get(TestCertificates.serverContext(), TLSOptions()).failure)
        #expect(error.code == .certificateUntrusted)
        #expect(error.outcome == .notSent)
    }

    @Test func anExpiredCertificate() async throws {
        let server = try TestCertificates.serverContext(TestCertificates.expired)
        #expect(try #require(try await get(server, Self.trusted).failure).code == .certificateExpired)
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func aCertificateForAnotherName(host: String) async throws {
        let server = try TestCertificates.serverContext(TestCertificates.wrongName)
        #expect(try #require(try await get(server, Self.trusted, host: host).failure).code == .certificateNameMismatch)
    }

    @Test func noCommonVersion() async throws {
        let server = try TestCertificates.serverContext(maximumVersion: .tlsv11)
        let error = try #require(try await get(server, Self.trusted).failure)
        #expect(error.code == .tlsFailure)
        #expect(error.outcome == .notSent)
    }

    @Test func verificationCanBeSwitchedOffOutLoud() async throws {
        let options = TLSOptions(dangerouslySkipsVerification: true)
        #expect(try await get(TestCertificates.serverContext(TestCertificates.expired), options).get().text == "x")
    }

    @Test func aPinnedKey() async throws {
        var options = Self.trusted
        options.pinnedPublicKeys = [TestCertificates.serverKeyPin]
        #expect(try await get(TestCertificates.serverContext(), options).get().text == "x")
    }

    @Test func aKeyThatIsNotPinned() async throws {
        var options = Self.trusted
        options.pinnedPublicKeys = [TestCertificates.serverKeyPin]
        let server = try TestCertificates.serverContext(TestCertificates.client)
        options.dangerouslySkipsVerification = true
        let error = try #require(try await get(server, options).failure)
        #expect(error.code == .certificatePinMismatch)
        #expect(error.outcome == .notSent)
    }

    @Test func aClientCertificate() async throws {
        var options = Self.trusted
        let pair = TestCertificates.client
        options.clientCertificate = .init(
            chain: .bytes(Array(pair.certificate.utf8)),
            key: .bytes(Array(pair.key.utf8))
        )
        let server = try TestCertificates.serverContext(asksForClient: true)
        #expect(try await get(server, options).get().text == "x")
    }

    @Test func aClientCertificateWhoseKeyIsEncrypted() async throws {
        var options = Self.trusted
        let server = try TestCertificates.serverContext(asksForClient: true)
        for (passphrase, code) in [("harbor", nil), ("haven", HTTPClientError.Code.invalidTLSOptions)] {
            options.clientCertificate = .init(
                chain: .bytes(Array(TestCertificates.client.certificate.utf8)),
                key: .bytes(Array(TestCertificates.encryptedClientKey.utf8)),
                passphrase: passphrase
            )
            let result = try await get(server, options)
            #expect(result.failure?.code == code)
            #expect(result.value?.text == (code == nil ? "x" : nil))
        }
    }

    @Test func theLowestVersionThatIsAccepted() async throws {
        var options = Self.trusted
        let server = try TestCertificates.serverContext(maximumVersion: .tlsv12)
        #expect(try await get(server, options).get().text == "x")
        options.minimumVersion = .tls13
        #expect(try await get(server, options).failure?.code == .tlsFailure)
        #expect(try await get(TestCertificates.serverContext(), options).get().text == "x")
    }

    @Test func optionsThatCannotBeUsed() async throws {
        let options = TLSOptions(roots: .only([.file("/no/such/file.pem")]))
        let error = try #require(try await get(TestCertificates.serverContext(), options).failure)
        #expect(error.code == .invalidTLSOptions)
        #expect(error.outcome == .notSent)
    }

    /// An authority's file that did not exist at first is read once it exists.
    @Test func optionsThatCouldNotBeUsedAreTriedAgain() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path + "/ca.pem"
            let configuration = HTTPClientConfiguration { $0.tls = TLSOptions(roots: .only([.file(path)])) }
            let options = FaultServer.Options(tls: try TestCertificates.serverContext())
            try await withServer(options, configuration: configuration, answer: { _ in ok("x") }) {
                client,
                server,
                origin in
                for _ in 0..<2 { #expect(await client.get(origin).failure?.code == .invalidTLSOptions) }
                try TestCertificates.authority.write(toFile: path, atomically: false, encoding: .utf8)
                for _ in 0..<2 { #expect(await client.get(origin).value?.text == "x") }
                #expect(server.acceptedCount == 1)
            }
        }
    }
}
