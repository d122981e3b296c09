internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// What a new channel has to become.
struct ConnectionSetup: Sendable {
    let id: ConnectionID
    let origin: Origin
    let deadline: NIODeadline?
    let pinnedKeys: Set<String>
    /// `nil` for plain HTTP.
    let tls: NIOSSLContext?
}

/// Brings a channel from TCP to a connection that can carry requests, and then leaves the pipeline. Whatever goes wrong
/// before fails `ready`, once, and closes.
final class ConnectionSetupHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let setup: ConnectionSetup
    private let handler: HTTP1ChannelHandler
    private var ready: EventLoopPromise<HTTP1Connection>?
    private var timer: Scheduled<Void>?

    init(_ setup: ConnectionSetup, handler: HTTP1ChannelHandler, ready: EventLoopPromise<HTTP1Connection>) {
        self.setup = setup
        self.handler = handler
        self.ready = ready
    }

    func channelActive(context: ChannelHandlerContext) {
        if let deadline = setup.deadline {
            timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
                let error = HTTPClientError(.connectTimeout, .notSent, origin: self.setup.origin)
                self.fail(error, context: context)
            }
        }
        if let tls = setup.tls {
            startTLS(tls, context: context)
        } else {
            succeed(context: context)
        }
        context.fireChannelActive()
    }

    private func startTLS(_ tls: NIOSSLContext, context: ChannelHandlerContext) {
        do {
            let name = setup.origin.host
            // An address has no place in SNI (RFC 6066 §3); without a name the certificate is checked for the address.
            let isAddress = (try? SocketAddress(ipAddress: name, port: 0)) != nil
            let handler = try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : name)
            try context.pipeline.syncOperations.addHandler(handler, position: .before(self))
        } catch {
            fail(error, context: context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { handshakeCompleted(context: context) }
        context.fireUserInboundEventTriggered(event)
    }

    private func handshakeCompleted(context: ChannelHandlerContext) {
        guard ready != nil else { return }
        do {
            guard try setup.pinnedKeys.isEmpty || setup.pinnedKeys.contains(keyPin(context: context)) else {
                return fail(HTTPClientError(.certificatePinMismatch, .notSent, origin: setup.origin), context: context)
            }
            succeed(context: context)
        } catch {
            fail(error, context: context)
        }
    }

    private func keyPin(context: ChannelHandlerContext) throws -> String {
        let certificate = try context.pipeline.syncOperations.nioSSL_peerCertificate()
        guard let key = try certificate?.extractPublicKey().toSPKIBytes() else { return "" }
        return SHA256.hash(key).base64
    }

    private func succeed(context: ChannelHandlerContext) {
        timer?.cancel()
        let connection = HTTP1Connection(id: setup.id, eventLoop: context.eventLoop, handler: handler)
        // From here on a read happens when somebody wants the bytes.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        context.read()
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
        ready?.succeed(connection)
        ready = nil
    }

    private func fail(_ error: any Error, context: ChannelHandlerContext) {
        timer?.cancel()
        let ready = self.ready
        self.ready = nil
        context.close(promise: nil)
        ready?.fail(error)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(error, context: context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let text = "the server closed the connection at once"
        fail(HTTPClientError(.connectFailed, .notSent, origin: setup.origin, detail: text), context: context)
        context.fireChannelInactive()
    }
}
