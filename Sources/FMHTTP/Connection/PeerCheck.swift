internal import NIOSSL

/// What is asked of a server's certificate beyond what BoringSSL asks for: that it names the host, and that its key is pinned.
/// Checked between the handshake and the first byte of a request.
struct PeerCheck: Sendable {
    typealias Refusal = (code: HTTPClientError.Code, detail: String)

    private let verifiesName: Bool
    private let pinnedKeys: Set<String>

    init(_ options: TLSOptions) {
        verifiesName = !options.dangerouslySkipsVerification
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
        if let certificate, HostIdentity(host: host).isAmong(certificate.names) { return nil }
        let held = certificate.map { PeerCertificate($0).listOfNames } ?? "no name"
        return (.certificateNameMismatch, "\"\(host)\" was asked for, and it holds \(held)")
    }
}
