internal import NIOCore

/// The identity that a server's certificate has to name, and the check that it does ([RFC
/// 9525](https://www.rfc-editor.org/rfc/rfc9525)): a host name is compared with the certificate's DNS names only, an
/// address with its addresses only. The address that a name resolves to does not count, since the one who answers DNS
/// queries chooses it; neither does the subject's common name.
///
/// NIOSSL compares names as well, before this check. It accepts both of those and takes `f*.example.com` for a
/// wildcard; on the other hand it rejects a wildcard for an international label and every name with an underscore. A
/// certificate must pass both checks.
enum HostIdentity: Equatable {
    /// The labels in lower case, without the root's.
    case name([Substring])
    /// An IPv4 or IPv6 address, without port and zone.
    case address(SocketAddress)
    /// A host that is empty or has characters beyond ASCII: no certificate can name it.
    case impossible

    /// The identity of an ``Origin/host``.
    init(host: String) {
        // The zone of a link-local address ("%eth0") has a meaning on this machine only.
        if let address = HostGrammar.address(String(host.prefix { $0 != "%" })) {
            self = .address(address)
        } else if let labels = Self.labels(of: host) {
            self = .name(labels)
        } else {
            self = .impossible
        }
    }

    /// The name sent in the TLS greeting (SNI), by which a server with several certificates chooses one, and which
    /// NIOSSL compares with the certificate. `nil` for an address, which SNI does not allow; the root's dot is removed
    /// for the same reason (RFC 6066 §3).
    static func serverName(of host: String) -> String? {
        if case .address = HostIdentity(host: host) { return nil }
        return HostGrammar.withoutRoot(host)
    }

    /// Whether one of a certificate's names matches this identity.
    func isAmong(_ names: [CertificateName]) -> Bool {
        names.contains { matches($0) }
    }

    private func matches(_ name: CertificateName) -> Bool {
        switch (self, name) {
        case (.name(let labels), .dns(let bytes)):
            guard let text = String(validating: bytes, as: UTF8.self),
                let pattern = Self.labels(of: text)
            else {
                return false
            }
            return Self.labels(labels, match: pattern)
        case (.address(let address), .address(let bytes)):
            return (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0)) == address
        case (.name, .address), (.address, .dns), (.impossible, _):
            return false
        }
    }

    /// Matches a `*` with one whole label, the left-most (RFC 9525 §6.3). Two labels must follow it, so `*.com` matches
    /// nothing.
    private static func labels(_ labels: [Substring], match pattern: [Substring]) -> Bool {
        if pattern.first == "*" {
            return pattern.count > 2 && labels.count == pattern.count && labels.dropFirst() == pattern.dropFirst()
        }
        return labels == pattern
    }

    /// The labels of a name; `nil` if it is not a valid name. International names are written in ASCII ("xn--…") here
    /// and in certificates.
    private static func labels(of name: String) -> [Substring]? {
        guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let labels = HostGrammar.withoutRoot(name.lowercased()).split(separator: ".", omittingEmptySubsequences: false)
        return labels.contains("") ? nil : labels
    }
}

/// One of a certificate's subject alternative names.
enum CertificateName: Equatable {
    /// A DNS name as the certificate has it; it may contain a wildcard or be invalid.
    case dns([UInt8])
    /// The bytes of an address: 4 or 16 if it is valid.
    case address([UInt8])
}
