internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// The TLS contexts of a client: one for host names and one for addresses, since NIOSSL's verification is a setting of
/// the context. Each is made when it is first needed and away from event loops: it reads files, and the system's
/// authorities are some hundred kilobytes of text. A context that could not be made is tried again for the next
/// connection: the files may exist by then.
final class TLSContexts: Sendable {
    private let options: TLSOptions
    private let made = NIOLockedValueBox<[CertificateVerification: EventLoopFuture<NIOSSLContext>]>([:])

    init(_ options: TLSOptions) { self.options = options }

    func get(for host: HostIdentity, on eventLoop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
        let verification = verification(for: host)
        let (future, isNew) = made.withLockedValue { made in
            if let future = made[verification] { return (future, false) }
            let future = NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { [options] in
                try TLSContexts.make(options, verification)
            }
            made[verification] = future
            return (future, true)
        }
        // Registered before the caller's callbacks, so that a retry after the failure makes a new context.
        if isNew { future.whenFailure { _ in self.forget(future, verification) } }
        return future.hop(to: eventLoop)
    }

    private func forget(_ failed: EventLoopFuture<NIOSSLContext>, _ verification: CertificateVerification) {
        made.withLockedValue { made in
            if made[verification] === failed { made[verification] = nil }
        }
    }

    /// The verification that NIOSSL does. It compares a name with the certificate, and ``PeerCheck`` does so again, so
    /// an error in one of them alone is not enough to let a wrong certificate pass. For an address NIOSSL only knows
    /// the connection's peer, which may be a proxy, so ``PeerCheck`` alone decides.
    private func verification(for host: HostIdentity) -> CertificateVerification {
        if options.dangerouslySkipsVerification { return .none }
        switch host {
        case .name, .impossible: return .fullVerification
        case .address: return .noHostnameVerification
        }
    }

    private static func make(_ options: TLSOptions, _ verification: CertificateVerification) throws -> NIOSSLContext {
        try make(try configuration(options, verification))
    }

    /// A context for looking at a server, with which nothing may be sent to it: it takes old versions of TLS, offers
    /// HTTP/2 as well, and leaves verification to a callback of the handler.
    static func makeForReport(_ options: TLSOptions) throws -> NIOSSLContext {
        // NIOSSL would compare the name after the callback, and without verification it would not call that.
        var configuration = try configuration(options, .noHostnameVerification)
        configuration.minimumTLSVersion = .tlsv1
        configuration.applicationProtocols = ["h2", "http/1.1"]
        return try make(configuration)
    }

    private static func make(_ configuration: TLSConfiguration) throws -> NIOSSLContext {
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch NIOSSLError.failedToLoadPrivateKey {
            // The key itself was readable; BoringSSL rejects the pair.
            throw PEMFileError(description: "the private key does not belong to the client's certificate")
        }
    }

    private static func configuration(
        _ options: TLSOptions,
        _ verification: CertificateVerification
    ) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = ["http/1.1"]
        // How long an orderly close waits for the server's close_notify; no request waits for that.
        configuration.shutdownTimeout = .seconds(1)
        switch options.minimumVersion {
        case .tls12: configuration.minimumTLSVersion = .tlsv12
        case .tls13: configuration.minimumTLSVersion = .tlsv13
        }
        switch options.roots {
        case .system: break
        case .systemAnd(let more):
            configuration.additionalTrustRoots = try more.map { .certificates(try certificates($0)) }
        case .only(let roots):
            configuration.trustRoots = .certificates(try roots.flatMap(certificates))
        }
        configuration.certificateVerification = verification
        if let certificate = options.clientCertificate {
            configuration.certificateChain = try certificates(certificate.chain).map { .certificate($0) }
            configuration.privateKey = .privateKey(try privateKey(of: certificate))
        }
        return configuration
    }

    private static func certificates(_ source: TLSOptions.PEM) throws -> [NIOSSLCertificate] {
        let pem = try PEMSource(source)
        do {
            let certificates = try NIOSSLCertificate.fromPEMBytes(pem.bytes)
            if !certificates.isEmpty { return certificates }
        } catch is NIOSSLError {}
        throw pem.unusable(as: "certificate", label: "CERTIFICATE")
    }

    private static func privateKey(of certificate: TLSOptions.ClientCertificate) throws -> NIOSSLPrivateKey {
        let pem = try PEMSource(certificate.key)
        do {
            guard let passphrase = certificate.passphrase else {
                return try NIOSSLPrivateKey(bytes: pem.bytes, format: .pem)
            }
            return try NIOSSLPrivateKey(bytes: pem.bytes, format: .pem) { $0(passphrase.utf8) }
        } catch is NIOSSLError {
            throw pem.unusable(as: "private key", label: "PRIVATE KEY")
        }
    }
}
