import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct CertificateTests {
    private func withSandbox(
        _ certificate: Sandbox.Certificate,
        _ body: (Sandbox) async throws -> Void
    ) async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.tls = true
                $0.certificate = certificate
                $0.keepAlive = .seconds(3600)
            }
        )
        do {
            try await body(sandbox)
            await sandbox.stop()
        } catch {
            await sandbox.stop()
            throw error
        }
    }

    private func status(_ sandbox: Sandbox, _ name: String?, trusting authority: String?) async throws -> Int {
        let client = try await RawHTTPClient.connect(
            host: sandbox.host,
            port: sandbox.port,
            certificateAuthority: authority,
            serverName: name
        )
        let status = try await client.send("GET", "/fmi/data/v1/productInfo").status
        try await client.close()
        return status
    }

    @Test func filesOfOnesOwnAreShown() async throws {
        try await withTemporaryFolder { folder in
            func write(_ name: String, _ text: String) throws -> String {
                let file = folder.appendingPathComponent(name)
                try Data(text.utf8).write(to: file)
                return file.path
            }
            let authority = try write("ca.pem", TestCertificates.authority)
            let certificate = try write("c.pem", TestCertificates.server.certificate)
            let key = try write("k.pem", TestCertificates.server.key)
            let other = try write("o.pem", TestCertificates.wrongName.key)
            let empty = try write("e.pem", "")
            try await withSandbox(.files(certificate: certificate, key: key)) { (sandbox: Sandbox) async throws in
                #expect(sandbox.certificateAuthorityFile == nil)
                #expect(try await status(sandbox, "localhost", trusting: authority) == 200)
            }
            for (chain, key, reason) in [
                (certificate, other, "the private key does not belong to the certificate"),
                (empty, key, "\(empty): no certificate in PEM form"),
                (certificate, empty, "\(empty): no private key in PEM form, or one with a passphrase"),
                ("/nowhere.pem", key, "/nowhere.pem: there is no such file"),
            ] {
                let error = await #expect(throws: Sandbox.CertificateError.self) {
                    try await withSandbox(.files(certificate: chain, key: key)) { _ in }
                }
                expectNoDifference(error?.description, reason)
            }
        }
    }
}
