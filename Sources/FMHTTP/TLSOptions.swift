/// How TLS connections are made and whom they trust.
public struct TLSOptions: Sendable, Hashable {
    /// Certificates in PEM, one or several.
    public enum Certificates: Sendable, Hashable {
        /// The path of a PEM file. Read when the first connection is made, and again for the next one if that failed.
        case file(String)
        /// The text of a PEM file.
        case pem([UInt8])
    }

    /// Which authorities are believed.
    public enum Trust: Sendable, Hashable {
        /// The system's authorities and these: the choice for a private authority beside the public ones.
        case system(and: [Certificates])
        /// These and no others: the choice where only one authority, or one self-signed certificate, is right.
        case only([Certificates])

        /// The system's authorities. The default.
        public static let system = Trust.system(and: [])
    }

    /// What is verified.
    public enum Verification: Sendable, Hashable {
        /// The chain of certificates, their dates, and that the server's certificate is for the host. The default.
        ///
        /// A host's name must be one of the certificate's DNS names (subject alternative names), an address one of its
        /// addresses ([RFC 9525](https://www.rfc-editor.org/rfc/rfc9525)). The common name does not count, nor does the
        /// address that a name leads to. A wildcard stands for one whole label, the first, with two or more behind it.
        case full
        /// **Nothing: anyone on the way can read and change everything, passwords included.** For development against
        /// a server with a certificate of its own; a better way is `trust = .only([.file("server.pem")])`.
        case noneInsecureForDevelopmentOnly
    }

    /// The lowest version of TLS.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2, the default.
        case tls12
        /// TLS 1.3.
        case tls13
    }

    /// A certificate that proves to the server who the client is.
    public struct Identity: Sendable, Hashable {
        /// The client's certificate and what leads from it to an authority the server knows.
        public var certificateChain: Certificates
        /// The private key in PEM.
        public var privateKey: Certificates
        /// The passphrase of an encrypted key.
        public var passphrase: String?

        /// An identity.
        public init(certificateChain: Certificates, privateKey: Certificates, passphrase: String? = nil) {
            self.certificateChain = certificateChain
            self.privateKey = privateKey
            self.passphrase = passphrase
        }
    }

    /// Which authorities are believed. The default is the system's.
    public var trust: Trust
    /// What is verified. The default is everything.
    public var verification: Verification
    /// Shown to servers that ask. The default is none.
    public var identity: Identity?
    /// The lowest version accepted. The default is 1.2.
    public var minimumVersion: Version
    /// When not empty, the server's key must be one of these: SHA-256 of its SubjectPublicKeyInfo in base64, as in
    /// RFC 7469 (`openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary |
    /// base64`). Checked in addition to ``verification``.
    public var pinnedKeys: Set<String>

    /// Options; see the properties.
    public init(
        trust: Trust = .system,
        verification: Verification = .full,
        identity: Identity? = nil,
        minimumVersion: Version = .tls12,
        pinnedKeys: Set<String> = []
    ) {
        self.trust = trust
        self.verification = verification
        self.identity = identity
        self.minimumVersion = minimumVersion
        self.pinnedKeys = pinnedKeys
    }
}

extension TLSOptions.Identity: CustomStringConvertible, CustomReflectable {
    /// Shows nothing: a key is a secret.
    public var description: String { "TLSOptions.Identity" }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
