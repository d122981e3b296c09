public import Logging
public import NIOCore
public import NIOPosix
public import OpenCombine

/// An HTTP/1.1 client whose requests are publishers.
///
///     let client = HTTPClient()
///     let request = HTTPRequest(
///         origin: Origin(scheme: .https, host: "fms.example.com"), target: "/fmi/data/vLatest/productInfo")
///     let done = client.parts(request)
///         .sink { completion in … } receiveValue: { part in … }
///
/// Connections are kept and reused, per origin. A client may be shared by any number of threads and is best kept for
/// the life of a program. A client that is deallocated closes its connections when its last request has ended;
/// ``shutdown(grace:)->()`` waits for that.
///
/// **Sent once.** A request that may change something (``HTTPRequest/isSafeToRepeat`` is `false`) is never sent a
/// second time once a byte of it may have reached the server; the error's ``HTTPClientError/outcome`` says what is
/// known. Redirects are not followed: a 3xx is a response like any other.
///
/// **A server that is down** is reported at once: every request that waits for a connection fails with the reason of
/// the failed attempt (such as ``HTTPClientError/Code/connectionRefused``), as soon as no connection is left that could
/// serve it. The next request tries again immediately. Only after a second failure in a row do requests wait before
/// they try, 100 ms at first and never more than a second, so that a thousand requests do not cause a thousand
/// attempts.
public final class HTTPClient: Sendable {
    let configuration: HTTPClientConfiguration
    let runtime: Runtime
    private let logger: Logger?
    private let pools: ConnectionPools
    let crew: DeliveryCrew

    /// Makes a client. It does nothing before the first request.
    ///
    /// - Parameters:
    ///   - configuration: Limits, TLS, delivery.
    ///   - eventLoopGroup: The loops that serve the connections. The default is NIO's shared group. The client never
    ///     shuts it down.
    ///   - logger: Receives one line per attempt and one per request at `trace`, without paths, headers, queries or
    ///     bodies, and a notice when a server's certificate is about to expire. The default is none.
    public convenience init(
        configuration: HTTPClientConfiguration = HTTPClientConfiguration(),
        eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        logger: Logger? = nil
    ) {
        self.init(configuration: configuration, runtime: Runtime(eventLoopGroup: eventLoopGroup), logger: logger)
    }

    package init(configuration: HTTPClientConfiguration, runtime: Runtime, logger: Logger? = nil) {
        self.configuration = configuration
        self.runtime = runtime
        self.logger = logger
        let factory = ConnectionFactory(configuration, open: runtime.open, logger: logger)
        let settings = PoolStateMachine.Settings(
            maximumConnections: max(1, configuration.maximumConnectionsPerOrigin),
            idleLifetime: TimeAmount(clamping: configuration.idleConnectionLifetime),
            recentReuse: TimeAmount(clamping: configuration.maximumRestBeforeUnsafeRequest)
        )
        pools = ConnectionPools { origin in
            ConnectionPool(origin: origin, settings: settings, factory: factory, runtime: runtime)
        }
        crew = DeliveryCrew(eventLoopGroup: runtime.eventLoopGroup)
    }

    deinit {
        pools.forget()
    }

    /// A loop of the client's group, for timers of the layers above.
    package var eventLoop: any EventLoop { runtime.eventLoopGroup.any() }

    /// Publishes the parts of the response as they arrive, and finishes with the last.
    ///
    /// Cold: nothing is sent before the first demand, and each subscription sends the request anew. A demand of one is
    /// one part. Demand reaches back to the socket: without demand nothing is read, so the server has to wait. Parts
    /// arrive one after the other on a background thread, or as ``HTTPClientConfiguration/delivery`` says.
    ///
    /// Cancelling removes a waiting request from the queue and closes the connection of a running one. After `cancel()`
    /// has returned, no part arrives, except one whose delivery another thread had already begun.
    public func parts(_ request: HTTPRequest) -> ResponsePublisher {
        ResponsePublisher(client: self, request: request)
    }

    /// Shuts the client down: new and waiting requests fail with ``HTTPClientError/Code/shutdown``, running ones may
    /// end within `grace` and then fail with it too, and all connections are closed.
    ///
    /// - Parameter grace: How long running requests may take. The default is 5 s.
    /// - Returns: A publisher of one value, which arrives as ``HTTPClientConfiguration/delivery`` says once all
    ///   requests have ended and all connections are closed. The shutdown begins with the first subscription;
    ///   cancelling does not undo it.
    public func shutdown(grace: Duration = .seconds(5)) -> AnyPublisher<Void, Never> {
        Deferred {
            Future { fulfil in
                let fulfil = Crossing(fulfil)
                let delivery = self.configuration.delivery
                self.shutDown(grace).whenComplete { _ in
                    switch delivery {
                    case .background: DeliveryThread.start { fulfil.value(.success(())) }
                    case .eventLoop: fulfil.value(.success(()))
                    }
                }
            }
        }
        .eraseToAnyPublisher()
    }

