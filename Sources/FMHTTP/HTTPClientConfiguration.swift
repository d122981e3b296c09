/// Everything about an ``HTTPClient`` that can be chosen. Every part has a default that suits a service.
public struct HTTPClientConfiguration: Sendable {
    /// Where values and completions arrive.
    public enum Delivery: Sendable, Hashable {
        /// On background threads, one after the other for one subscription. A subscriber may block; it stalls nobody.
        case background
        /// On the event loop of the connection, which saves the change of threads. A subscriber must never block there:
        /// it would stall every request of that loop.
        case eventLoop
    }

    /// Where plain HTTP may go.
    public enum PlainHTTP: Sendable, Hashable {
        /// To this machine only; to others the request fails with ``HTTPClientError/Code/insecureScheme``.
        case loopbackOnly
        /// Anywhere: passwords and tokens then travel readable for everyone on the way.
        case anywhere
    }

    /// Time limits of requests that bring none of their own.
    public var timeouts: HTTPTimeouts
    /// The most connections per origin; more requests than that wait. The default is 8.
    public var maximumConnectionsPerOrigin: Int
    /// How long an unused connection is kept. The default is 60 s. A shorter time that the server announces
    /// (`Keep-Alive: timeout=5`) is honoured.
    public var idleConnectionLifetime: Duration
    /// The most bytes any response's body may have, after decompression. The default is no limit: a body that is
    /// streamed takes no memory.
    public var maximumBodyBytes: Int
    /// The most bytes that ``HTTPClient/response(_:upTo:)`` collects when it is told nothing else. The default is
    /// 256 MB.
    public var maximumCollectedBytes: Int
    /// The most bytes of a response's status line and headers. The default is 64 KB.
    public var maximumHeadBytes: Int
    /// The most headers of a response. The default is 128.
    public var maximumHeaderCount: Int
    /// How encrypted connections are made and verified. The default is the system's roots and full verification.
    public var tls: TLSOptions
    /// Where values arrive. The default is ``Delivery/background``.
    public var delivery: Delivery
    /// Where plain HTTP may go. The default is ``PlainHTTP/loopbackOnly``.
    public var allowsPlainHTTP: PlainHTTP

    /// A configuration; see the properties.
    public init(
        timeouts: HTTPTimeouts = HTTPTimeouts(),
        maximumConnectionsPerOrigin: Int = 8,
        idleConnectionLifetime: Duration = .seconds(60),
        maximumBodyBytes: Int = .max,
        maximumCollectedBytes: Int = 256 * 1024 * 1024,
        maximumHeadBytes: Int = 64 * 1024,
        maximumHeaderCount: Int = 128,
        tls: TLSOptions = TLSOptions(),
        delivery: Delivery = .background,
        allowsPlainHTTP: PlainHTTP = .loopbackOnly
    ) {
        self.timeouts = timeouts
        self.maximumConnectionsPerOrigin = maximumConnectionsPerOrigin
        self.idleConnectionLifetime = idleConnectionLifetime
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumCollectedBytes = maximumCollectedBytes
        self.maximumHeadBytes = maximumHeadBytes
        self.maximumHeaderCount = maximumHeaderCount
        self.tls = tls
        self.delivery = delivery
        self.allowsPlainHTTP = allowsPlainHTTP
    }
}
