import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

@Suite struct CertificateTests {
    private func withSandbox(
        _ certificate: Sandbox.Certificate,
        _ body: (Sandbox) async throws -> Void
    ) async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init(tls: true, certificate: certificate, keepAlive: .seconds(3600))
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

    @Test func aSelfMadeCertificateIsForItsNames() async throws {
        var file = ""
        try await withSandbox(.selfMade(names: ["fms.example.com", "*.example.org"])) {
            (sandbox: Sandbox) async throws in
            file = try #require(sandbox.certificateAuthorityFile)
            for name in ["fms.example.com", "a.example.org"] {
                #expect(try await status(sandbox, name, trusting: file) == 200)
            }
            for name in ["localhost", "example.org", "other.example.com", nil] {
                await #expect(throws: (any Error).self) { try await status(sandbox, name, trusting: file) }
            }
            // Nobody trusts it who was not told to.
            await #expect(throws: (any Error).self) {
                try await status(sandbox, "fms.example.com", trusting: Sandbox.certificateAuthorityFile)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: file))
        try await withSandbox(.selfMade(names: ["127.0.0.1", "::1"])) { (sandbox: Sandbox) async throws in
            #expect(try await status(sandbox, nil, trusting: sandbox.certificateAuthorityFile) == 200)
        }
    }

    @Test func filesOfOnesOwnAreShown() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FMSandboxTests-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
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

    @Test(arguments: ["", "a b", "ä.de", "a..b", "-a.de", "*", "https://a", "a:443", String(repeating: "a", count: 64)])
    func whatIsNoNameIsRefused(_ name: String) async throws {
        let error = await #expect(throws: Sandbox.CertificateError.self) {
            try await withSandbox(.selfMade(names: [name])) { _ in }
        }
        expectNoDifference(
            error?.description,
            "a certificate for \(name): expected a host name in ASCII or an address"
        )
        await #expect(throws: Sandbox.CertificateError("a certificate needs a name")) {
            try await withSandbox(.selfMade(names: [])) { _ in }
        }
    }

    // MARK: How it is made

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(Int($0) + 0x100, radix: 16, uppercase: true).suffix(2) }.joined()
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
    }

    /// The examples of FIPS 180-2.
    @Test(arguments: [
        ("", "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"),
        ("abc", "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248D6A61D20638B8E5C026930C3E6039A33CE45964FF2167F6ECEDD419DB06C1"
        ),
    ])
    func theDigestIsSHA256(_ text: String, _ digest: String) {
        #expect(hex(SHA256.hash(Array(text.utf8))) == digest)
    }

    /// The example of RFC 6979, A.2.5, and one times the generator.
    @Test func theSignatureIsECDSA() {
        let key = P256.PrivateKey(
            random: bytes("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")
        )
        #expect(
            hex(key.publicKey)
                == "0460FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
                + "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"
        )
        let signature = key.signature(
            of: SHA256.hash(Array("sample".utf8)),
            nonce: .init(random: bytes("A6E3C57DD01ABE90086538398355DD4C3B17AA873382B0F24D6129493D8AAD60"))
        )
        #expect(hex(signature.r) == "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716")
        #expect(hex(signature.s) == "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8")
        let one = P256.PrivateKey(random: Array(repeating: 0, count: 31) + [1])
        #expect(hex(Array(one.publicKey.prefix(9))) == "046B17D1F2E12C4247")
    }

    @Test func noTwoCertificatesAreAlike() {
        let names = ["fms.example.com", "10.0.0.1"].compactMap(SelfMadeCertificate.Name.init)
        #expect(names == [.host("fms.example.com"), .address([10, 0, 0, 1])])
        let made = SelfMadeCertificate(names: names, now: Date())
        let other = SelfMadeCertificate(names: names, now: Date())
        #expect(
            Set([made.authority, made.certificate, made.key, other.authority, other.certificate, other.key]).count == 6
        )
    }
}
