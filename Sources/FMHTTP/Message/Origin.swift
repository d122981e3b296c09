/// Plain or encrypted HTTP.
public enum HTTPScheme: String, Hashable, Sendable {
    /// HTTP over plain TCP. The client accepts it for loopback hosts only, unless ``HTTPClientConfiguration/plainHTTP`` says
    /// otherwise.
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

/// Where a request goes: scheme, host and port. Connections are pooled by origin, and a connection never serves another
/// one ([RFC 9110 §4.3](https://www.rfc-editor.org/rfc/rfc9110#section-4.3)).
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
    /// Decided from the text alone, never by a look-up: what a resolver answers must not decide whether a password may
    /// travel unencrypted.
    public let isLoopback: Bool
    /// The value of the `Host` header (RFC 9110 §7.2).
    package let authority: String

    /// An origin.
    ///
    /// - Parameters:
    ///   - scheme: `https` unless there is a reason.
    ///   - host: A name or address; brackets around an IPv6 address are removed, letters become lower case.
    ///   - port: The scheme's default port when `nil`.
    public init(scheme: Scheme, host: String, port: Int? = nil) {
        self.scheme = scheme
        self.host = HostGrammar.normalized(host)
        self.port = port ?? scheme.defaultPort
        // Asked for with every request, so worked out once.
        isLoopback = HostGrammar.isLoopback(self.host)
        let bracketed = HostGrammar.bracketed(self.host)
        authority = self.port == scheme.defaultPort ? bracketed : "\(bracketed):\(self.port)"
    }

    /// Scheme, host and port as in a URL; the port only where it is not the default one.
    public var description: String { "\(scheme.rawValue)://\(authority)" }

    /// Host and port, always both: the target of a CONNECT request (RFC 9110 §9.3.6).
    package var hostAndPort: String { "\(HostGrammar.bracketed(host)):\(port)" }

    /// By scheme, host and port; the rest follows from them.
    public static func == (a: Origin, b: Origin) -> Bool {
        a.port == b.port && a.scheme == b.scheme && a.host == b.host
    }

    /// By host and port, which tell nearly all origins apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
    }
}
