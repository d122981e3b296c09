internal import NIOCore

/// Time limits for the phases of a request. Each limit has an error of its own; `nil` means no limit.
public struct HTTPTimeouts: Sendable, Hashable {
    /// The wait for a connection while all are busy. The default is 60 s. Error: ``HTTPClientError/Code/queueTimeout``,
    /// with the reason of the last failed attempt to connect if there is one.
    ///
    /// It does not apply when connections cannot be made and none is busy: the request fails with the attempt's error
    /// at once.
    public var queue: Duration?
    /// The time until a new connection is ready: look-up, TCP, proxy and TLS together. The default is 10 s. A refused
    /// connection is reported at once. Error: ``HTTPClientError/Code/connectTimeout``.
    ///
    /// Waiting requests share the attempts to connect, so each attempt has the limit of the client's configuration, or
    /// the limit of the request that causes it if that is longer. A request with another limit than the configuration's
    /// fails after its own limit, whether it waits for an attempt or for a busy connection.
    public var connect: Duration?
    /// The time from the end of the request to the first byte of the response: a server may have much to search, or a
    /// long script to run. The default is 120 s. Error: ``HTTPClientError/Code/firstByteTimeout``.
    public var firstByte: Duration?
    /// The time without a byte in either direction while one is expected: while a body is sent, or while one is
    /// received for which the subscriber has demand. The default is 60 s. Error: ``HTTPClientError/Code/idleTimeout``.
    public var idle: Duration?
    /// The bytes of the response's body that must arrive per second, on average since its beginning, while the
    /// subscriber has demand; counted as they are sent, before decompression. It applies after twice the time of
    /// ``idle``, and not at all if that is `nil`. The default is 1,000; `nil` and 0 are no limit. Error:
    /// ``HTTPClientError/Code/tooSlow``.
    ///
    /// It ends a response of one byte every now and then, to which no other limit applies: with the defaults a response
    /// of n bytes ends within n / 1,000 + 120 seconds after its head, or fails. A faster body may have any size and
    /// take any time.
    public var minimumRate: Int?
    /// The whole time from the first demand to the end of the response, including waits and second attempts, without
    /// the time in which the subscriber has no demand. The default is none. Error:
    /// ``HTTPClientError/Code/totalTimeout``.
    public var total: Duration?

    /// Time limits; each property documents its default.
    public init(
        queue: Duration? = .seconds(60),
        connect: Duration? = .seconds(10),
        firstByte: Duration? = .seconds(120),
        idle: Duration? = .seconds(60),
        minimumRate: Int? = 1000,
        total: Duration? = nil
    ) {
        self.queue = queue
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.minimumRate = minimumRate
        self.total = total
    }
}

/// The limits of a running exchange, in the unit of event loops.
struct ExchangeLimits: Sendable, Equatable {
    /// The limit of the attempt to connect that the request causes, if any.
    var connect: TimeAmount? = nil
    var firstByte: TimeAmount?
    var idle: TimeAmount?
    /// Bytes per second.
    var minimumRate: Int? = nil
    /// The end of the request as a whole.
    var deadline: NIODeadline?
    var maximumBodyBytes: Int
}
