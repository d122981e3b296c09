internal import NIOCore

/// What a server's certificate has to name, and whether it does ([RFC 9525](https://www.rfc-editor.org/rfc/rfc9525)): a host's
/// name is looked for among the certificate's DNS names alone, an address among its addresses alone. Which address the name
/// led to does not count, since whoever answers for the name system chooses it, and neither does the subject's common name.
///
/// NIOSSL, which has compared a name before, lets both of them count and takes `f*.example.com` for a wildcard; on the other hand
/// it refuses a wildcard for an international label and every name with an underscore. What is accepted is what both accept.
enum HostIdentity: Equatable {
    /// Labels in lower case, without the root's.
    case name([Substring])
    /// Of IPv4 or IPv6, without port and zone.
    case address(SocketAddress)
    /// Letters beyond ASCII, or nothing: no certificate can hold it.
    case impossible

    /// Of an ``Origin/host``.
    init(host: String) {
        // The zone of a link-local address ("%eth0") is this machine's affair.
        if let address = HostGrammar.address(String(host.prefix { $0 != "%" })) {
            self = .address(address)
        } else if let labels = Self.labels(of: host) {
            self = .name(labels)
        } else {
            self = .impossible
        }
    }

    /// What is said in the greeting, so that a server with several certificates finds the right one, and what NIOSSL compares
    /// the certificate with. `nil` for an address, which has no place there, and neither has the dot of the root (RFC 6066 §3).
    static func serverName(of host: String) -> String? {
        if case .address = HostIdentity(host: host) { return nil }
        return HostGrammar.withoutRoot(host)
    }

    /// Whether one of a certificate's names is this one.
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

    /// A `*` stands for one whole label, the left-most (RFC 9525 §6.3). Two must follow it: `*.com` is nobody's name.
    private static func labels(_ labels: [Substring], match pattern: [Substring]) -> Bool {
        if pattern.first == "*" {
            return pattern.count > 2 && labels.count == pattern.count && labels.dropFirst() == pattern.dropFirst()
        }
        return labels == pattern
    }

    /// `nil` for what is no name. International names are written in ASCII ("xn--…") here and in certificates.
    private static func labels(of name: String) -> [Substring]? {
        guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let labels = HostGrammar.withoutRoot(name.lowercased()).split(separator: ".", omittingEmptySubsequences: false)
        return labels.contains("") ? nil : labels
    }
}

/// A name that a certificate is for: one of its subject alternative names.
enum CertificateName: Equatable {
    /// As it stands in the certificate; perhaps with a wildcard, perhaps nonsense.
    case dns([UInt8])
    /// The bytes of an address, 4 or 16 if it is one.
    case address([UInt8])
}
