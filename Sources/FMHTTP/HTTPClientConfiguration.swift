package import NIOCore

/// Everything about an ``HTTPClient`` that can be chosen. Every part has a default that suits a service.
public struct HTTPClientConfiguration: Sendable {
    /// Where values and completions arrive.
    public enum Delivery: Sendable, Hashable {
        /// On a background thread, the values of one subscription one after the other. A subscriber that blocks stalls
        /// nobody else.
        case background
        /// On the connection's event loop, without a change of thread. A subscriber that blocks stalls every request on
        /// that loop: for those who need the last microseconds and promise not to.
        case eventLoop
    }

    /// Where plain HTTP may go.
    public enum PlainHTTP: Sendable, Hashable {
        /// To this machine only; a request to any other host fails.
        case loopbackOnly
        /// Anywhere. Everyone on the way can read and change all of it, passwords and tokens included.
        case anywhereUnencrypted
    }

    /// What happens to compressed bodies.
    public enum Decompression: Sendable, Hashable {
        /// The client asks for gzip and deflate and inflates while it streams. A body that grows to more than
        /// `maximumRatio` times its size on the wire fails with ``HTTPClientError/Code/decompressionFailed``, and one
        /// that grows beyond ``HTTPClientConfiguration/maximumBodyBytes`` with
        /// ``HTTPClientError/Code/responseTooLarge``.
        case enabled(maximumRatio: Int)
        /// The client does not ask, and hands on what comes as it is.
        case disabled

        /// Inflates, at most 500 times. Zeros alone would make about 1000.
        public static let enabled = Decompression.enabled(maximumRatio: 500)
    }

    /// Time limits of requests that bring none of their own.
    public var timeouts: HTTPTimeouts
    /// The most connections per origin; more requests than that wait. The default is 8.
    public var maximumConnectionsPerOrigin: Int
    /// How long an unused connection is kept. The default is 60 s. A shorter time that the server announces
    /// (`Keep-Alive: timeout=5`) is honoured.
    public var idleConnectionLifetime: Duration
    /// How long a connection may have rested to be taken for a request that must not be sent twice; after a longer rest the
    /// server may be closing it at this very moment, and nobody could tell what became of the request. The default is 2 s.
    ///
    /// Within that time the connection is looked at before such a request is written: one that the server has closed is not
    /// used. What remains is a server that closes while the request is on its way to it.
    public var maximumRestBeforeUnsafeRequest = Duration.seconds(2)
    /// The most bytes any response's body may have, after decompression. The default is no limit: a body that is
    /// streamed takes no memory.
    public var maximumBodyBytes: Int
    /// The most bytes of a response's status line and headers. The default is 64 KB.
    public var maximumHeadBytes: Int
    /// The most headers of a response. The default is 128.
    public var maximumHeaderCount: Int
    /// How encrypted connections are made and verified. The default is the system's roots and full verification.
    public var tls: TLSOptions
    /// Where values arrive. The default is ``Delivery/background``.
    public var delivery: Delivery
    /// Where plain HTTP may go; where it may not, a request fails with ``HTTPClientError/Code/insecureScheme``. The default is
    /// ``PlainHTTP/loopbackOnly``.
    public var plainHTTP: PlainHTTP
    /// What happens to compressed bodies. The default is to ask for them and to inflate; in a build without the package
    /// trait `Compression` it is always ``Decompression/disabled``.
    public var decompression: Decompression
    /// The proxy. The default is what the environment says; see ``ProxyOptions/environment``.
    public var proxy: ProxyOptions
    /// How names become addresses. Tests bring their own.
    package var lookUp: @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress] = HostResolver.system
    /// Whether a certificate with these names is for the host: our own check, which comes after that of NIOSSL. Tests bring one
    /// that is wrong.
    var nameCheck: PeerCheck.NameCheck = { host, names in HostIdentity(host: host).isAmong(names) }

    /// `nil` when bodies stay as they are.
    var maximumInflationRatio: Int? {
        switch decompression {
        case .enabled(let ratio) where Inflater.isAvailable: max(1, ratio)
        case .enabled, .disabled: nil
        }
    }

    /// A configuration; see the properties.
    public init(
        timeouts: HTTPTimeouts = HTTPTimeouts(),
        maximumConnectionsPerOrigin: Int = 8,
        idleConnectionLifetime: Duration = .seconds(60),
        maximumBodyBytes: Int = .max,
        maximumHeadBytes: Int = 64 * 1024,
        maximumHeaderCount: Int = 128,
        tls: TLSOptions = TLSOptions(),
        delivery: Delivery = .background,
        plainHTTP: PlainHTTP = .loopbackOnly,
        decompression: Decompression = .enabled,
        proxy: ProxyOptions = .environment
    ) {
        self.timeouts = timeouts
        self.maximumConnectionsPerOrigin = maximumConnectionsPerOrigin
        self.idleConnectionLifetime = idleConnectionLifetime
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumHeadBytes = maximumHeadBytes
        self.maximumHeaderCount = maximumHeaderCount
        self.tls = tls
        self.delivery = delivery
        self.plainHTTP = plainHTTP
        self.decompression = decompression
        self.proxy = proxy
    }
}
