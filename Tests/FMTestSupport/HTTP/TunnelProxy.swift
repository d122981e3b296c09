internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix

/// An HTTP proxy on loopback. It opens every requested tunnel, all of them to one address, whatever the requested name,
/// and does not look at the data.
public final class TunnelProxy: Sendable {
    private let channel: any Channel
    private let received: NIOLockedValueBox<[String]>

    private init(channel: any Channel, received: NIOLockedValueBox<[String]>) {
        self.channel = channel
        self.received = received
    }

    /// Starts a proxy whose tunnels all lead to this port and address.
    public static func start(to port: Int, at address: String = "127.0.0.1") async throws -> TunnelProxy {
        let received = NIOLockedValueBox<[String]>([])
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let exit = try SocketAddress(ipAddress: address, port: port)
                    try channel.pipeline.syncOperations.addHandler(TunnelEntrance(to: exit, received: received))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        return TunnelProxy(channel: channel, received: received)
    }

    /// The port on which the proxy listens.
    public var port: Int { channel.localAddress?.port ?? 0 }
    /// The heads of the CONNECT requests, as received.
    public var requests: [String] { received.withLockedValue { $0 } }

    /// Stops listening, and returns when the port is closed.
    public func stopped() async throws { try await channel.close().get() }
}

/// The client's side of a tunnel. Confined to its loop, which the exit shares.
private final class TunnelEntrance: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let address: SocketAddress
    private let received: NIOLockedValueBox<[String]>
    private var head = ByteBuffer()
    private var isOpening = false
    private var exit: (any Channel)?

    init(to address: SocketAddress, received: NIOLockedValueBox<[String]>) {
        self.address = address
        self.received = received
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if let exit { return exit.writeAndFlush(bytes, promise: nil) }
        head.writeImmutableBuffer(bytes)
        let text = String(buffer: head)
        guard !isOpening, text.hasSuffix("\r\n\r\n") else { return }
        isOpening = true
        received.withLockedValue { $0.append(text) }
        open(context: context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        exit?.close(promise: nil)
        context.fireChannelInactive()
    }

    private func open(context: ChannelHandlerContext) {
        let client = context.channel
        let connecting = ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TunnelExit(client: client))
                }
            }
            .connect(to: address)
        let me = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        connecting.whenComplete { result in
            let (entrance, context) = me.value
            switch result {
            case .success(let exit):
                entrance.exit = exit
                let answer = ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n")
                context.writeAndFlush(entrance.wrapOutboundOut(answer), promise: nil)
            case .failure:
                context.close(promise: nil)
            }
        }
    }
}

/// The server's side of a tunnel.
private final class TunnelExit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let client: any Channel

    init(client: any Channel) { self.client = client }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        client.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        client.close(promise: nil)
        context.fireChannelInactive()
    }
}
