/// Plain or encrypted HTTP.
public enum HTTPScheme: String, Hashable, Sendable {
    /// HTTP over plain TCP. The client accepts it for loopback hosts only, unless ``HTTPClientConfiguration/plainHTTP``
    /// allows more.
    case http
    /// HTTP over TLS.
    case https

    /// 80 or 443.
    public var defaultPort: Int {
        switch self {
        case .http: 80
        case .https: 443
        }
    }
}

/// The destination of a request: scheme, host and port. Connections are pooled by origin, and a connection never serves
/// another origin ([RFC 9110 §4.3](https://www.rfc-editor.org/rfc/rfc9110#section-4.3)).
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// Plain or encrypted HTTP.
    public typealias Scheme = HTTPScheme

    /// Plain or encrypted.
    public let scheme: Scheme
    /// A name or an IP address in lower case. IPv6 addresses are kept without brackets.
    public let host: String
    /// The TCP port.
    public let port: Int
    /// Whether the host can only be this machine: `localhost` (and names below it), `127.0.0.0/8` or `::1`.
    ///
    /// Decided from the text alone, never by a look-up: a resolver's answer must not decide whether a password may be
    /// sent unencrypted.
    public let isLoopback: Bool
    /// The value of the `Host` header (RFC 9110 §7.2).
    package let authority: String

    /// An origin.
    ///
    /// - Parameters:
    ///   - scheme: Plain or encrypted HTTP; use `https` unless there is a reason not to.
    ///   - host: A name or address; brackets around an IPv6 address are removed, letters become lower case.
    ///   - port: The scheme's default port when `nil`.
    public init(scheme: Scheme, host: String, port: Int? = nil) {
        self.scheme = scheme
        self.host = HostGrammar.normalized(host)
        self.port = port ?? scheme.defaultPort
        // Needed with every request, so computed once.
        isLoopback = HostGrammar.isLoopback(self.host)
        let bracketed = HostGrammar.bracketed(self.host)
        authority = self.port == scheme.defaultPort ? bracketed : "\(bracketed):\(self.port)"
    }

    /// Scheme, host and port as in a URL; the port only if it is not the default one.
    public var description: String { "\(scheme.rawValue)://\(authority)" }

    /// Host and port, both always: the target of a CONNECT request (RFC 9110 §9.3.6).
    package var hostAndPort: String { "\(HostGrammar.bracketed(host)):\(port)" }

    /// Compares scheme, host and port; the rest follows from them.
    public static func == (a: Origin, b: Origin) -> Bool {
        a.port == b.port && a.scheme == b.scheme && a.host == b.host
    }

    /// Hashes host and port, which distinguish nearly all origins.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
    }
}
