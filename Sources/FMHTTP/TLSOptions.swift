/// How TLS connections are made and whom they trust. The default verifies the certificate and the host's name against the
/// authorities of the system.
public struct TLSOptions: Sendable, Hashable {
    /// Certificates, one or several, or a private key, in PEM.
    public enum PEM: Sendable, Hashable {
        /// The path of a file. A relative one counts from the working directory. Read when the first connection is made, and
        /// again for the next one if that failed.
        case file(String)
        /// The text of such a file.
        case bytes([UInt8])
    }

    /// Which authorities are trusted.
    public enum Roots: Sendable, Hashable {
        /// Those of the system.
        case system
        /// Those of the system and these: the choice for a private authority beside the public ones.
        case systemAnd([PEM])
        /// These and no others: the choice where only one authority, or one self-signed certificate, is right.
        case only([PEM])

        /// Those of the system and those in a PEM file.
        public static func systemAnd(file: String) -> Roots { .systemAnd([.file(file)]) }
        /// Only those in a PEM file.
        public static func only(file: String) -> Roots { .only([.file(file)]) }
    }

    /// A version of TLS.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2.
        case tls12
        /// TLS 1.3.
        case tls13
    }

    /// A certificate by which the client proves who it is. Neither the key nor its passphrase is ever printed.
    public struct ClientCertificate: Sendable, Hashable {
        /// The client's certificate, and those that lead from it to an authority that the server knows.
        public var chain: PEM
        /// The private key.
        public var key: PEM
        /// The passphrase of a key that is encrypted.
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

    /// Which authorities are trusted. The default is the system's.
    public var roots: Roots
    /// Shown to servers that ask for one. The default is none.
    public var clientCertificate: ClientCertificate?
    /// SHA-256 hashes of public keys (SubjectPublicKeyInfo), in base64, as in RFC 7469. When not empty, the key of the server's
    /// own certificate must be one of them, beside all other checks. The error for one that is not names its pin, to be compared
    /// and pasted here.
    ///
    /// For a file: `openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary
    /// | base64`.
    public var pinnedPublicKeys: [String]
    /// The lowest version that is accepted. The default is 1.2.
    public var minimumVersion: Version
    /// **Accepts any certificate, and with it anybody who stands between, who can then read and change everything, passwords
    /// included.** For a development machine only; a better way is `roots = .only(file: "server.pem")`. The default is `false`.
    ///
    /// What is skipped otherwise: that the certificate leads to a trusted authority, its dates, and that it is for the host. A
    /// host's name must be one of the certificate's DNS names (subject alternative names), an address one of its addresses
    /// ([RFC 9525](https://www.rfc-editor.org/rfc/rfc9525)). The common name does not count, nor does the address that a name
    /// leads to. A wildcard stands for one whole label, the first, with two or more behind it, and for none that begins with
    /// "xn--". Names are compared twice, by NIOSSL and by this library; both have to accept them, and NIOSSL accepts none with an
    /// underscore.
    public var dangerouslySkipsVerification: Bool

    /// Options; each property says its own default.
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
    /// The path of the file; of a text only its size, since it may be a key.
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
    /// Shows nothing: a key is a secret.
    public var description: String { "ClientCertificate" }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
