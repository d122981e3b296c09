internal import NIOCore

/// How long the parts of a request may take. Each limit has an error of its own; `nil` means no limit.
public struct HTTPTimeouts: Sendable, Hashable {
    /// For a connection to become free, while all are busy. The default is 60 s. Error:
    /// ``HTTPClientError/Code/queueTimeout``, with the reason of the last failed attempt to connect if there is one.
    ///
    /// When connections cannot even be made and none is busy, nobody waits for this: the error of the attempt comes at once.
    public var queue: Duration?
    /// To have a connection where one has to be made: look-up, TCP, proxy and TLS together. The default is 10 s. A server that
    /// refuses the connection is told at once. Error: ``HTTPClientError/Code/connectTimeout``.
    ///
    /// Attempts to connect are shared by all who wait, so each may take what the client's configuration allows, and longer when
    /// the request that causes it may. A request that has another limit than the configuration gives up when that is over,
    /// whether it waits for an attempt or for a connection that is busy.
    public var connect: Duration?
    /// From the end of the request to the first byte of the response: a server may have much to search, or a long script to run.
    /// The default is 120 s. Error: ``HTTPClientError/Code/firstByteTimeout``.
    public var firstByte: Duration?
    /// Without a byte in either direction while one is expected: while a body is sent, or while one is received that the
    /// subscriber asks for. The default is 60 s. Error: ``HTTPClientError/Code/idleTimeout``.
    public var idle: Duration?
    /// How many bytes of the response's body have to come in each second, on average from its beginning, while the subscriber
    /// asks for them; as they are sent, before decompression. Begins to count after twice the time of ``idle``, and not at
    /// all without it. The default is 1,000; `nil` and 0 are no limit. Error: ``HTTPClientError/Code/tooSlow``.
    ///
    /// It is what ends a response of one byte every now and then, to which no other limit applies: with the defaults a
    /// response of n bytes ends within n / 1,000 + 120 seconds after its head, or fails. A body of any size may come
    /// for as long as it takes, if it comes faster.
    public var minimumRate: Int?
    /// The whole, from the first demand to the end of the response, waiting and second attempts included, without the time in
    /// which the subscriber asks for nothing. The default is none. Error: ``HTTPClientError/Code/totalTimeout``.
    public var total: Duration?

    /// Time limits; each property says its own default.
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

/// The limits that matter once a connection is there, in the unit of event loops.
struct ExchangeLimits: Sendable, Equatable {
    /// Of the attempt to connect that the request causes, if any.
    var connect: TimeAmount? = nil
    var firstByte: TimeAmount?
    var idle: TimeAmount?
    /// Bytes per second.
    var minimumRate: Int? = nil
    /// The end of the request as a whole.
    var deadline: NIODeadline?
    var maximumBodyBytes: Int
}
