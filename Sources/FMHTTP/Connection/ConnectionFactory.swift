internal import NIOCore
internal import NIOSSL

/// Makes connections: look-up and TCP, TLS, and the handler on top, within one time limit.
struct ConnectionFactory: Sendable {
    /// The time limit of every attempt; `nil` for none. See ``limit(wantedBy:)``.
    let connectTimeout: TimeAmount?
    let parserLimits: ResponseParser.Limits
    let maximumInflationRatio: Int?
    let tls: TLSContexts
    let peerCheck: PeerCheck
    /// `nil` if nothing is to be logged of certificates.
    let certificates: CertificateWatch?
    let proxy: ProxyResolver
    let lookUp: HostResolver.LookUp
    let open: ChannelOpener

    /// The time limit of an attempt that this request causes. It is never below ``connectTimeout``, since other
    /// requests may get the connection.
    func limit(wantedBy limits: ExchangeLimits?) -> TimeAmount? {
        guard let limits else { return connectTimeout }
        guard let connectTimeout, let wanted = limits.connect else { return nil }
        return max(connectTimeout, wanted)
    }

    /// Begins the attempt. It fails with an ``HTTPClientError`` or an error that `ConnectionFailure` knows.
    func begin(_ attempt: ConnectionAttempt, _ id: ConnectionID, to origin: Origin, pool: ConnectionPool) {
        let deadline = attempt.limit.map { attempt.eventLoop.now.advanced(by: $0) }
        switch origin.scheme {
        case .http:
            begin(attempt, id, to: origin, pool: pool, deadline: deadline, tls: nil)
        case .https:
            tls.get(for: HostIdentity(host: origin.host), on: attempt.eventLoop).whenComplete { result in
                switch result {
                case .success(let tls):
                    begin(attempt, id, to: origin, pool: pool, deadline: deadline, tls: tls)
                case .failure(let error):
                    let text = ConnectionFailure.text(of: error)
                    attempt.ready.fail(HTTPClientError(.invalidTLSOptions, .notSent, origin: origin, detail: text))
                }
            }
        }
    }

    private func begin(
        _ attempt: ConnectionAttempt,
        _ id: ConnectionID,
        to origin: Origin,
        pool: ConnectionPool,
        deadline: NIODeadline?,
        tls: NIOSSLContext?
    ) {
        let proxy: HTTPProxy?
        do {
            proxy = try self.proxy.proxy(for: origin)
        } catch {
            return attempt.ready.fail(error)
        }
        let newConnection = ConnectionSetup(
            origin: origin,
            proxy: proxy,
            deadline: deadline,
            tls: tls,
            peerCheck: peerCheck,
            certificates: certificates,
            parserLimits: parserLimits
        )
        let opening = ChannelOpening(
            host: proxy?.host ?? origin.host,
            port: proxy?.port ?? origin.port,
            eventLoop: attempt.eventLoop,
            limit: attempt.limit,
            lookUp: lookUp
        ) { channel in
            channel.eventLoop.makeCompletedFuture {
                try attempt.add(channel)
                let handler = HTTP1ChannelHandler(
                    id: id,
                    pool: pool,
                    limits: parserLimits,
                    maximumInflationRatio: maximumInflationRatio
                )
                let setup = ConnectionSetupHandler(newConnection, ready: attempt.ready) { established in
                    handler.closer = established.closer
                    return HTTP1Connection(id: id, eventLoop: established.context.eventLoop, handler: handler)
                }
                try channel.pipeline.syncOperations.addHandlers(setup, handler)
            }
        }
        open(opening).cascadeFailure(to: attempt.ready)
    }
}
