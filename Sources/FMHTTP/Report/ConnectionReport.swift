/// What is on the way to a host, step by step: its addresses, which of them take connections, and the certificates that
/// it shows.
///
/// It is a report and no verdict: **certificates are shown as they are, verified or not.** No request is sent for it.
public struct ConnectionReport: Sendable, Hashable {
    /// The name or address that connections are made to: that of the proxy if there is one, else that of the host.
    public var host: String
    /// The port of the same.
    public var port: Int
    /// Whether that is a proxy, through which the host is reached.
    public var isProxy: Bool
    /// How long the look-up of the name took; `nil` for an address and for `localhost`, which need none.
    public var lookUpTime: Duration?
    /// The addresses, those of IPv6 first, in the order in which a client tries them. Empty if none was found.
    public var addresses: [Address]
    /// What the host has shown in a TLS handshake; `nil` for plain HTTP, and if none was completed.
    public var tls: TLS?
    /// The reason why the way ends before a request could be sent: the proxy's settings, the look-up, the connection,
    /// the proxy's tunnel or the handshake. `nil` if it leads to the host.
    public var failure: HTTPClientError?

    /// Creates a report, for tests and doubles.
    public init(
        host: String,
        port: Int,
        isProxy: Bool = false,
        lookUpTime: Duration? = nil,
        addresses: [Address] = [],
        tls: TLS? = nil,
        failure: HTTPClientError? = nil
    ) {
        self.host = host
        self.port = port
        self.isProxy = isProxy
        self.lookUpTime = lookUpTime
        self.addresses = addresses
        self.tls = tls
        self.failure = failure
    }

    /// An address, and whether it takes connections.
    public struct Address: Sendable, Hashable {
        /// The address, as in `192.0.2.17` or `2001:db8::17`.
        public var text: String
        /// How long it took to connect, or to learn that this is not possible.
        public var time: Duration
        /// Why no connection could be made; `nil` if one was made. An address that says nothing at all has the code
        /// `connectTimeout`.
        public var failure: HTTPClientError?

        /// Whether it is an address of IPv6.
        public var isIPv6: Bool { text.contains(":") }

        /// Creates an address, for tests and doubles.
        public init(text: String, time: Duration, failure: HTTPClientError? = nil) {
            self.text = text
            self.time = time
            self.failure = failure
        }
    }

    /// A TLS handshake in which nothing was verified. It offers more than the handshakes of requests: old versions of
    /// TLS, so that the report can say that a host has no other, and HTTP/2.
    public struct TLS: Sendable, Hashable {
        /// The version that was agreed on, as in `TLS 1.3`.
        public var version: String
        /// The protocol that the host has chosen, `h2` or `http/1.1`; `nil` if it chooses none. Requests ask for
        /// HTTP/1.1 alone.
        public var applicationProtocol: String?
        /// The certificates that the host has shown, its own first.
        public var certificates: [Certificate]
        /// How long the handshake took, after the connection was made; through a proxy with the opening of the tunnel.
        public var time: Duration

        /// Creates a handshake, for tests and doubles.
        public init(
            version: String,
            applicationProtocol: String? = nil,
            certificates: [Certificate],
            time: Duration
        ) {
            self.version = version
            self.applicationProtocol = applicationProtocol
            self.certificates = certificates
            self.time = time
        }
    }

    /// A certificate, as a host has shown it. The texts are the host's own; they are shown shortened and without
    /// control characters.
    public struct Certificate: Sendable, Hashable {
        /// The host names and addresses that it is for (subject alternative names).
        public var names: [String]
        /// Whom it is for: the parts of the name, separated by commas.
        public var subject: String
        /// Who has signed it: the parts of the name, separated by commas.
        public var issuer: String
        /// The first second in which it is valid, since 1970.
        package var notBefore: Int
        /// The last second in which it is valid, since 1970.
        package var notAfter: Int
        /// The SHA-256 hash of the certificate, as programs for certificates print it: `A8:0F:…`.
        public var fingerprint: String
        /// The certificate in PEM.
        public var pem: String

        /// Whether it is signed with its own key, as those of authorities are.
        public var isSelfSigned: Bool { subject == issuer }

        package init(
            names: [String],
            subject: String,
            issuer: String,
            notBefore: Int,
            notAfter: Int,
            fingerprint: String = "",
            pem: String = ""
        ) {
            self.names = names
            self.subject = subject
            self.issuer = issuer
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.fingerprint = fingerprint
            self.pem = pem
        }
    }
}
