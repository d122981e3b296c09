import Foundation
import NIOSSL

extension Sandbox {
    /// What a sandbox shows over TLS.
    public enum Certificate: Sendable, Equatable {
        /// The one that ships with the package, for `localhost`, `127.0.0.1` and `::1`;
        /// ``Sandbox/certificateAuthorityFile-swift.type.property`` vouches for it.
        case loopback
        /// PEM files of one's own: the certificate, with those that vouch for it behind it if need be, and its private key.
        case files(certificate: String, key: String)
        /// One that is made at start for these names and addresses, with an authority of its own that
        /// ``Sandbox/certificateAuthorityFile-swift.property`` holds. A `*.` may stand before a name. The sandbox listens on
        /// loopback whatever its name: it is for the client to look there.
        case selfMade(names: [String])
    }

    /// A certificate that cannot be shown.
    public struct CertificateError: Error, Equatable, Sendable, CustomStringConvertible {
        /// What is wrong with it, in one line.
        public var description: String

        /// An error about a certificate.
        public init(_ description: String) { self.description = description }
    }
}

/// A certificate with its key, read or made.
struct ServerCertificate: Sendable {
    let authorityFile: String?
    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey
    /// Whether the authority file was written for this sandbox.
    private let isSelfMade: Bool

    init(_ certificate: Sandbox.Certificate) throws(Sandbox.CertificateError) {
        switch certificate {
        case .loopback:
            chain = try Self.chain(Self.resource("server.pem"))
            key = try Self.key(Self.resource("server.key.pem"))
            authorityFile = Self.loopbackAuthorityFile
            isSelfMade = false
        case .files(let certificate, let key):
            chain = try Self.chain(certificate)
            self.key = try Self.key(key)
            authorityFile = nil
            isSelfMade = false
        case .selfMade(let names):
            var read: [SelfMadeCertificate.Name] = []
            for name in names {
                guard let name = SelfMadeCertificate.Name(name) else {
                    throw .init("a certificate for \(name): expected a host name in ASCII or an address")
                }
                read.append(name)
            }
            guard !read.isEmpty else { throw .init("a certificate needs a name") }
            let made = SelfMadeCertificate(names: read, now: Date())
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("FMSandbox-\(UUID()).pem")
            do {
                try Data(made.authority.utf8).write(to: file)
                chain = try NIOSSLCertificate.fromPEMBytes(Array(made.certificate.utf8))
                key = try NIOSSLPrivateKey(bytes: Array(made.key.utf8), format: .pem)
            } catch {
                throw .init("a certificate for \(names.joined(separator: ", ")): \(error.localizedDescription)")
            }
            authorityFile = file.path
            isSelfMade = true
        }
    }

    func serverContext() throws(Sandbox.CertificateError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.applicationProtocols = ["http/1.1"]
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw .init("the private key does not belong to the certificate")
        }
    }

    /// Deletes what was made for this sandbox.
    func discard() {
        guard isSelfMade, let authorityFile else { return }
        try? FileManager.default.removeItem(atPath: authorityFile)
    }

    static var loopbackAuthorityFile: String { resource("ca.pem") }

    private static func resource(_ name: String) -> String {
        Bundle.module.bundleURL.appendingPathComponent("Resources/tls/\(name)").path
    }

    private static func chain(_ file: String) throws(Sandbox.CertificateError) -> [NIOSSLCertificate] {
        try checkReadable(file)
        guard let chain = try? NIOSSLCertificate.fromPEMFile(file), !chain.isEmpty else {
            throw .init("\(file): no certificate in PEM form")
        }
        return chain
    }

    private static func key(_ file: String) throws(Sandbox.CertificateError) -> NIOSSLPrivateKey {
        try checkReadable(file)
        guard let key = try? NIOSSLPrivateKey(file: file, format: .pem) else {
            throw .init("\(file): no private key in PEM form, or one with a passphrase")
        }
        return key
    }

    private static func checkReadable(_ file: String) throws(Sandbox.CertificateError) {
        guard FileManager.default.fileExists(atPath: file) else { throw .init("\(file): there is no such file") }
        guard FileManager.default.isReadableFile(atPath: file) else { throw .init("\(file): it cannot be read") }
    }
}
