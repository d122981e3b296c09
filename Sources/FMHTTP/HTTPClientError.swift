/// The reason why a request has no complete response. The only failure type of ``HTTPClient``.
///
/// ``code`` names the failure, ``outcome`` whether the server may have acted on the request. The description has the
/// origin and the cause; it never contains a header value, a query or a byte of a body.
public struct HTTPClientError: Error, Sendable, Hashable {
    /// What the client knows about the effect of the request on the server.
    public enum Outcome: Hashable, Sendable {
        /// No byte of the request reached the server: it has not acted, and sending again is safe.
        case notSent
        /// The request was sent, at least in part, and no answer came: the server may or may not have acted.
        case unknown
        /// The server answered, but the response did not arrive completely or the client rejected it.
        case answered
    }

    /// What went wrong.
    public let code: Code
    /// Whether the server may have acted on the request.
    public let outcome: Outcome
    /// The origin of the request.
    public let origin: Origin?
    /// The cause in words (of the system, the resolver, the certificate), if there is one. It contains no path of the
    /// machine on which this library was built, and of files only those that the configuration names.
    public let underlying: String?
    /// For a closed connection: whether no response has ever come from the origin on any connection of this client.
    /// Then the port may belong to another service.
    public let isFirstContact: Bool

    /// An error, for tests and test doubles.
    public init(
        code: Code,
        outcome: Outcome,
        origin: Origin? = nil,
        underlying: String? = nil,
        isFirstContact: Bool = false
    ) {
        self.code = code
        self.outcome = outcome
        self.origin = origin
        self.underlying = underlying
        self.isFirstContact = isFirstContact
    }

    init(_ code: Code, _ outcome: Outcome, origin: Origin?, detail: String? = nil, isFirstContact: Bool = false) {
        self.init(code: code, outcome: outcome, origin: origin, underlying: detail, isFirstContact: isFirstContact)
    }
}

extension HTTPClientError {
    /// A kind of failure. More may be added: compare with `==` and handle unknown ones.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let name: String
        private let text: String

        private init(_ name: String, _ text: String) {
            self.name = name
            self.text = text
        }

        /// The name of the constant.
        public var description: String { name }

        var explanation: String { text }

        /// Two codes are equal when their names are.
        public static func == (a: Code, b: Code) -> Bool { a.name == b.name }
        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        // MARK: Before a connection

        /// The request cannot be written as HTTP: a control character, an invalid name, an unencoded target.
        public static let invalidRequest = Code("invalidRequest", "the request is not valid HTTP")
        /// Plain HTTP to a host that is not this machine; see ``HTTPClientConfiguration/plainHTTP``.
        public static let insecureScheme = Code("insecureScheme", "plain HTTP is allowed for loopback hosts only")
        /// The client was shut down.
        public static let shutdown = Code("shutdown", "the client was shut down")
        /// No connection became free in time; see ``HTTPTimeouts/queue``.
        public static let queueTimeout = Code("queueTimeout", "no connection became free in time")

        // MARK: Connecting

