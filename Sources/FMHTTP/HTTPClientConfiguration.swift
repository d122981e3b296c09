package import NIOCore

/// The settings of an ``HTTPClient``. Every setting has a default that suits a service.
public struct HTTPClientConfiguration: Sendable {
    /// The threads on which values and completions arrive.
    public enum Delivery: Sendable, Hashable {
        /// On a background thread, the values of one subscription one after the other. A subscriber that blocks delays
        /// no other subscription.
        case background
        /// On the connection's event loop, without a change of thread. A subscriber that blocks delays every request on
        /// that loop: use it only if the last microseconds matter and subscribers never block.
        case eventLoop
    }

    /// The hosts that may be reached by plain HTTP.
    public enum PlainHTTP: Sendable, Hashable {
        /// To this machine only; a request to any other host fails.
        case loopbackOnly
        /// Any host. Anyone on the network path can read and change all of it, passwords and tokens included.
        case anywhereUnencrypted
    }

    /// Whether compressed bodies are requested and inflated.
    public enum Decompression: Sendable, Hashable {
        /// The client asks for gzip and deflate and inflates while it streams. A body that grows to more than
        /// `maximumRatio` times its size on the wire fails with ``HTTPClientError/Code/decompressionFailed``, and one
        /// that grows beyond ``HTTPClientConfiguration/maximumBodyBytes`` with
        /// ``HTTPClientError/Code/responseTooLarge``.
        case enabled(maximumRatio: Int)
        /// The client does not ask for compression, and publishes bodies as they arrive.
        case disabled

        /// Enabled, with bodies of at most 500 times their size on the wire. A body of zeros reaches a ratio of about
        /// 1000.
        public static let enabled = Decompression.enabled(maximumRatio: 500)
    }

    /// Time limits of requests that have none of their own.
    public var timeouts = HTTPTimeouts()
    /// The most connections per origin; more requests than that wait. The default is 8.
    public var maximumConnectionsPerOrigin = 8
    /// How long an unused connection is kept. The default is 60 s. A shorter time that the server announces
    /// (`Keep-Alive: timeout=5`) is honoured.
    public var idleConnectionLifetime: Duration = .seconds(60)
    /// How long a connection may have been idle to be used for a request that must not be sent twice. After a longer
    /// time the server may just be closing it, and the outcome of the request would be unknown. The default is 2 s.
    ///
    /// Within that time the connection is checked before such a request is written: one that the server has closed is
    /// not used. The remaining risk is a server that closes while the request is on its way.
    public var maximumRestBeforeUnsafeRequest = Duration.seconds(2)
    /// The most bytes any response's body may have, after decompression. The default is no limit: a body that is
    /// streamed takes no memory.
    public var maximumBodyBytes: Int = .max
    /// The most bytes of a response's status line and headers. The default is 64 KB.
    public var maximumHeadBytes = 64 * 1024
    /// The most headers of a response. The default is 128.
    public var maximumHeaderCount = 128
    /// How encrypted connections are made and verified. The default is the system's roots and full verification.
    public var tls = TLSOptions()
    /// The threads on which values arrive. The default is ``Delivery/background``.
    public var delivery: Delivery = .background
    /// The hosts that may be reached by plain HTTP. A request to another fails with
    /// ``HTTPClientError/Code/insecureScheme``. The default is ``PlainHTTP/loopbackOnly``.
    public var plainHTTP: PlainHTTP = .loopbackOnly
    /// Whether compressed bodies are requested and inflated. The default is ``Decompression/enabled``; in a build
    /// without the package trait `Compression` it is always ``Decompression/disabled``.
    public var decompression: Decompression = .enabled
    /// The proxy. The default is to read the environment; see ``ProxyOptions/environment``.
    public var proxy: ProxyOptions = .environment
    /// Looks the addresses of a host up. Tests replace it.
    package var lookUp: @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress] = HostResolver.system
    /// Whether a certificate with these names is for the host: this library's own check, which follows NIOSSL's. Tests
    /// replace it with a wrong one.
    var nameCheck: PeerCheck.NameCheck = { host, names in HostIdentity(host: host).isAmong(names) }

    /// The present, in seconds since 1970, by which certificates are watched. Tests replace it.
    var wallClock: @Sendable () -> Int = PeerCertificate.now

    /// The largest ratio of decompression; `nil` when bodies are not decompressed.
    var maximumInflationRatio: Int? {
        switch decompression {
        case .enabled(let ratio) where Inflater.isAvailable: max(1, ratio)
        case .enabled, .disabled: nil
        }
    }

    /// Creates a configuration with the defaults.
    public init() {}
}
