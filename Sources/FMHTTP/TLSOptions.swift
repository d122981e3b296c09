/// How TLS connections are made and which certificates are trusted. The default verifies the certificate and the host's
/// name against the authorities of the system.
public struct TLSOptions: Sendable, Hashable {
    /// Certificates, one or several, or a private key, in PEM.
    public enum PEM: Sendable, Hashable {
        /// The path of a file. A relative path starts from the working directory. The file is read when the first
        /// connection is made, and again for the next one if that failed.
        case file(String)
        /// The text of such a file.
        case bytes([UInt8])
    }

    /// The authorities that are trusted.
    public enum Roots: Sendable, Hashable {
        /// The authorities of the system.
        case system
        /// The authorities of the system and these: for a private authority beside the public ones.
        case systemAnd([PEM])
        /// These and no others: where only one authority, or one self-signed certificate, is right.
        case only([PEM])

        /// The authorities of the system and those in a PEM file.
        public static func systemAnd(file: String) -> Roots { .systemAnd([.file(file)]) }
        /// Only the authorities in a PEM file.
        public static func only(file: String) -> Roots { .only([.file(file)]) }
    }

    /// A version of TLS.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2.
        case tls12
        /// TLS 1.3.
        case tls13
    }

    /// A certificate with which the client authenticates itself. Neither the key nor its passphrase is ever printed.
    public struct ClientCertificate: Sendable, Hashable {
        /// The client's certificate, and those that lead from it to an authority that the server trusts.
        public var chain: PEM
        /// The private key.
        public var key: PEM
        /// The passphrase of an encrypted key. The default is `nil`.
        public var passphrase: String?

        /// A certificate and its key.
        public init(chain: PEM, key: PEM, passphrase: String? = nil) {
            self.chain = chain
            self.key = key
            self.passphrase = passphrase
        }

        /// A certificate and its key, by the paths of their files.
        public init(chainFile: String, keyFile: String, passphrase: String? = nil) {
            self.init(chain: .file(chainFile), key: .file(keyFile), passphrase: passphrase)
        }
    }

    /// The authorities that are trusted. The default is the system's.
    public var roots: Roots
    /// The certificate to show to servers that ask for one. The default is none.
    public var clientCertificate: ClientCertificate?
    /// SHA-256 hashes of public keys (SubjectPublicKeyInfo), in base64, as in RFC 7469. If not empty, the key of the
    /// server's own certificate must be one of them, in addition to all other checks. The error for another key
    /// contains its pin, to be compared and pasted here.
    ///
    /// To compute the pin of a file: `openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der |
    /// openssl dgst -sha256 -binary | base64`.
    public var pinnedPublicKeys: [String]
    /// The lowest version that is accepted. The default is 1.2.
    public var minimumVersion: Version
    /// **Accepts any certificate, so anyone on the network path can read and change everything, passwords included.**
    /// For a development machine only; a better way is `roots = .only(file: "server.pem")`. The default is `false`.
    ///
    /// It skips these checks: that the certificate leads to a trusted authority, its dates, and that it is for the
    /// host. A host name must be one of the certificate's DNS names (subject alternative names), an address one of its
    /// addresses ([RFC 9525](https://www.rfc-editor.org/rfc/rfc9525)). The common name does not count, nor does the
    /// address that a name resolves to. A wildcard matches one whole label, the first, if at least two labels follow
    /// it, and no label that begins with "xn--". Names are compared twice, by NIOSSL and by this library; both must
    /// accept them, and NIOSSL accepts no name with an underscore.
    public var dangerouslySkipsVerification: Bool

    /// Options; each property documents its default.
    public init(
        roots: Roots = .system,
        clientCertificate: ClientCertificate? = nil,
        pinnedPublicKeys: [String] = [],
        minimumVersion: Version = .tls12,
        dangerouslySkipsVerification: Bool = false
    ) {
        self.roots = roots
        self.clientCertificate = clientCertificate
        self.pinnedPublicKeys = pinnedPublicKeys
        self.minimumVersion = minimumVersion
        self.dangerouslySkipsVerification = dangerouslySkipsVerification
    }
}

extension TLSOptions.PEM: CustomStringConvertible, CustomReflectable {
    /// The path of a file; only the size of a text, since it may be a key.
    public var description: String {
        switch self {
        case .file(let path): "file(\"\(path)\")"
        case .bytes(let bytes): "\(bytes.count) bytes"
        }
    }

    /// Shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["pem": description]) }
}

extension TLSOptions.ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// Shows nothing, since a key is a secret.
    public var description: String { "ClientCertificate" }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
