import Foundation
import NIOSSL

extension Sandbox {
    /// The certificate of a sandbox with TLS.
    public enum Certificate: Sendable, Equatable {
        /// The certificate that the package contains, for `localhost`, `127.0.0.1` and `::1`, signed by
        /// ``Sandbox/certificateAuthorityFile-swift.type.property``.
        case loopback
        /// PEM files: the certificate, followed by intermediate certificates if necessary, and its private key. The
        /// certificate may be for any name. The sandbox still listens on loopback only, so the client must resolve that
        /// name to it.
        case files(certificate: String, key: String)
    }

    /// A certificate that cannot be used.
    public struct CertificateError: Error, Equatable, Sendable, CustomStringConvertible {
        /// The reason, in one line.
        public var description: String

        /// Creates an error with its reason.
        public init(_ description: String) { self.description = description }
    }
}

/// A certificate with its key.
struct ServerCertificate: Sendable {
    let authorityFile: String?
    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey

    init(_ certificate: Sandbox.Certificate) throws(Sandbox.CertificateError) {
        switch certificate {
        case .loopback:
            chain = try Self.chain(Self.resource("server.pem"))
            key = try Self.key(Self.resource("server.key.pem"))
            authorityFile = Self.loopbackAuthorityFile
        case .files(let certificate, let key):
            chain = try Self.chain(certificate)
            self.key = try Self.key(key)
            authorityFile = nil
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

    static var loopbackAuthorityFile: String { resource("ca.pem") }

    private static func resource(_ name: String) -> String {
        Solution.resources.appendingPathComponent("tls/\(name)").path
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
