import Foundation
import NIOSSL

/// The certificate that ships with the sandbox.
enum SandboxTLS {
    static var certificateAuthorityFile: URL { resource("ca.pem") }

    static func serverContext() throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(resource("server.pem").path)
        let key = try NIOSSLPrivateKey(file: resource("server.key.pem").path, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    private static func resource(_ name: String) -> URL {
        Bundle.module.bundleURL.appendingPathComponent("Resources/tls/\(name)")
    }
}
