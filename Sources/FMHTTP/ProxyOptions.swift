/// Whether requests go through a proxy.
public enum ProxyOptions: Sendable, Hashable {
    /// Directly.
    case none
    /// The proxy of the environment: `https_proxy` or `HTTPS_PROXY` for HTTPS, `http_proxy` for plain HTTP, `all_proxy`
    /// or `ALL_PROXY` for both; not for the hosts in `no_proxy` or `NO_PROXY`, and never for this machine. A value is
    /// `http://user:password@host:port`; the host alone is enough. Read when a connection is made. With any other
    /// value, such as a SOCKS proxy, the request fails with ``HTTPClientError/Code/unusableProxy``, since it was set so
    /// that connections do not bypass the proxy.
    case environment
    /// Through this proxy, except to this machine.
    case proxy(HTTPProxy)
}

/// A proxy that opens tunnels: CONNECT of [RFC 9110 §9.3.6](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6). Data
/// to an HTTPS origin is encrypted from end to end inside the tunnel; the proxy sees host and port only.
public struct HTTPProxy: Sendable, Hashable {
    /// A name or an address.
    public var host: String
    /// The TCP port.
    public var port: Int
    /// The credentials for basic authorization (RFC 7617); sent to the proxy only.
    public var credentials: Credentials?

    /// User and password. Never printed.
    public struct Credentials: Sendable, Hashable {
        /// The user; must not contain a colon.
        public var user: String
        /// The password.
        public var password: String

        /// User and password.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// A proxy. The default port is 8080.
    public init(host: String, port: Int = 8080, credentials: Credentials? = nil) {
        self.host = host
        self.port = port
        self.credentials = credentials
    }
}

extension HTTPProxy.Credentials: CustomStringConvertible, CustomReflectable {
    /// Shows nothing.
    public var description: String { "Credentials" }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
