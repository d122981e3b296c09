/// What is on the way to a host, step by step: its addresses, which of them take connections, and the certificates that
/// it shows. `fmdata doctor` makes its findings of it.
///
/// It is a report and no verdict: **certificates are shown as they are, verified or not.** No request is sent for it.
package struct ConnectionReport: Sendable, Hashable {
    /// The name or address that connections are made to: that of the proxy if there is one, else that of the host.
    package var host: String
    /// The port of the same.
    package var port: Int
    /// Whether that is a proxy, through which the host is reached.
    package var isProxy: Bool
    /// How long the look-up of the name took; `nil` for an address and for `localhost`, which need none.
    package var lookUpTime: Duration?
    /// The addresses, those of IPv6 first, in the order in which a client tries them. Empty if none was found.
    package var addresses: [Address]
    /// What the host has shown in a TLS handshake; `nil` for plain HTTP, and if none was completed.
    package var tls: TLS?
    /// The reason why the way ends before a request could be sent: the proxy's settings, the look-up, the connection,
    /// the proxy's tunnel or the handshake. `nil` if it leads to the host.
    package var failure: HTTPClientError?

    /// Creates a report.
    package init(
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
    package struct Address: Sendable, Hashable {
        /// The address, as in `192.0.2.17` or `2001:db8::17`.
        package var text: String
        /// How long it took to connect, or to learn that this is not possible.
        package var time: Duration
        /// Why no connection could be made; `nil` if one was made. An address that says nothing at all has the code
        /// `connectTimeout`.
        package var failure: HTTPClientError?

        /// Whether it is an address of IPv6.
        package var isIPv6: Bool { text.contains(":") }

        /// Creates an address.
        package init(text: String, time: Duration, failure: HTTPClientError? = nil) {
            self.text = text
            self.time = time
            self.failure = failure
        }
    }

    /// A TLS handshake in which nothing was verified. It offers more than the handshakes of requests: old versions of
    /// TLS, so that the report can say that a host has no other, and HTTP/2.
    package struct TLS: Sendable, Hashable {
        /// The version that was agreed on, as in `TLS 1.3`.
        package var version: String
        /// The protocol that the host has chosen, `h2` or `http/1.1`; `nil` if it chooses none. Requests ask for
        /// HTTP/1.1 alone.
        package var applicationProtocol: String?
        /// The certificates that the host has shown, its own first.
        package var certificates: [Certificate]
        /// How long the handshake took, after the connection was made; through a proxy with the opening of the tunnel.
        package var time: Duration

        /// Creates a handshake.
        package init(
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
    package struct Certificate: Sendable, Hashable {
        /// The host names and addresses that it is for (subject alternative names).
        package var names: [String]
        /// Whom it is for: the parts of the name, separated by commas.
        package var subject: String
        /// Who has signed it: the parts of the name, separated by commas.
        package var issuer: String
        /// The first second in which it is valid, since 1970.
        package var notBefore: Int
        /// The last second in which it is valid, since 1970.
        package var notAfter: Int
        /// The SHA-256 hash of the certificate, as programs for certificates print it: `A8:0F:…`.
        package var fingerprint: String
        /// The certificate in PEM.
        package var pem: String

        /// Whether it is signed with its own key, as those of authorities are.
        package var isSelfSigned: Bool { subject == issuer }

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
