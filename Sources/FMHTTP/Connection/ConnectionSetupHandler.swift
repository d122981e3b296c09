internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// What a new channel needs to become a connection.
struct ConnectionSetup: Sendable {
    let origin: Origin
    let proxy: HTTPProxy?
    let deadline: NIODeadline?
    /// `nil` for plain HTTP.
    let tls: NIOSSLContext?
    let peerCheck: PeerCheck
    let certificates: CertificateWatch?
    let parserLimits: ResponseParser.Limits
}

/// Turns a new channel into a connection that can carry requests (proxy tunnel, TLS, checks of the certificate), and
/// then leaves the pipeline. A failure on the way fails `ready`, once, and closes the channel. Confined to the loop.
///
/// What is made of the channel then is up to those who set it up: the pool's connection, or a report of what was seen.
final class ConnectionSetupHandler<Ready: Sendable>: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A channel that can carry requests.
    struct Established {
        let context: ChannelHandlerContext
        /// Closes an encrypted connection; `nil` for plain HTTP.
        let closer: AbruptCloseHandler?
        /// What the server has chosen of the protocols that it was offered (ALPN).
        let applicationProtocol: String?
    }

    typealias MakeTLSHandler = (_ context: NIOSSLContext, _ serverName: String?) throws -> NIOSSLClientHandler

    private let setup: ConnectionSetup
    private let makeTLSHandler: MakeTLSHandler
    private let ready: EventLoopPromise<Ready>
    private let finish: (Established) throws -> Ready
    private var machine: SetupStateMachine
    private var proxyParser: ResponseParser
    private var timer: Scheduled<Void>?
    /// Inspects the server's first bytes during the handshake.
    private var firstBytes: FirstBytesHandler?
    private var closer: AbruptCloseHandler?
    private var applicationProtocol: String?

    init(
        _ setup: ConnectionSetup,
        ready: EventLoopPromise<Ready>,
        makeTLSHandler: @escaping MakeTLSHandler = { try NIOSSLClientHandler(context: $0, serverHostname: $1) },
        finish: @escaping (Established) throws -> Ready
    ) {
        self.setup = setup
        self.ready = ready
        self.makeTLSHandler = makeTLSHandler
        self.finish = finish
        machine = SetupStateMachine(usesProxy: setup.proxy != nil, usesTLS: setup.tls != nil)
        proxyParser = ResponseParser(limits: setup.parserLimits)
    }

    // MARK: Events

    func channelActive(context: ChannelHandlerContext) {
        if let deadline = setup.deadline {
            timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
                self.failed(HTTPClientError(.connectTimeout, .notSent, origin: self.setup.origin), context: context)
            }
        }
        run(machine.opened(), context: context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard machine.isTunnelling else { return context.fireChannelRead(data) }
        proxyParser.append(unwrapInboundIn(data))
        do {
            while machine.isTunnelling, let event = try proxyParser.next() {
                guard case .head(let head, _, _) = event else { continue }
                let leftover = proxyParser.takeLeftover().readableBytes > 0
                run(machine.proxyAnswered(status: head.status.code, hasLeftover: leftover), context: context)
            }
        } catch {
            run(machine.proxyAnswerMalformed(), context: context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let applicationProtocol)? = event as? TLSUserEvent {
            self.applicationProtocol = applicationProtocol
            do {
                let certificate = try context.pipeline.syncOperations.nioSSL_peerCertificate()
                let refusal = try setup.peerCheck.refusal(of: certificate, for: setup.origin.host)
                if refusal == nil, let certificate, let certificates = setup.certificates {
                    let (from, until) = (Int(certificate.notValidBefore), Int(certificate.notValidAfter))
                    certificates.saw(validFrom: from, until: until, of: setup.origin)
                }
                run(machine.handshakeCompleted(refusal: refusal), context: context)
            } catch {
                failed(error, context: context)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failed(machine.isHandshaking ? explained(error, context: context) : error, context: context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let action = machine.closed() { run(action, context: context) }
        context.fireChannelInactive()
    }

    // MARK: Actions

    private func run(_ action: SetupStateMachine.Action, context: ChannelHandlerContext) {
        switch action {
        case .sendConnect:
            proxyParser.begin(method: .CONNECT)
            context.writeAndFlush(wrapOutboundOut(connectRequest()), promise: nil)
        case .startTLS:
            startTLS(context: context)
        case .succeed:
            succeed(context: context)
        case .fail(let code, let detail):
            end(HTTPClientError(code, .notSent, origin: setup.origin, detail: detail), context: context)
        }
    }

    private func connectRequest() -> ByteBuffer {
        let target = setup.origin.hostAndPort
        var request = ByteBuffer(string: "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n")
        if let authorization = setup.proxy?.authorization {
            request.writeString("Proxy-Authorization: \(authorization)\r\n")
        }
        request.writeString("\r\n")
        return request
    }

    private func startTLS(context: ChannelHandlerContext) {
        guard let tls = setup.tls else { preconditionFailure("the machine starts TLS only where there is a context") }
        do {
            let serverName = HostIdentity.serverName(of: setup.origin.host)
            let handler = try makeTLSHandler(tls, serverName)
            let closer = AbruptCloseHandler()
            let firstBytes = FirstBytesHandler()
            (self.closer, self.firstBytes) = (closer, firstBytes)
            try context.pipeline.syncOperations.addHandlers([closer, firstBytes, handler], position: .before(self))
        } catch {
            failed(error, context: context)
        }
    }

    /// Why a handshake failed, with what only this connection knows: the server's certificate, or that the server does
    /// not speak TLS.
    private func explained(_ error: any Error, context: ChannelHandlerContext) -> HTTPClientError {
        if firstBytes?.arePlainHTTP == true { return HTTPClientError(.plainHTTPServer, .notSent, origin: setup.origin) }
        let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
        return .handshake(error, certificate: certificate.map(PeerCertificate.init), origin: setup.origin)
    }

    private func succeed(context: ChannelHandlerContext) {
        timer?.cancel()
        let established = Established(context: context, closer: closer, applicationProtocol: applicationProtocol)
        let result = Result { try finish(established) }
        // From here on, bytes are read only on demand.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        context.read()
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
        ready.completeWith(result)
    }

    private func failed(_ error: any Error, context: ChannelHandlerContext) {
        if machine.failed() { end(error, context: context) }
    }

    private func end(_ error: any Error, context: ChannelHandlerContext) {
        timer?.cancel()
        context.close(promise: nil)
        ready.fail(error)
    }
}