    /// Shuts the client down as ``shutdown(grace:)->_`` does, and returns when all requests have ended and all
    /// connections are closed.
    public func shutdown(grace: Duration = .seconds(5)) async {
        // The future never fails, so the error can be ignored.
        try? await shutDown(grace).get()
    }

    private func shutDown(_ grace: Duration) -> EventLoopFuture<Void> {
        pools.shutDown(on: runtime.eventLoopGroup.next(), grace: TimeAmount(clamping: grace))
    }

    // MARK: For subscriptions

    /// Makes the exchange of a request. Throws for every reason to reject the request that is known without a
    /// connection.
    func makeExchange(_ request: HTTPRequest, sink: any ResponseSink) throws(HTTPClientError) -> Exchange {
        let origin = request.origin
        if origin.scheme == .http, configuration.plainHTTP == .loopbackOnly, !origin.isLoopback {
            throw HTTPClientError(.insecureScheme, .notSent, origin: origin)
        }
        let framing = try RequestFraming(request, asksForCompression: configuration.maximumInflationRatio != nil)
        guard let (pool, id) = pools.admit(to: origin) else {
            throw HTTPClientError(.shutdown, .notSent, origin: origin)
        }

        let timeouts = request.timeouts ?? configuration.timeouts
        let now = runtime.now
        let total = timeouts.total.map { now.advanced(by: TimeAmount(clamping: $0)) }
        let limits = ExchangeLimits(
            connect: timeouts.connect.map(TimeAmount.init(clamping:)),
            firstByte: timeouts.firstByte.map(TimeAmount.init(clamping:)),
            idle: timeouts.idle.map(TimeAmount.init(clamping:)),
            minimumRate: timeouts.minimumRate.flatMap { $0 > 0 ? $0 : nil },
            deadline: total,
            maximumBodyBytes: request.maximumBodyBytes ?? configuration.maximumBodyBytes
        )
        return Exchange(
            id: id,
            request: request,
            framing: framing,
            limits: limits,
            queueDeadline: queueDeadline(timeouts, total: total, now: now),
            pool: pool,
            log: RequestLog(logger, id: id, request: request, runtime: runtime),
            sink: sink
        )
    }

    /// Open connections and waiting requests of all origins: for tests.
    package var counts: PoolCounts { pools.all.map(\.counts).reduce(PoolCounts(), +) }

    private func queueDeadline(
        _ timeouts: HTTPTimeouts,
        total: NIODeadline?,
        now: NIODeadline
    ) -> PoolStateMachine.QueueDeadline? {
        func deadline(after limit: Duration?, _ code: HTTPClientError.Code) -> PoolStateMachine.QueueDeadline? {
            limit.map { .init(deadline: now.advanced(by: TimeAmount(clamping: $0)), code: code) }
        }
        // An attempt to connect serves other requests too, so a request's own limit ends its wait and not the attempt.
        let own = timeouts.connect == configuration.timeouts.connect ? nil : timeouts.connect
        return .earliest(
            .earliest(deadline(after: timeouts.queue, .queueTimeout), deadline(after: own, .connectTimeout)),
            total.map { .init(deadline: $0, code: .totalTimeout) }
        )
    }
}

extension ConnectionFactory {
    init(
        _ configuration: HTTPClientConfiguration,
        open: @escaping ChannelOpener = Runtime.sockets,
        logger: Logger? = nil
    ) {
        connectTimeout = configuration.timeouts.connect.map(TimeAmount.init(clamping:))
        parserLimits = ResponseParser.Limits(configuration)
        tls = TLSContexts(configuration.tls)
        peerCheck = PeerCheck(configuration.tls, names: configuration.nameCheck)
        certificates = CertificateWatch(logger, now: configuration.wallClock)
        maximumInflationRatio = configuration.maximumInflationRatio
        proxy = ProxyResolver(configuration.proxy)
        lookUp = configuration.lookUp
        self.open = open
    }
}

extension ResponseParser.Limits {
    init(_ configuration: HTTPClientConfiguration) {
        self.init(
            maximumHeadBytes: configuration.maximumHeadBytes,
            maximumHeaderCount: configuration.maximumHeaderCount
        )
    }
}

/// Moves a value that is not `Sendable` to the one place where it is used next.
package struct Crossing<Value>: @unchecked Sendable {
    // Sendable because the value is moved, not shared: the code that makes a crossing does not use the value
    // afterwards.
    package let value: Value
    package init(_ value: Value) { self.value = value }
}

extension HTTPClient: CustomReflectable {
    /// Shows nothing: a dump would follow references into the event loops and whatever else runs on them.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
