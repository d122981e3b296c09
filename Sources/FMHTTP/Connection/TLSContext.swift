internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// The one TLS context of a client, made when first needed and away from event loops: it reads files, and the system's
/// authorities are some hundred kilobytes of text. One that failed is made anew for the next connection: its files may be
/// there by then.
final class TLSContext: Sendable {
    private let options: TLSOptions
    private let made: NIOLockedValueBox<EventLoopFuture<NIOSSLContext>?> = NIOLockedValueBox(nil)

    init(_ options: TLSOptions) { self.options = options }

    func get(on eventLoop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
        let (future, isNew) = made.withLockedValue { made in
            if let made { return (made, false) }
            let future = NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { [options] in
                try NIOSSLContext(configuration: TLSContext.configuration(options))
            }
            made = future
            return (future, true)
        }
        // Before the caller hears of the failure: when he tries again, he does not meet it again.
        if isNew { future.whenFailure { _ in self.forget(future) } }
        return future.hop(to: eventLoop)
    }

    private func forget(_ failed: EventLoopFuture<NIOSSLContext>) {
        made.withLockedValue { made in
            if made === failed { made = nil }
        }
    }

    private static func configuration(_ options: TLSOptions) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = ["http/1.1"]
        // How long an orderly close waits for the server's farewell; nobody waits for the close itself.
        configuration.shutdownTimeout = .seconds(1)
        switch options.minimumVersion {
        case .tls12: configuration.minimumTLSVersion = .tlsv12
        case .tls13: configuration.minimumTLSVersion = .tlsv13
        }
        switch options.trust {
        case .system(let more):
            if !more.isEmpty {
                configuration.additionalTrustRoots = try more.map { .certificates(try certificates($0)) }
            }
        case .only(let roots):
            configuration.trustRoots = .certificates(try roots.flatMap(certificates))
        }
        switch options.verification {
        case .full: configuration.certificateVerification = .fullVerification
        case .noneInsecureForDevelopmentOnly: configuration.certificateVerification = .none
        }
        if let identity = options.identity {
            configuration.certificateChain = try certificates(identity.certificateChain).map { .certificate($0) }
            configuration.privateKey = .privateKey(try privateKey(identity))
        }
        return configuration
    }

    private static func certificates(_ source: TLSOptions.Certificates) throws -> [NIOSSLCertificate] {
        switch source {
        case .file(let path): try NIOSSLCertificate.fromPEMFile(path)
        case .pem(let bytes): try NIOSSLCertificate.fromPEMBytes(bytes)
        }
    }

    private static func privateKey(_ identity: TLSOptions.Identity) throws -> NIOSSLPrivateKey {
        switch (identity.privateKey, identity.passphrase) {
        case (.file(let path), nil): try NIOSSLPrivateKey(file: path, format: .pem)
        case (.file(let path), let passphrase?): try NIOSSLPrivateKey(file: path, format: .pem) { $0(passphrase.utf8) }
        case (.pem(let bytes), nil): try NIOSSLPrivateKey(bytes: bytes, format: .pem)
        case (.pem(let bytes), let passphrase?):
            try NIOSSLPrivateKey(bytes: bytes, format: .pem) { $0(passphrase.utf8) }
        }
    }
}
