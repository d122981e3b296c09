internal import NIOSSL

/// The checks of a server's certificate beyond NIOSSL's own: that it names the host by the rules of ``HostIdentity``,
/// and that its key is pinned. They run between the handshake and the first byte of a request.
struct PeerCheck: Sendable {
    typealias Refusal = (code: HTTPClientError.Code, detail: String)
    typealias NameCheck = @Sendable (_ host: String, _ names: [CertificateName]) -> Bool

    private let verifiesName: Bool
    private let isNamed: NameCheck
    private let pinnedKeys: Set<String>

    init(_ options: TLSOptions, names: @escaping NameCheck) {
        verifiesName = !options.dangerouslySkipsVerification
        isNamed = names
        pinnedKeys = Set(options.pinnedPublicKeys)
    }

    /// Why the certificate is not accepted; `nil` when it is.
    func refusal(of certificate: NIOSSLCertificate?, for host: String) throws -> Refusal? {
        if verifiesName, let refusal = nameRefusal(of: certificate, for: host) { return refusal }
        if pinnedKeys.isEmpty { return nil }
        let pin = try certificate.map { SHA256.hash(try $0.extractPublicKey().toSPKIBytes()).base64 } ?? ""
        if pinnedKeys.contains(pin) { return nil }
        return (.certificatePinMismatch, "its pin \"\(pin)\" is not among the \(pinnedKeys.count) configured")
    }

    private func nameRefusal(of certificate: NIOSSLCertificate?, for host: String) -> Refusal? {
        if let certificate, isNamed(host, certificate.names) { return nil }
        return Self.nameRefusal(of: certificate.map(PeerCertificate.init), for: host)
    }

    /// The refusal of a certificate that is for other names than the host's.
    static func nameRefusal(of certificate: PeerCertificate?, for host: String) -> Refusal {
        var detail = "\"\(host)\" was asked for, and it holds \(certificate?.listOfNames ?? "no name")"
        if host.hasPrefix("xn--"), certificate?.names.contains(where: { $0.hasPrefix("*") }) == true {
            detail += " (a wildcard does not stand for an international name)"
        }
        return (.certificateNameMismatch, detail)
    }
}