        /// The host's name has no address.
        public static let unknownHost = Code("unknownHost", "the host is not known")
        /// The server (or a firewall) refused the connection. Reported as soon as it happens; see ``HTTPClient``.
        public static let connectionRefused = Code("connectionRefused", "the connection was refused")
        /// The connection failed in another way: no route, network down.
        public static let connectFailed = Code("connectFailed", "no connection could be made")
        /// No connection was ready in time; see ``HTTPTimeouts/connect``.
        public static let connectTimeout = Code("connectTimeout", "the connection was not ready in time")
        /// The TLS options cannot be used: an unreadable file, a key that does not fit.
        public static let invalidTLSOptions = Code("invalidTLSOptions", "the TLS options cannot be used")
        /// The TLS handshake failed for a reason other than the certificate.
        public static let tlsFailure = Code("tlsFailure", "the TLS handshake failed")
        /// An `https` request found a server that answers in plain HTTP on that port.
        public static let plainHTTPServer = Code(
            "plainHTTPServer",
            "the server speaks plain HTTP on this port, not HTTPS"
        )
        /// An `http` request found a server that answers in TLS on that port.
        public static let tlsServer = Code("tlsServer", "the server speaks HTTPS on this port, not plain HTTP")
        /// The server's certificate is self-signed or comes from an authority that is not trusted; see
        /// ``TLSOptions/roots``.
        public static let certificateUntrusted = Code(
            "certificateUntrusted",
            "no trusted authority stands behind the server's certificate"
        )
        /// The server's certificate has expired.
        public static let certificateExpired = Code("certificateExpired", "the server's certificate has expired")
        /// The server's certificate becomes valid later, by this machine's clock.
        public static let certificateNotYetValid = Code(
            "certificateNotYetValid",
            "the server's certificate is not valid yet"
        )
        /// The server's certificate does not name the requested host.
        public static let certificateNameMismatch = Code(
            "certificateNameMismatch",
            "the server's certificate is for another name"
        )
        /// The server's certificate was rejected for another reason.
        public static let certificateInvalid = Code("certificateInvalid", "the server's certificate was not accepted")
        /// The server's public key is not among the pinned ones; ``underlying`` has its pin.
        public static let certificatePinMismatch = Code("certificatePinMismatch", "the server's key is not pinned")
        /// The environment names a proxy of an unsupported kind, such as SOCKS; see ``ProxyOptions/environment``. The
        /// request was not sent without it.
        public static let unusableProxy = Code("unusableProxy", "the proxy of the environment cannot be used")
        /// The proxy did not answer CONNECT with success.
        public static let proxyFailure = Code("proxyFailure", "the proxy did not open a tunnel")
        /// The proxy requires credentials or rejected them: 407.
        public static let proxyAuthenticationRequired = Code(
            "proxyAuthenticationRequired",
            "the proxy wants credentials"
        )

        // MARK: Exchanging

        /// The server closed or reset the connection before its answer began.
        public static let connectionClosed = Code("connectionClosed", "the connection was closed before an answer")
        /// No byte of an answer arrived in time; see ``HTTPTimeouts/firstByte``.
        public static let firstByteTimeout = Code("firstByteTimeout", "no answer came in time")
        /// No byte was sent or received in time; see ``HTTPTimeouts/idle``.
        public static let idleTimeout = Code("idleTimeout", "nothing moved in time")
        /// The body arrived more slowly than allowed; see ``HTTPTimeouts/minimumRate``.
        public static let tooSlow = Code("tooSlow", "the response came too slowly")
        /// The request as a whole took too long; see ``HTTPTimeouts/total``.
        public static let totalTimeout = Code("totalTimeout", "the request was not done in time")
        /// The stream of the request's body failed.
        public static let bodyFailed = Code("bodyFailed", "the stream of the request's body failed")
        /// The stream of the request's body had more or fewer bytes than announced.
        public static let bodyLengthMismatch = Code(
            "bodyLengthMismatch",
            "the request's body is not as long as announced"
        )
        /// The response is not HTTP/1.1.
        public static let malformedResponse = Code("malformedResponse", "the response is not valid HTTP")
        /// The response's head is larger than allowed, in bytes or headers.
        public static let headTooLarge = Code("headTooLarge", "the head of the response is too large")
        /// The response's body is larger than allowed.
        public static let responseTooLarge = Code("responseTooLarge", "the body of the response is too large")
        /// The connection ended in the middle of the response.
        public static let truncatedBody = Code("truncatedBody", "the response was cut off")
        /// The response's body could not be decompressed.
        public static let decompressionFailed = Code("decompressionFailed", "the body could not be decompressed")
    }
}

extension HTTPClientError: CustomStringConvertible {
    /// What failed, for which origin, and why.
    public var description: String {
        var text = code.explanation
        if let origin { text += " (\(origin))" }
        if let underlying { text += ": \(underlying)" }
        return text
    }
}
