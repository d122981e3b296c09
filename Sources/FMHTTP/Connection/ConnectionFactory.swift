internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Makes connections: look-up and TCP, TLS, and the handler on top, within one time limit.
struct ConnectionFactory: Sendable {
    let connectTimeout: TimeAmount?
    let parserLimits: ResponseParser.Limits
    let maximumInflationRatio: Int?
    let tls: TLSContext
    let pinnedKeys: Set<String>
    let proxy: ProxyResolver

    /// Fails with an ``HTTPClientError`` or an error that `ConnectionFailure` knows.
    func connect(
        _ id: ConnectionID,
        to origin: Origin,
        pool: ConnectionPool,
        on eventLoop: any EventLoop
    ) -> EventLoopFuture<HTTP1Connection> {
        let deadline = connectTimeout.map { NIODeadline.now().advanced(by: $0) }
        switch origin.scheme {
        case .http:
            return open(id, to: origin, pool: pool, on: eventLoop, deadline: deadline, tls: nil)
        case .https:
            return tls.get(on: eventLoop)
                .flatMapErrorThrowing { error in
                    let text = ConnectionFailure.text(of: error)
                    throw HTTPClientError(.invalidTLSOptions, .notSent, origin: origin, detail: text)
                }
                .flatMap { open(id, to: origin, pool: pool, on: eventLoop, deadline: deadline, tls: $0) }
        }
    }

    private func open(
        _ id: ConnectionID,
        to origin: Origin,
        pool: ConnectionPool,
        on eventLoop: any EventLoop,
        deadline: NIODeadline?,
        tls: NIOSSLContext?
    ) -> EventLoopFuture<HTTP1Connection> {
        let ready = eventLoop.makePromise(of: HTTP1Connection.self)
        let proxy = proxy.proxy(for: origin)
        let newConnection = ConnectionSetup(
            id: id,
            origin: origin,
            proxy: proxy,
            deadline: deadline,
            tls: tls,
            pinnedKeys: pinnedKeys,
            parserLimits: parserLimits
        )
        ClientBootstrap(group: eventLoop)
            .resolver(HostResolver(eventLoop: eventLoop))
            .connectTimeout(connectTimeout ?? .hours(24))
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = HTTP1ChannelHandler(
                        id: id,
                        pool: pool,
                        limits: parserLimits,
                        maximumInflationRatio: maximumInflationRatio
                    )
                    let setup = ConnectionSetupHandler(newConnection, handler: handler, ready: ready)
                    try channel.pipeline.syncOperations.addHandlers(setup, handler)
                }
            }
            .connect(host: proxy?.host ?? origin.host, port: proxy?.port ?? origin.port)
            .cascadeFailure(to: ready)
        return ready.futureResult
    }
}
