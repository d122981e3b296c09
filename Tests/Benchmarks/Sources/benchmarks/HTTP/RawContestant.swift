import NIOCore
import NIOHTTP1
import NIOPosix

/// NIO's HTTP codec and one handler, without pool, timeouts, limits or cancellation: about the best that is possible.
struct RawContestant: Contestant {
    let name = "raw"
    let port: Int
    let group: any EventLoopGroup

    func run(_ target: String, count: Int, concurrency: Int) async throws {
        let done = group.next().makePromise(of: Void.self)
        let chains = Chains(count: count, done: done)
        var channels: [any Channel] = []
        for _ in 0..<concurrency {
            let channel = try await ClientBootstrap(group: group)
                .channelOption(.socketOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandler(Handler(target, chains, port: port))
                    }
                }
                .connect(host: "127.0.0.1", port: port)
                .get()
            channels.append(channel)
        }
        for channel in channels { channel.triggerUserOutboundEvent(Handler.Start(), promise: nil) }
        try await done.futureResult.get()
        for channel in channels { try await channel.close().get() }
    }

    func stop() async throws {}

    private final class Handler: ChannelDuplexHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundIn = Never
        typealias OutboundOut = HTTPClientRequestPart

        struct Start: Sendable {}

        private let head: HTTPRequestHead
        private let chains: Chains
        private var body = ByteBuffer()

        init(_ target: String, _ chains: Chains, port: Int) {
            let headers: HTTPHeaders = ["Host": "127.0.0.1:\(port)", "Accept": "application/json"]
            head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: headers)
            self.chains = chains
        }

        func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
            send(context: context)
            promise?.succeed()
        }

        private func send(context: ChannelHandlerContext) {
            guard chains.next() else { return }
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head:
                body.clear()
            case .body(var bytes):
                if body.capacity == 0 { body = bytes } else { body.writeBuffer(&bytes) }
            case .end:
                body = ByteBuffer()
                chains.ended()
                send(context: context)
            }
        }
    }
}
